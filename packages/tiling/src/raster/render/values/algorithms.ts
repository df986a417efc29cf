import { algorithmUnreadable } from '../errors.ts'
import type { ReadPixels } from '../pixels.ts'

/** Parameters of an algorithm by their names. */
export type AlgorithmParameters = Readonly<Record<string, number>>

/** Size of a pixel on the ground in meters. */
export interface GroundPixel {
  readonly width: number
  readonly height: number
}

/** An algorithm over bands, which returns values or a picture of bytes. */
export interface Algorithm {
  /** Default values of its parameters. */
  readonly defaults: AlgorithmParameters
  /** Number of bands that it requires; null for any. */
  readonly bands: number | null
  /** Number of planes of the result; null for as many as in the input. */
  readonly planes: number | null
  /** Margin around a view that it requires, in pixels. */
  readonly margin: number
  /**
   * Whether its result is a picture (red, green and blue, or one gray, from 0 to 255), which is shown without
   * rescaling.
   */
  readonly isPicture: boolean
  run(pixels: ReadPixels, parameters: AlgorithmParameters, ground: GroundPixel): ReadPixels
}

const RADIANS = Math.PI / 180

/** An algorithm that reduces the values of a pixel to one number. */
const reducer = (work: (values: readonly number[]) => number): Algorithm => ({
  defaults: {},
  bands: null,
  planes: 1,
  margin: 0,
  isPicture: false,
  run: (pixels) => {
    const plane = new Float64Array(pixels.alpha.length)
    for (let i = 0; i < plane.length; i++) plane[i] = work(pixels.planes.map((values) => values[i] as number))
    return { ...pixels, planes: [plane] }
  },
})
const mapper = (work: (value: number) => number): Algorithm => ({
  defaults: {},
  bands: null,
  planes: null,
  margin: 0,
  isPicture: false,
  run: (pixels) => ({ ...pixels, planes: pixels.planes.map((values) => Float64Array.from(values, work)) }),
})
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length
const variance = (values: readonly number[]): number => {
  const middle = mean(values)
  return mean(values.map((value) => (value - middle) ** 2))
}
const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = (sorted.length - 1) / 2
  return ((sorted[Math.floor(half)] as number) + (sorted[Math.ceil(half)] as number)) / 2
}

/** Colours of heights that are packed into three bytes. */
const packed = (
  defaults: AlgorithmParameters,
  codeOf: (height: number, p: AlgorithmParameters) => number,
): Algorithm => ({
  defaults: { ...defaults, nodata_height: Number.NaN },
  bands: 1,
  planes: 3,
  margin: 0,
  isPicture: true,
  run: ({ width, height, planes: [heights], alpha }, parameters) => {
    const planes = [0, 1, 2].map(() => new Float64Array(alpha.length))
    const fallback = parameters['nodata_height'] as number
    const shown = Number.isNaN(fallback) ? alpha : new Uint8Array(alpha.length).fill(255)
    for (let i = 0; i < alpha.length; i++) {
      const value = alpha[i] === 0 ? fallback : (heights![i] as number)
      const code = Math.max(0, Math.min(0xffffff, codeOf(value, parameters)))
      for (const [channel, plane] of planes.entries()) plane[i] = Math.floor(code / 256 ** (2 - channel)) % 256
    }
    return { width, height, planes, alpha: shown }
  },
})

/** Changes of height per meter along columns and rows, by Horn's formula, as in gdaldem. */
function gradients(
  { width, planes: [heights], alpha }: ReadPixels,
  ground: GroundPixel,
  work: (east: number, south: number) => number,
): { plane: Float64Array; alpha: Uint8Array } {
  const plane = new Float64Array(alpha.length)
  const shown = new Uint8Array(alpha.length)
  const z = heights!
  for (let i = width + 1; i < alpha.length - width - 1; i++) {
    const column = i % width
    if (column === 0 || column === width - 1 || alpha[i] === 0) continue
    // A neighbour without a height is replaced by the pixel itself.
    const at = (j: number): number => (alpha[j] === 0 ? z[i] : z[j]) as number
    const [nw, n, ne] = [at(i - width - 1), at(i - width), at(i - width + 1)]
    const [w, e] = [at(i - 1), at(i + 1)]
    const [sw, s, se] = [at(i + width - 1), at(i + width), at(i + width + 1)]
    const east = (ne + 2 * e + se - nw - 2 * w - sw) / (8 * ground.width)
    const south = (sw + 2 * s + se - nw - 2 * n - ne) / (8 * ground.height)
    plane[i] = work(east, south)
    shown[i] = alpha[i] as number
  }
  return { plane, alpha: shown }
}

const hillshade: Algorithm = {
  defaults: { azimuth: 315, angle_altitude: 45, z_exaggeration: 1 },
  bands: 1,
  planes: 1,
  margin: 1,
  isPicture: true,
  run: (pixels, { azimuth, angle_altitude: altitude, z_exaggeration: factor }, ground) => {
    const [sun, height] = [(azimuth as number) * RADIANS, (altitude as number) * RADIANS]
    const { plane, alpha } = gradients(pixels, ground, (east, south) => {
      const [x, y] = [east * (factor as number), -south * (factor as number)]
      // Dot product of the ground's normal (-x, -y, 1) and the direction of the light.
      const light = Math.sin(height) - Math.cos(height) * (x * Math.sin(sun) + y * Math.cos(sun))
      const shade = light / Math.sqrt(1 + x * x + y * y)
      return shade <= 0 ? 1 : Math.floor(1 + 254 * shade + 0.5)
    })
    return { ...pixels, planes: [plane], alpha }
  },
}

const slope: Algorithm = {
  defaults: {},
  bands: 1,
  planes: 1,
  margin: 1,
  isPicture: false,
  run: (pixels, _, ground) => {
    const { plane, alpha } = gradients(pixels, ground, (x, y) => Math.atan(Math.hypot(x, y)) / RADIANS)
    return { ...pixels, planes: [plane], alpha }
  },
}

/** Matplotlib's colormap "terrain": position, red, green and blue. */
const TERRAIN = [
  [0, 0.2, 0.2, 0.6],
  [0.15, 0, 0.6, 1],
  [0.25, 0, 0.8, 0.4],
  [0.5, 1, 1, 0.6],
  [0.75, 0.5, 0.36, 0.33],
  [1, 1, 1, 1],
] as const

function terrain(share: number): readonly [number, number, number] {
  const t = Math.max(0, Math.min(1, share))
  const above = Math.max(
    1,
    TERRAIN.findIndex(([place]) => t <= place),
  )
  const [low, high] = [TERRAIN[above - 1]!, TERRAIN[above]!]
  const part = (t - low[0]) / (high[0] - low[0])
  const of = (i: 1 | 2 | 3): number => Math.round(255 * (low[i] + (high[i] - low[i]) * part))
  return [of(1), of(2), of(3)]
}

const contours: Algorithm = {
  defaults: { increment: 35, thickness: 1, minz: -12_000, maxz: 8000 },
  bands: 1,
  planes: 3,
  margin: 0,
  isPicture: true,
  run: (pixels, { increment, thickness, minz, maxz }) => {
    const planes = [0, 1, 2].map(() => new Float64Array(pixels.alpha.length))
    const [step, width, low, high] = [increment, thickness, minz, maxz] as [number, number, number, number]
    if (!(step > 0 && low < high))
      throw algorithmUnreadable({ why: 'increment above 0 and minz below maxz are wanted' })
    for (let i = 0; i < pixels.alpha.length; i++) {
      const z = pixels.planes[0]![i] as number
      const isLine = z - step * Math.floor(z / step) < width
      const color = isLine ? [0, 0, 0] : terrain((z - low) / (high - low))
      for (let channel = 0; channel < 3; channel++) planes[channel]![i] = color[channel] as number
    }
    return { ...pixels, planes }
  },
}

const normalizedIndex: Algorithm = {
  ...reducer(([b1, b2]) => ((b2 as number) - (b1 as number)) / ((b2 as number) + (b1 as number))),
  bands: 2,
}

/** Algorithms by TiTiler's names. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  hillshade,
  slope,
  contours,
  normalizedIndex,
  terrarium: packed({}, (height) => Math.floor((height + 32_768) * 256)),
  terrainrgb: packed({ interval: 0.1, baseval: -10_000 }, (height, { interval, baseval }) =>
    Math.floor((height - (baseval as number)) / (interval as number)),
  ),
  min: reducer((values) => Math.min(...values)),
  max: reducer((values) => Math.max(...values)),
  mean: reducer(mean),
  median: reducer(median),
  std: reducer((values) => Math.sqrt(variance(values))),
  var: reducer(variance),
  sum: reducer(sum),
  floor: mapper(Math.floor),
  ceil: mapper(Math.ceil),
}

/** Facts of each algorithm, as TiTiler lists them: numbers of bands (null for any), and parameters with their defaults. */
export function algorithmFacts(): Readonly<Record<string, AlgorithmFacts>> {
  return Object.fromEntries(
    Object.entries(ALGORITHMS).map(([name, { bands, planes, defaults }]) => [
      name,
      {
        title: name,
        inputs: { nbands: bands },
        outputs: { nbands: planes },
        parameters: Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, { default: value }])),
      },
    ]),
  )
}

/** Facts of an algorithm; a default of not a number means that there is none. */
export interface AlgorithmFacts {
  readonly title: string
  readonly inputs: { readonly nbands: number | null }
  /** Null for as many as in the input. */
  readonly outputs: { readonly nbands: number | null }
  readonly parameters: Readonly<Record<string, { readonly default: number }>>
}

/** An algorithm with its parameters. @throws ALGORITHM_UNREADABLE */
export function findAlgorithm(
  name: string,
  told: AlgorithmParameters,
): { readonly algorithm: Algorithm; readonly parameters: AlgorithmParameters } {
  const algorithm = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined
  if (!algorithm) {
    throw algorithmUnreadable({
      why: `there is no algorithm ${name}; available are ${Object.keys(ALGORITHMS).join(', ')}`,
    })
  }
  const strange = Object.keys(told).find((key) => !Object.hasOwn(algorithm.defaults, key))
  if (strange !== undefined) {
    const names = Object.keys(algorithm.defaults).join(', ')
    throw algorithmUnreadable({ why: `${name} has no parameter ${strange}; it has ${names || 'none'}` })
  }
  return { algorithm, parameters: { ...algorithm.defaults, ...told } }
}
