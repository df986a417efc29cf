import { flagValid, markMissing, markTransparent, INVALID } from '../tensor/validity.ts'
import type { PixelRect } from '../plan.ts'
import type { RasterInfo, RasterLevel } from '../raster-info.ts'
import { blocksOf } from '../window.ts'
import type { BlockPart } from '../window.ts'
import type { BlockStore } from './blocks.ts'
import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'
import { allocatePlane, blockOfBand, offsetInPixel, storedNodata } from './pixels.ts'
import type { BandChoice, Plane, ReadPixels } from './pixels.ts'

/** The window of a level that a grid needs for bilinear reading; null when none of it lies in the level. */
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
  const { factorX, factorY, level } = chosen
  const { xy } = grid
  for (let i = 0; i < count; i++) {
    const sx = (xy[2 * i] as number) / factorX
    const sy = (xy[2 * i + 1] as number) / factorY
    if (!(sx >= 0 && sy >= 0 && sx < level.width && sy < level.height)) continue
    const nearest = (Math.floor(sy) - window.y) * window.width + Math.floor(sx) - window.x
    if (!allValid && valid[nearest] === 0) continue
    alpha[i] = 255
    const x = sx - 0.5 - window.x
    const y = sy - 0.5 - window.y
    const [x0, y0] = [Math.floor(x), Math.floor(y)]
    const [u, v] = [x - x0, y - y0]
    const [xa, xb] = [x0 < 0 ? 0 : x0, x0 + 1 < window.width ? x0 + 1 : window.width - 1]
    const ya = (y0 < 0 ? 0 : y0) * window.width
    const yb = (y0 + 1 < window.height ? y0 + 1 : window.height - 1) * window.width
    let [wa, wb, wc, wd] = [(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v]
    if (!allValid) {
      if (valid[ya + xa] === 0) wa = 0
      if (valid[ya + xb] === 0) wb = 0
      if (valid[yb + xa] === 0) wc = 0
      if (valid[yb + xb] === 0) wd = 0
      const sum = wa + wb + wc + wd
      wa /= sum
      wb /= sum
      wc /= sum
      wd /= sum
    }
    for (let band = 0; band < sources.length; band++) {
      const from = sources[band] as Plane
      const mean =
        weigh(wa, from[ya + xa] as number) +
        weigh(wb, from[ya + xb] as number) +
        weigh(wc, from[yb + xa] as number) +
        weigh(wd, from[yb + xb] as number)
      ;(planes[band] as Plane)[i] = whole ? Math.floor(mean + 0.5) : mean
    }
  }
  return { width: grid.width, height: grid.height, planes, alpha }
}

/** What is not a number counts for nothing where it has no weight. */
function weigh(weight: number, value: number): number {
  return weight === 0 ? 0 : weight * value
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
