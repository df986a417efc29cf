// Two dates of one place with known changes, as GeoTIFFs of 16 bits or floats, and how well the search ranks the changes.
import { seededRandom } from '@terrane/core'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'

export const TILE = 64

export interface ScenePair {
  readonly seed: number
  readonly type: 'uint16' | 'float32'
  /** Tiles across and down. */
  readonly side: number
  /** Share of tiles that change. */
  readonly share: number
  /**
   * How the second date differs. `brighter`: the changed tiles are 2.5 times as bright, all else stays. `gain`: the changed
   * tiles show something else, and everything is 1.2 times as bright, with noise. `shift`: the same, moved by a pixel.
   */
  readonly kind: 'brighter' | 'gain' | 'shift'
}

/** Both dates as files, and the numbers of the tiles that changed. */
export async function writeScenePair(pair: ScenePair): Promise<{ files: Uint8Array[]; changed: ReadonlySet<number> }> {
  const { seed, type, side, share, kind } = pair
  const random = seededRandom(seed)
  const changed = new Set<number>()
  while (changed.size < Math.max(1, Math.round(share * side * side))) changed.add(Math.floor(random() * side * side))
  const before = Array.from({ length: side * side }, () => ground(random))
  const after = before.map((tile, i) => (changed.has(i) && kind !== 'brighter' ? otherGround(random, tile) : tile))
  const unit = type === 'uint16' ? 8000 : 1
  const noise = seededRandom(seed + 1)
  const look = (grounds: readonly Ground[], x: number, y: number, band: number): number =>
    valueOf(grounds[Math.floor(y / TILE) * side + Math.floor(x / TILE)]!, x, y, band)
  const second = (x: number, y: number, band: number): number => {
    if (kind === 'brighter') {
      const tile = Math.floor(y / TILE) * side + Math.floor(x / TILE)
      return look(before, x, y, band) * (changed.has(tile) ? 2.5 : 1)
    }
    const [u, v] = kind === 'shift' ? [Math.max(0, x - 1), Math.max(0, y - 1)] : [x, y]
    return look(after, u, v, band) * 1.2 + (noise() - 0.5) * 0.01
  }
  const size = { width: side * TILE, height: side * TILE, bands: 3 }
  const options = { type, compression: 'deflate', georeference: UTM, color: 'gray' } as const
  const write = (value: (x: number, y: number, band: number) => number) =>
    writeGeoTiff(
      imageOf(size, (x, y, band) => {
        const stored = Math.max(0, value(x, y, band)) * unit
        return type === 'uint16' ? Math.round(stored) : stored
      }),
      options,
    )
  return { files: [await write((x, y, band) => look(before, x, y, band)), await write(second)], changed }
}

/** Dates of one place as files, and per changed tile the number of the first date that shows its new ground. */
export interface SceneSeries {
  readonly files: readonly Uint8Array[]
  readonly breaks: ReadonlyMap<number, number>
}

/**
 * Six dates of one place in 16 bits. A fifth of the tiles change for good, each on one of the later dates. Light (a gain
 * of 0.85 to 1.2 and a haze) and noise differ per date; on the dates between the first and the last a tenth of the
 * tiles lies under clouds without data.
 */
export async function writeSceneSeries({ seed, side }: Pick<ScenePair, 'seed' | 'side'>): Promise<SceneSeries> {
  const random = seededRandom(seed)
  const before = Array.from({ length: side * side }, () => ground(random))
  const breaks = new Map<number, number>()
  const wanted = Math.round(side * side * 0.2)
  while (breaks.size < wanted) {
    const tile = Math.floor(random() * side * side)
    if (!breaks.has(tile)) breaks.set(tile, 1 + (breaks.size % 5))
  }
  const after = new Map([...breaks.keys()].map((tile) => [tile, otherGround(random, before[tile]!)]))
  const files: Uint8Array[] = []
  for (let date = 0; date < 6; date++) {
    const [gain, haze] = [0.85 + 0.35 * random(), 0.03 * random()]
    const cover = date === 0 || date === 5 ? 0 : 0.1
    const clouds = new Set(before.flatMap((_, tile) => (random() < cover ? [tile] : [])))
    const noise = seededRandom(seed * 10 + date)
    const value = (x: number, y: number, band: number): number => {
      const tile = Math.floor(y / TILE) * side + Math.floor(x / TILE)
      if (clouds.has(tile)) return 0
      const shown = date >= (breaks.get(tile) ?? 6) ? after.get(tile)! : before[tile]!
      const light = Math.max(0, valueOf(shown, x, y, band)) * gain + haze + (noise() - 0.5) * 0.01
      return Math.max(1, Math.round(light * 8000))
    }
    const image = imageOf({ width: side * TILE, height: side * TILE, bands: 3 }, value)
    const options = { type: 'uint16', compression: 'deflate', georeference: UTM, color: 'gray', nodata: '0' } as const
    files.push(await writeGeoTiff(image, options))
  }
  return { files, breaks }
}

/** The chance that a changed tile stands before an unchanged one in the answer's order. */
export function areaUnderCurve(order: readonly number[], changed: ReadonlySet<number>): number {
  let before = 0
  let right = 0
  for (const id of order) {
    if (changed.has(id)) before++
    else right += before
  }
  return right / (changed.size * (order.length - changed.size))
}

const UTM = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }

/** Contents of a tile: a colour and a grain. */
interface Ground {
  readonly color: readonly number[]
  readonly amplitude: number
  readonly period: number
  readonly phase: number
}

function ground(random: () => number): Ground {
  const light = 0.08 + 0.25 * random()
  return {
    color: [0, 1, 2].map(() => light * (0.7 + 0.6 * random())),
    amplitude: 0.05 + 0.5 * random(),
    period: 4 * 2 ** Math.floor(4 * random()),
    phase: Math.floor(1e6 * random()),
  }
}

/** Ground of another colour and another grain. */
function otherGround(random: () => number, old: Ground): Ground {
  const period = old.period > 8 ? old.period / 4 : old.period * 4
  const color = old.color.map((value, band) => value * [1.5, 1.1, 0.6][band]!)
  return { ...ground(random), color, period }
}

/** Smooth noise of one period on a coloured ground. */
function valueOf({ color, amplitude, period, phase }: Ground, x: number, y: number, band: number): number {
  const [u, v] = [x / period, y / period]
  const [left, top] = [Math.floor(u), Math.floor(v)]
  const knot = (i: number, j: number): number => scatter(left + i, top + j, phase)
  const [fu, fv] = [u - left, v - top]
  const upper = knot(0, 0) * (1 - fu) + knot(1, 0) * fu
  const lower = knot(0, 1) * (1 - fu) + knot(1, 1) * fu
  return color[band]! * (1 + amplitude * (upper * (1 - fv) + lower * fv))
}

/** A number from -1 to 1 that looks random and belongs to the place. */
function scatter(x: number, y: number, seed: number): number {
  let hash = Math.imul(x, 374_761_393) ^ Math.imul(y, 668_265_263) ^ seed
  hash = Math.imul(hash ^ (hash >>> 13), 1_274_126_177)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 31 - 1
}
