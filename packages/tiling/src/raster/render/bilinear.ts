import type { PixelRect } from '../plan.ts'
import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'
import { loadWindow } from './load-window.ts'
import type { WindowRead } from './load-window.ts'
import { NUDGE } from './nearest.ts'
import { allocatePlane } from './pixels.ts'
import type { Plane, ReadPixels } from './pixels.ts'

/**
 * Reads each pixel of the view as the mean of the four nearest, weighted by distance; those without data do not count.
 * A pixel has no data when the nearest one has none, as in GDAL.
 *
 * @throws CORRUPT_TILE
 */
export async function readBilinear(read: WindowRead): Promise<ReadPixels> {
  const { raster, chosen, grid, window } = read
  const count = grid.xy.length / 2
  const { sources, valid } = await loadWindow(read)
  const alpha = new Uint8Array(count)
  const planes = sources.map(() => allocatePlane(raster, count))
  const whole = !raster.sampleType.startsWith('float')
  const blend = whole ? blendWhole : blendBroken
  const row = { corners: new Int32Array(4 * grid.width), weights: new Float64Array(4 * grid.width) }
  for (let start = 0; start < count; start += grid.width) {
    weighRow(chosen, grid, window, valid, start, row, alpha)
    for (let band = 0; band < sources.length; band++) {
      blend(sources[band] as Plane, planes[band] as Plane, start, row, alpha)
    }
  }
  return { width: grid.width, height: grid.height, planes, alpha }
}

/** For each pixel of a row: window offsets and weights of its four neighbours. */
interface Row {
  readonly corners: Int32Array
  readonly weights: Float64Array
}

/** @param valid 0 for pixels of the window without data; null when all have data */
function weighRow(
  { factorX, factorY, level }: ChosenLevel,
  { xy, width: pixels }: SourceGrid,
  { x: left, y: top, width, height }: PixelRect,
  valid: Uint8Array | null,
  start: number,
  { corners, weights }: Row,
  alpha: Uint8Array,
): void {
  const { width: levelWidth, height: levelHeight } = level
  for (let i = 0; i < pixels; i++) {
    const sx = (xy[2 * (start + i)] as number) / factorX
    const sy = (xy[2 * (start + i) + 1] as number) / factorY
    if (!(sx >= 0 && sy >= 0 && sx < levelWidth && sy < levelHeight)) continue
    if (valid !== null) {
      const nearX = Math.min((sx + NUDGE) | 0, levelWidth - 1) - left
      const nearY = Math.min((sy + NUDGE) | 0, levelHeight - 1) - top
      if (valid[nearY * width + nearX] === 0) continue
    }
    alpha[start + i] = 255
    const x = sx - 0.5 - left
    const y = sy - 0.5 - top
    const x0 = Math.floor(x)
    const y0 = Math.floor(y)
    const u = x - x0
    const v = y - y0
    const xa = x0 < 0 ? 0 : x0
    const xb = x0 + 1 < width ? x0 + 1 : width - 1
    const ya = (y0 < 0 ? 0 : y0) * width
    const yb = (y0 + 1 < height ? y0 + 1 : height - 1) * width
    const to = 4 * i
    corners[to] = ya + xa
    corners[to + 1] = ya + xb
    corners[to + 2] = yb + xa
    corners[to + 3] = yb + xb
    weights[to] = (1 - u) * (1 - v)
    weights[to + 1] = u * (1 - v)
    weights[to + 2] = (1 - u) * v
    weights[to + 3] = u * v
    if (valid !== null) countValid(valid, corners, weights, to)
  }
}

/** Removes neighbours without data, and scales the weights of the others up. */
function countValid(valid: Uint8Array, corners: Int32Array, weights: Float64Array, at: number): void {
  let sum = 0
  for (let k = at; k < at + 4; k++) {
    if (valid[corners[k] as number] === 0) weights[k] = 0
    sum += weights[k] as number
  }
  for (let k = at; k < at + 4; k++) weights[k] = (weights[k] as number) / sum
}

function blendWhole(from: Plane, to: Plane, start: number, { corners, weights }: Row, alpha: Uint8Array): void {
  for (let i = 0, k = 0; k < corners.length; i++, k += 4) {
    if (alpha[start + i] === 0) continue
    const mean =
      (weights[k] as number) * (from[corners[k] as number] as number) +
      (weights[k + 1] as number) * (from[corners[k + 1] as number] as number) +
      (weights[k + 2] as number) * (from[corners[k + 2] as number] as number) +
      (weights[k + 3] as number) * (from[corners[k + 3] as number] as number)
    to[start + i] = Math.floor(mean + 0.5)
  }
}

/** Like {@link blendWhole}, but values that are not finite are ignored when their weight is 0. */
function blendBroken(from: Plane, to: Plane, start: number, { corners, weights }: Row, alpha: Uint8Array): void {
  for (let i = 0, k = 0; k < corners.length; i++, k += 4) {
    if (alpha[start + i] === 0) continue
    let mean = 0
    for (let n = k; n < k + 4; n++) {
      const weight = weights[n] as number
      if (weight !== 0) mean += weight * (from[corners[n] as number] as number)
    }
    to[start + i] = mean
  }
}
