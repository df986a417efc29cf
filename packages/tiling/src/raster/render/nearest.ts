import type { RasterInfo, RasterLevel } from '../raster-info.ts'
import type { BlockStore } from './blocks.ts'
import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'
import { isNeverData, storedNodata } from '../stored-nodata.ts'
import { allocatePlane, bandsToRead, blockOfBand, offsetInPixel } from './pixels.ts'
import type { BandChoice, Plane, ReadPixels } from './pixels.ts'

/** The pixels of a view, grouped by block of a level. */
export interface Visits {
  /** Blocks of the first plane that hold at least one pixel. */
  readonly blocks: readonly number[]
  /** Pixels of the view, those of the first block first. */
  readonly order: Int32Array
  /** End of each block's pixels in `order`. */
  readonly ends: readonly number[]
  /** Position of each pixel of the view in its block. */
  readonly places: Int32Array
}

/** Positions on the border of a pixel, within rounding, belong to the next pixel, as in GDAL. */
export const NUDGE = 1e-10

/** Sorts the pixels of a grid by the blocks of a level; pixels outside of it are left out. */
export function visitsOf(grid: SourceGrid, level: RasterLevel, factorX: number, factorY: number): Visits {
  const { xy } = grid
  const count = xy.length / 2
  const { width, height, blockWidth, blockHeight, blocksAcross } = level
  const slots = new Int32Array(count).fill(-1)
  const places = new Int32Array(count)
  const blocks: number[] = []
  const counts: number[] = []
  const slotOf = new Map<number, number>()
  let [lastBlock, lastSlot] = [-1, -1]
  for (let i = 0; i < count; i++) {
    const x = Math.floor((xy[2 * i] as number) / factorX + NUDGE)
    const y = Math.floor((xy[2 * i + 1] as number) / factorY + NUDGE)
    // Written so that NaN is outside.
    if (!(x >= 0 && y >= 0 && x < width && y < height)) continue
    const [column, row] = [(x / blockWidth) | 0, (y / blockHeight) | 0]
    const block = row * blocksAcross + column
    if (block !== lastBlock) {
      lastSlot = slotOf.get(block) ?? blocks.push(block) - 1
      if (lastSlot === counts.length) counts.push(0)
      slotOf.set(block, lastSlot)
      lastBlock = block
    }
    slots[i] = lastSlot
    counts[lastSlot] = (counts[lastSlot] as number) + 1
    places[i] = (y - row * blockHeight) * blockWidth + x - column * blockWidth
  }
  const ends: number[] = []
  const next = new Int32Array(counts.length)
  let sum = 0
  counts.forEach((size, slot) => {
    next[slot] = sum
    ends.push((sum += size))
  })
  const order = new Int32Array(sum)
  for (let i = 0; i < count; i++) {
    const slot = slots[i] as number
    if (slot < 0) continue
    order[next[slot] as number] = i
    next[slot] = (next[slot] as number) + 1
  }
  return { blocks, order, ends, places }
}

/** Reads the nearest pixel of the raster for each pixel of the view, block by block. @throws CORRUPT_TILE */
export async function readNearest(
  raster: RasterInfo,
  chosen: ChosenLevel,
  grid: SourceGrid,
  choice: BandChoice,
  store: BlockStore,
): Promise<ReadPixels> {
  const { level } = chosen
  const count = grid.xy.length / 2
  const visits = visitsOf(grid, level, chosen.factorX, chosen.factorY)
  const bands = bandsToRead(raster, choice)
  const colors = bands.filter((band) => band !== raster.alphaBand || choice.bands.includes(band))
  const planes = new Map(bands.map((band) => [band, allocatePlane(raster, count)]))
  for (const [slot, block] of visits.blocks.entries()) {
    const pixels = visits.order.subarray(visits.ends[slot - 1] ?? 0, visits.ends[slot])
    for (const band of bands) {
      const read = store.read(level, blockOfBand(level, block, band))
      const samples = read instanceof Promise ? await read : read
      const step = level.planar ? 1 : level.samplesPerPixel
      const offset = offsetInPixel(raster, band)
      const plane = planes.get(band) as Float32Array
      for (let i = 0; i < pixels.length; i++) {
        const pixel = pixels[i] as number
        plane[pixel] = samples[(visits.places[pixel] as number) * step + offset] as number
      }
    }
  }
  const alpha = new Uint8Array(count)
  for (const pixel of visits.order) alpha[pixel] = 255
  const transparency = raster.alphaBand === null ? null : (planes.get(raster.alphaBand) as Float32Array)
  if (transparency) {
    const top = 255 / (2 ** raster.bitsPerSample - 1)
    for (const pixel of visits.order) alpha[pixel] = Math.round((transparency[pixel] as number) * top)
  }
  if (choice.keepsMissing !== true) {
    dropMissing(
      colors.map((band) => planes.get(band) as Float32Array),
      alpha,
      storedNodata(choice.nodata, raster),
    )
  }
  if (chosen.mask) await dropMasked(chosen.mask, raster, grid, alpha, store)
  const wanted = raster.palette === null ? choice.bands : [0]
  return {
    width: grid.width,
    height: grid.height,
    planes: wanted.map((band) => planes.get(band) as Float32Array),
    alpha,
  }
}

/** A pixel is missing when all its bands are nodata, or one of them is never data. */
export function dropMissing(planes: readonly Plane[], alpha: Uint8Array, nodata: number): void {
  for (let i = 0; i < alpha.length; i++) {
    if (alpha[i] === 0) continue
    let missing = 0
    for (const plane of planes) {
      const value = plane[i] as number
      if (value === nodata) missing++
      else if (isNeverData(value)) missing = planes.length
    }
    if (missing >= planes.length) alpha[i] = 0
  }
}

async function dropMasked(
  mask: RasterLevel,
  raster: RasterInfo,
  grid: SourceGrid,
  alpha: Uint8Array,
  store: BlockStore,
): Promise<void> {
  const visits = visitsOf(grid, mask, raster.width / mask.width, raster.height / mask.height)
  for (const [slot, block] of visits.blocks.entries()) {
    const samples = await store.read(mask, block)
    for (const pixel of visits.order.subarray(visits.ends[slot - 1] ?? 0, visits.ends[slot])) {
      if (samples[visits.places[pixel] as number] === 0) alpha[pixel] = 0
    }
  }
}
