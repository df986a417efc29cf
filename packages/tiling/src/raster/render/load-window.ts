import { placeOf, rectOf } from '../tensor/sample-rects.ts'
import { flagValid, markMissing, markTransparent, INVALID } from '../tensor/validity.ts'
import type { PixelRect } from '../plan.ts'
import type { RasterInfo } from '../raster-info.ts'
import { storedNodata } from '../stored-nodata.ts'
import { blocksOf } from '../window.ts'
import type { BlockStore } from './blocks.ts'
import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'
import { allocatePlane, blockOfBand, offsetInPixel } from './pixels.ts'
import type { BandChoice, Plane } from './pixels.ts'
import type { GridSteps } from './steps.ts'

/** A window of a level, and the positions of a view's pixels in the raster. */
export interface WindowRead {
  readonly raster: RasterInfo
  readonly chosen: ChosenLevel
  readonly grid: SourceGrid
  readonly steps: GridSteps
  readonly window: PixelRect
  readonly choice: BandChoice
  readonly store: BlockStore
}

/** Samples of a window. */
export interface LoadedWindow {
  /** A plane per requested band. */
  readonly sources: readonly Plane[]
  /** 0 for pixels without data; null when all have data. */
  readonly valid: Uint8Array | null
}

/**
 * The window of a level that a grid needs; null when the grid lies outside of the level.
 *
 * @param reach number of pixels of the level on each side of a position that are used
 */
export function windowOf(
  { xy }: SourceGrid,
  { level, factorX, factorY }: ChosenLevel,
  reach: number,
): PixelRect | null {
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
  const x = Math.max(0, Math.floor(left - reach))
  const y = Math.max(0, Math.floor(top - reach))
  const width = Math.min(level.width, Math.floor(right + reach) + 1) - x
  const height = Math.min(level.height, Math.floor(bottom + reach) + 1) - y
  return { x, y, width, height }
}

/** Decodes a window. @throws CORRUPT_TILE */
export async function loadWindow({
  raster,
  chosen,
  window,
  choice,
  store,
}: Omit<WindowRead, 'grid' | 'steps'>): Promise<LoadedWindow> {
  const size = window.width * window.height
  const sources = choice.bands.map(() => allocatePlane(raster, size))
  const marks = new Uint16Array(size)
  await loadBands(raster, chosen, window, choice, sources, marks, store)
  const valid = new Uint8Array(size)
  const counted = canMiss(raster, choice) ? new Set(choice.bands).size : INVALID
  return { sources, valid: flagValid(marks, counted, valid) === size ? null : valid }
}

function canMiss({ sampleType }: RasterInfo, { nodata }: BandChoice): boolean {
  return nodata !== null || sampleType.startsWith('float')
}

async function loadBands(
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
    const to = placeOf(part, window)
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
    markTransparent(await store.read(mask, part.index), rectOf(part, mask, 0), marks, placeOf(part, window))
  }
}
