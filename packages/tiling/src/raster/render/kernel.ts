import { loadWindow } from './load-window.ts'
import type { WindowRead } from './load-window.ts'
import { NUDGE } from './nearest.ts'
import { allocatePlane } from './pixels.ts'
import type { Plane, ReadPixels } from './pixels.ts'
import { roundTo } from '../scene/sample-types.ts'
import type { GridSteps } from './steps.ts'

/** A symmetric resampling kernel, which is zero at `radius` and beyond. */
interface Kernel {
  readonly radius: number
  readonly weigh: (distance: number) => number
}

/** Kernels by GDAL's names, with its constants. Source: Keys, "Cubic convolution interpolation", 1981, with a = -0.5. */
export const KERNELS = {
  cubic: { radius: 2, weigh: cubic },
  cubic_spline: { radius: 2, weigh: spline },
  lanczos: { radius: 3, weigh: lanczos },
  /** Bilinear of a view that is coarser. */
  triangle: { radius: 1, weigh: (distance) => Math.max(0, 1 - Math.abs(distance)) },
} as const satisfies Record<string, Kernel>

export type KernelName = keyof typeof KERNELS

/** Factors by which a kernel is widened, across and down: only where the view is coarser, as in GDAL. */
export function wideningOf({ across, down }: GridSteps): readonly [number, number] {
  return [widening(across), widening(down)]
}

function widening(step: number): number {
  const whole = Math.round(step)
  if (step <= 1 / 0.95) return 1
  return Math.abs(step - whole) < 0.05 ? whole : step
}

/**
 * Reads each pixel of a view as the weighted mean of the pixels around it; pixels without data do not count. The result
 * has no data when the nearest pixel has none, or, for `lanczos`, when more than half of the kernel is missing. `cubic`
 * without widening takes the bilinear mean where one of its sixteen pixels is missing. All as in gdalwarp, but that its
 * spline is negative beyond its end when it is widened, and that no value exceeds the bits of a sample.
 *
 * @throws CORRUPT_TILE
 */
export async function readKernel(read: WindowRead, name: KernelName): Promise<ReadPixels> {
  const { raster, chosen, grid, window } = read
  const { sources, valid } = await loadWindow(read)
  const count = grid.xy.length / 2
  const alpha = new Uint8Array(count)
  const planes = sources.map(() => allocatePlane(raster, count))
  const [wideX, wideY] = wideningOf(read.steps)
  const isStrict = name === 'cubic' && wideX === 1 && wideY === 1
  const across = new Taps(KERNELS[name], wideX)
  const down = new Taps(KERNELS[name], wideY)
  const mean = new WindowMean(sources, valid, window.width)
  for (let i = 0; i < count; i++) {
    const x = (grid.xy[2 * i] as number) / chosen.factorX
    const y = (grid.xy[2 * i + 1] as number) / chosen.factorY
    if (!(x >= 0 && y >= 0 && x < chosen.level.width && y < chosen.level.height)) continue
    const column = Math.min(Math.floor(x + NUDGE), chosen.level.width - 1) - window.x
    const row = Math.min(Math.floor(y + NUDGE), chosen.level.height - 1) - window.y
    if (valid !== null && valid[row * window.width + column] === 0) continue
    across.place(x - window.x, window.width, KERNELS[name])
    down.place(y - window.y, window.height, KERNELS[name])
    const share = name === 'lanczos' || isStrict ? mean.validShare(across, down) : 1
    if (name === 'lanczos' && share < 0.5) continue
    if (isStrict && !(across.isWhole && down.isWhole && share === 1)) {
      across.place(x - window.x, window.width, KERNELS.triangle)
      down.place(y - window.y, window.height, KERNELS.triangle)
    }
    if (mean.write(across, down, planes, i)) alpha[i] = 255
  }
  for (const plane of planes) roundTo(plane, raster.sampleType, raster.bitsPerSample)
  return { width: grid.width, height: grid.height, planes, alpha }
}

/** Pixels of one axis around a position, and their weights. */
class Taps {
  readonly #wide: number
  readonly weights: Float64Array
  /** First pixel, and the number of pixels. */
  first = 0
  count = 0
  /** Whether the kernel lies completely in the window. */
  isWhole = true

  constructor({ radius }: Kernel, wide: number) {
    this.#wide = wide
    this.weights = new Float64Array(2 * Math.ceil(radius * wide) + 2)
  }

  place(position: number, size: number, { radius, weigh }: Kernel): void {
    const reach = radius * this.#wide
    const middle = position - 0.5
    const low = Math.floor(middle - reach) + 1
    const high = Math.ceil(middle + reach) - 1
    this.first = Math.max(0, low)
    const last = Math.min(size - 1, high)
    this.count = last - this.first + 1
    this.isWhole = this.first === low && last === high
    for (let i = 0; i < this.count; i++) this.weights[i] = weigh((this.first + i - middle) / this.#wide)
  }
}

/** Weighted means of a window. */
class WindowMean {
  readonly #sources: readonly Plane[]
  readonly #valid: Uint8Array | null
  readonly #width: number

  constructor(sources: readonly Plane[], valid: Uint8Array | null, width: number) {
    this.#sources = sources
    this.#valid = valid
    this.#width = width
  }

  /** The share of pixels in the window that are valid. */
  validShare(across: Taps, down: Taps): number {
    if (this.#valid === null) return 1
    let count = 0
    for (let v = 0; v < down.count; v++) {
      const start = (down.first + v) * this.#width + across.first
      for (let u = 0; u < across.count; u++) count += this.#valid[start + u] as number
    }
    return count / (across.count * down.count)
  }

  /** Writes the mean of each band; false when the weights of the valid pixels sum to less than {@link LEAST_WEIGHT}. */
  write(across: Taps, down: Taps, to: readonly Plane[], at: number): boolean {
    for (let band = 0; band < to.length; band++) {
      const source = this.#sources[band] as Plane
      let [sum, weights] = [0, 0]
      for (let v = 0; v < down.count; v++) {
        const start = (down.first + v) * this.#width + across.first
        const weight = down.weights[v] as number
        if (weight === 0) continue
        for (let u = 0; u < across.count; u++) {
          const share = weight * (across.weights[u] as number)
          if (share === 0 || (this.#valid !== null && this.#valid[start + u] === 0)) continue
          sum += share * (source[start + u] as number)
          weights += share
        }
      }
      if (weights < LEAST_WEIGHT) return false
      ;(to[band] as Plane)[at] = sum / weights
    }
    return true
  }
}

/**
 * Minimum sum of weights of a mean, as in GDAL: next to missing pixels, the negative weights of a kernel may dominate.
 */
const LEAST_WEIGHT = 1e-6

function cubic(distance: number): number {
  const x = Math.abs(distance)
  if (x <= 1) return x * x * (1.5 * x - 2.5) + 1
  return x < 2 ? x * (x * (-0.5 * x + 2.5) - 4) + 2 : 0
}

function spline(distance: number): number {
  const x = Math.abs(distance)
  return (cube(2 - x) - 4 * cube(1 - x)) / 6
}

function cube(value: number): number {
  return value > 0 ? value ** 3 : 0
}

function lanczos(distance: number): number {
  const x = Math.abs(distance)
  if (x === 0) return 1
  if (x >= 3) return 0
  const angle = Math.PI * x
  return (3 * Math.sin(angle) * Math.sin(angle / 3)) / (angle * angle)
}
