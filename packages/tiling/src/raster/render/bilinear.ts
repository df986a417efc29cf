import { storedNodata } from '../stored-nodata.ts'
import { flagValid, markMissing, markTransparent, INVALID } from '../tensor/validity.ts'
import type { PixelRect } from '../plan.ts'
import type { RasterInfo, RasterLevel } from '../raster-info.ts'
import { blocksOf } from '../window.ts'
import type { BlockPart } from '../window.ts'
import type { BlockStore } from './blocks.ts'
import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'
import { allocatePlane, blockOfBand, offsetInPixel } from './pixels.ts'
import type { BandChoice, Plane, ReadPixels } from './pixels.ts'

/** The window of a level that a grid needs for bilinear sampling; null when the grid lies outside of the level. */
export function windowOf({ xy }: SourceGrid, { level, factorX, factorY }: ChosenLevel): PixelRect | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i < xy.length; i += 2) {
    const x = (xy[i] as number) / factorX
    const y = (xy[i + 1] as number) / factorY
    if (!(x >= 0 && y >= 0 && x < level.width && y < level.height)) continue
    if (x < left) left = x
    if (x > right) right = x
    if (y < top) top = y
    if (y > bottom) bottom = y
  }
  if (left === Infinity) return null
  const x = Math.max(0, Math.floor(left - 0.5))
  const y = Math.max(0, Math.floor(top - 0.5))
  const width = Math.min(level.width, Math.floor(right + 0.5) + 1) - x
  const height = Math.min(level.height, Math.floor(bottom + 0.5) + 1) - y
  return { x, y, width, height }
}

/**
 * Reads each pixel of the view as the mean of the four nearest, weighted by distance; those without data do not count. A
 * pixel whose nearest one has no data has none either, as with GDAL.
 *
 * @throws CORRUPT_TILE
 */
export async function readBilinear(
  raster: RasterInfo,
  chosen: ChosenLevel,
  grid: SourceGrid,
  window: PixelRect,
  choice: BandChoice,
  store: BlockStore,
): Promise<ReadPixels> {
  const count = grid.xy.length / 2
  const size = window.width * window.height
  const sources = choice.bands.map(() => allocatePlane(raster, size))
  const marks = new Uint16Array(size)
  await loadWindow(raster, chosen, window, choice, sources, marks, store)
  const valid = new Uint8Array(size)
  const counted = canMiss(raster, choice) ? new Set(choice.bands).size : INVALID
  const allValid = flagValid(marks, counted, valid) === size
  const alpha = new Uint8Array(count)
  const planes = sources.map(() => allocatePlane(raster, count))
  const whole = !raster.sampleType.startsWith('float')
  const blend = whole ? blendWhole : blendBroken
  const row = { corners: new Int32Array(4 * grid.width), weights: new Float64Array(4 * grid.width) }
  for (let start = 0; start < count; start += grid.width) {
    weighRow(chosen, grid, window, allValid ? null : valid, start, row, alpha)
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

/** @param valid 0 for pixels of the window without data; null where all have some */
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
    if (valid !== null && valid[((sy | 0) - top) * width + (sx | 0) - left] === 0) continue
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

/** Takes neighbours without data out; the others make up for them. */
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

/** As {@link blendWhole}, but values that are not finite are ignored where their weight is 0. */
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

function canMiss({ sampleType }: RasterInfo, { nodata }: BandChoice): boolean {
  return nodata !== null || sampleType.startsWith('float')
}

async function loadWindow(
  raster: RasterInfo,
  { level, mask }: ChosenLevel,
  window: PixelRect,
  choice: BandChoice,
  planes: readonly Plane[],
  marks: Uint16Array,
  store: BlockStore,
): Promise<void> {
  const nodata = storedNodata(choice.nodata, raster)
  const marking = canMiss(raster, choice)
  for (const part of blocksOf(level, window)) {
    const to = placeIn(window, part)
    const marked = new Set<number>()
    for (const [channel, band] of choice.bands.entries()) {
      const samples = await store.read(level, blockOfBand(level, part.index, band))
      const rect = rectOf(part, level, offsetInPixel(raster, band))
      const plane = planes[channel] as Plane
      for (let row = 0; row < rect.rows; row++) {
        const from = rect.start + row * rect.rowStep
        const start = to.start + row * to.rowStep
        for (let x = 0; x < rect.columns; x++) plane[start + x] = samples[from + x * rect.step] as number
      }
      if (marking && !marked.has(band)) markMissing(samples, rect, marks, to, nodata)
      marked.add(band)
    }
    if (raster.alphaBand !== null) {
      const samples = await store.read(level, blockOfBand(level, part.index, raster.alphaBand))
      markTransparent(samples, rectOf(part, level, offsetInPixel(raster, raster.alphaBand)), marks, to)
    }
  }
  if (mask === null) return
  for (const part of blocksOf(mask, window)) {
    markTransparent(await store.read(mask, part.index), rectOf(part, mask, 0), marks, placeIn(window, part))
  }
}

function rectOf(part: BlockPart, level: RasterLevel, offset: number) {
  const step = level.planar ? 1 : level.samplesPerPixel
  return {
    start: (part.pixel * step + offset) | 0,
    step: step | 0,
    rowStep: (level.blockWidth * step) | 0,
    columns: part.columns | 0,
    rows: part.rows | 0,
  }
}

function placeIn(window: PixelRect, part: BlockPart) {
  return { start: ((part.top - window.y) * window.width + part.left - window.x) | 0, rowStep: window.width | 0 }
}
