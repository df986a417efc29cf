import { loadWindow } from './load-window.ts'
import type { WindowRead } from './load-window.ts'
import { allocatePlane } from './pixels.ts'
import type { Plane, ReadPixels } from './pixels.ts'
import { roundTo } from '../scene/sample-types.ts'

/**
 * Method for a pixel of a view: the mean, the most frequent value or the quadratic mean of the raster's pixels under
 * it.
 */
export type AreaMethod = 'average' | 'mode' | 'rms'

/**
 * Reads each pixel of a view from all pixels of the raster under it, weighted by their share of the box between its
 * opposite corners, as in gdalwarp; for the mode, each pixel counts once. Pixels without data do not count.
 *
 * @throws CORRUPT_TILE
 */
export async function readArea(read: WindowRead, method: AreaMethod): Promise<ReadPixels> {
  const { raster, chosen, grid, window } = read
  const { sources, valid } = await loadWindow(read)
  const { xy, width } = grid
  const count = xy.length / 2
  const alpha = new Uint8Array(count)
  const planes = sources.map(() => allocatePlane(raster, count))
  const area = new WeightedArea(window.width, valid)
  const halfSpan = halfSpansOf(read)
  for (let i = 0; i < count; i++) {
    const x = (xy[2 * i] as number) / chosen.factorX
    const y = (xy[2 * i + 1] as number) / chosen.factorY
    if (!(x >= 0 && y >= 0 && x < chosen.level.width && y < chosen.level.height)) continue
    const [halfX, halfY] = halfSpan(i)
    const [left, top] = [x - halfX / chosen.factorX - window.x, y - halfY / chosen.factorY - window.y]
    const [right, bottom] = [x + halfX / chosen.factorX - window.x, y + halfY / chosen.factorY - window.y]
    area.place(Math.max(0, left), Math.max(0, top), Math.min(window.width, right), Math.min(window.height, bottom))
    if (area.count === 0) continue
    alpha[i] = 255
    for (let band = 0; band < planes.length; band++) {
      ;(planes[band] as Plane)[i] = area.value(sources[band] as Plane, method)
    }
  }
  for (const plane of planes) roundTo(plane, raster.sampleType)
  return { width, height: grid.height, planes, alpha }
}

/** Half the box between the upper left and the lower right corner of a view's pixel, in pixels of the full resolution. */
function halfSpansOf({ grid, steps, chosen }: WindowRead): (i: number) => readonly [number, number] {
  const { xy, width, height: rows } = grid
  // A side of one pixel has no neighbours.
  const alone = [width === 1 ? steps.across * chosen.factorX : 0, rows === 1 ? steps.down * chosen.factorY : 0] as const
  return (i) => {
    const [column, row] = [i % width, Math.floor(i / width)]
    const [east, south] = [column + 1 < width ? i + 1 : i, row + 1 < rows ? i + width : i]
    const [west, north] = [column > 0 ? i - 1 : i, row > 0 ? i - width : i]
    const span = (axis: 0 | 1): number => {
      const across = ((xy[2 * east + axis] as number) - (xy[2 * west + axis] as number)) / Math.max(1, east - west)
      const down =
        ((xy[2 * south + axis] as number) - (xy[2 * north + axis] as number)) / Math.max(1, (south - north) / width)
      const sum = (Math.abs(across + down) + alone[axis]) / 2
      return Number.isFinite(sum) && sum > 0 ? sum : TINY
    }
    return [span(0), span(1)]
  }
}

/** Pixels of a window in a box, and their shares. */
class WeightedArea {
  readonly #width: number
  readonly #valid: Uint8Array | null
  readonly #places: number[] = []
  readonly #weights: number[] = []
  count = 0

  constructor(width: number, valid: Uint8Array | null) {
    this.#width = width
    this.#valid = valid
  }

  place(left: number, top: number, right: number, bottom: number): void {
    this.count = 0
    // Edges closer than this to the edge of a pixel count as on it.
    const [x0, x1] = [Math.floor(left + EDGE), Math.ceil(right - EDGE)]
    const [y0, y1] = [Math.floor(top + EDGE), Math.ceil(bottom - EDGE)]
    for (let y = y0; y < Math.max(y1, y0 + 1); y++) {
      const down = Math.min(y + 1, bottom) - Math.max(y, top)
      for (let x = x0; x < Math.max(x1, x0 + 1); x++) {
        const at = y * this.#width + x
        if (this.#valid !== null && this.#valid[at] === 0) continue
        const weight = down * (Math.min(x + 1, right) - Math.max(x, left))
        if (!(weight > 0)) continue
        this.#places[this.count] = at
        this.#weights[this.count++] = weight
      }
    }
  }

  value(plane: Plane, method: AreaMethod): number {
    if (method === 'mode') return this.#mode(plane)
    let [sum, weights] = [0, 0]
    for (let i = 0; i < this.count; i++) {
      const value = plane[this.#places[i] as number] as number
      const weight = this.#weights[i] as number
      sum += weight * (method === 'rms' ? value * value : value)
      weights += weight
    }
    return method === 'rms' ? Math.sqrt(sum / weights) : sum / weights
  }

  #mode(plane: Plane): number {
    const counts = new Map<number, number>()
    let [most, found] = [0, Number.NaN]
    for (let i = 0; i < this.count; i++) {
      const value = plane[this.#places[i] as number] as number
      const count = (counts.get(value) ?? 0) + 1
      counts.set(value, count)
      if (count > most) [most, found] = [count, value]
    }
    return found
  }
}

const EDGE = 1e-6
/** Half the side of a box that mostly lies within one pixel. */
const TINY = 1e-3
