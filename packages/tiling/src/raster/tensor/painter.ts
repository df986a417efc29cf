import { createBlockReader } from '../decode/block-reader.ts'
import type { BlockReader } from '../decode/block-reader.ts'
import { SAMPLE_BYTES } from '../decode/samples.ts'
import { storedNodata } from '../stored-nodata.ts'
import type { PixelRect, TilePlan, TileWindow } from '../plan.ts'
import type { RasterInfo, Samples } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import type { BlockPart } from '../window.ts'
import { blocksOf } from '../window.ts'
import { placeOf, rectOf, type PlaneWindow } from './sample-rects.ts'
import type { PlaneRect, SampleRect, Stretch } from './stretch.ts'
import { lookUpChannel, stretchChannel, stretchColorBytes } from './stretch.ts'
import { INVALID, flagValid, markMissing, markTransparent } from './validity.ts'

export interface PainterOptions {
  readonly source: ByteSource
  readonly raster: RasterInfo
  readonly plan: TilePlan
  /** One band index per channel. */
  readonly bands: readonly number[]
  /** One linear function per channel. */
  readonly lines: readonly Stretch[]
  /** Memory for decoded blocks, in bytes. */
  readonly cacheBytes?: number
}

const MIN_CACHE = 16 * 1024 * 1024
const MAX_CACHE = 96 * 1024 * 1024

/** Writes the pixels of the raster into the planes of a tile, and flags the valid ones. */
export interface Painter {
  /** 1 for each valid pixel of the last tile; it is not written when all are valid. */
  readonly valid: Uint8Array
  /** Returns the number of valid pixels; pixels outside of the raster count as invalid and are not written. */
  paint(window: TileWindow, inside: PixelRect, planes: Float32Array): Promise<number>
}

export function createPainter(options: PainterOptions): Painter {
  const { source, raster, plan, bands } = options
  const cacheBytes = options.cacheBytes ?? rowOfTilesBytes(raster, plan)
  const image = createBlockReader({ source, level: raster, name: 'image', empty: raster.nodata ?? 0, cacheBytes })
  const mask =
    raster.mask && createBlockReader({ source, level: raster.mask, name: 'mask', empty: 0, cacheBytes: MIN_CACHE })
  const channels = createChannels(options)
  const marked = markedBands(raster, bands)
  const nodata = storedNodata(raster.nodata, raster)
  const marks = new Uint16Array(plan.tileSize * plan.tileSize)
  const valid = new Uint8Array(marks.length)
  const marksPixels = marked.length > 0 || raster.alphaBand !== null || mask !== null

  const paintPart = async (part: BlockPart, to: PlaneRect, planes: Float32Array): Promise<void> => {
    if (!raster.planar) {
      const read = image.read(part.index)
      const block = read instanceof Promise ? await read : read
      const at = (band: number): SampleRect => rectOf(part, raster, raster.color === 'palette' ? 0 : band)
      channels.paintAll(block, at, planes, to)
      for (const band of marked) markMissing(block, at(band), marks, to, nodata)
      if (raster.alphaBand !== null) markTransparent(block, at(raster.alphaBand), marks, to)
      return
    }
    const rect = rectOf(part, raster, 0)
    for (const band of new Set([...bands, raster.alphaBand ?? (bands[0] as number)])) {
      const block = await image.read(band * raster.blocksAcross * raster.blocksDown + part.index)
      channels.paintBand(band, block, rect, planes, to)
      if (marked.includes(band)) markMissing(block, rect, marks, to, nodata)
      if (band === raster.alphaBand) markTransparent(block, rect, marks, to)
    }
  }
  const paintMask = async (reader: BlockReader, window: PlaneWindow, inside: PixelRect): Promise<void> => {
    for (const part of blocksOf(reader.level, inside)) {
      markTransparent(await reader.read(part.index), rectOf(part, reader.level, 0), marks, placeOf(part, window))
    }
  }
  const missingBands = marked.length === 0 ? INVALID : marked.length
  return {
    valid,
    async paint(window, inside, planes) {
      const marking = marksPixels || inside.width * inside.height < valid.length
      if (marking) markOutside(marks, window, inside)
      const plane = { x: window.x, y: window.y, width: window.size }
      for (const part of blocksOf(raster, inside)) await paintPart(part, placeOf(part, plane), planes)
      if (mask) await paintMask(mask, plane, inside)
      return marking ? flagValid(marks, missingBands, valid) : valid.length
    },
  }
}

/** Converts blocks to channels: three bytes at once, a table, or a linear function per channel. */
interface Channels {
  /** Writes all channels of an interleaved block; `at` is the rectangle of a band in it. */
  paintAll(block: Samples, at: (band: number) => SampleRect, planes: Float32Array, to: PlaneRect): void
  /** Writes the channels of one band from a block that contains only this band. */
  paintBand(band: number, block: Samples, rect: SampleRect, planes: Float32Array, to: PlaneRect): void
}

function createChannels(options: PainterOptions): Channels {
  const { raster, bands, plan, lines } = options
  const size = plan.tileSize * plan.tileSize
  const planeOf = (to: PlaneRect, channel: number): PlaneRect => ({ ...to, start: to.start + channel * size })
  if (raster.palette !== null) {
    const tables = paletteTables(raster.palette, bands, lines)
    const paintAll: Channels['paintAll'] = (block, at, planes, to) => {
      tables.forEach((table, channel) => lookUpChannel(block, at(0), planes, planeOf(to, channel), table))
    }
    return { paintAll, paintBand: () => {} }
  }
  const paintChannel = (channel: number, block: Samples, rect: SampleRect, planes: Float32Array, to: PlaneRect): void =>
    stretchChannel(block, rect, planes, planeOf(to, channel), lines[channel] as Stretch)
  const paintBand: Channels['paintBand'] = (band, block, rect, planes, to) =>
    bands.forEach((of, channel) => of === band && paintChannel(channel, block, rect, planes, to))
  const inOnePass = bands.length === 3 && raster.samplesPerPixel > 1 && lines.every((line) => !line.clamps)
  return {
    paintBand,
    paintAll(block, at, planes, to) {
      if (inOnePass && block instanceof Uint8Array) stretchColorBytes(block, at(0), planes, to, lines, bands)
      else bands.forEach((band, channel) => paintChannel(channel, block, at(band), planes, to))
    },
  }
}

/** The value of each palette index, per channel; `bands` select red, green or blue. */
function paletteTables(palette: Uint8Array, bands: readonly number[], lines: readonly Stretch[]): Float32Array[] {
  return lines.map(({ factor, shift, low, high }, channel) =>
    Float32Array.from({ length: palette.length / 3 }, (_, index) => {
      const value = (palette[3 * index + (bands[channel] as number)] as number) * factor + shift
      return Math.max(low, Math.min(high, value))
    }),
  )
}

function markOutside(marks: Uint16Array, { x, y, size }: TileWindow, inside: PixelRect): void {
  marks.fill(INVALID)
  for (let row = inside.y - y; row < inside.y - y + inside.height; row++) {
    const start = row * size + inside.x - x
    marks.fill(0, start, start + inside.width)
  }
}

/** The stored bands that may contain nodata or values that are not finite. */
function markedBands(raster: RasterInfo, bands: readonly number[]): number[] {
  if (raster.nodata === null && !raster.sampleType.startsWith('float')) return []
  return raster.palette === null ? [...new Set(bands)] : [0]
}

/** Memory for the blocks of one row of tiles, so that the next tile and the next row find them decoded. */
function rowOfTilesBytes(raster: RasterInfo, plan: TilePlan): number {
  const { blockWidth, blockHeight, blocksAcross, samplesPerPixel, sampleType } = raster
  const across = meshOf(blockWidth, plan, plan.originX)
  const down = meshOf(blockHeight, plan, plan.originY)
  if (across === 'blocks in tiles' && down === 'blocks in tiles') return 0
  const rows = Math.ceil(plan.tileSize / blockHeight) + (down === 'crossing' ? 1 : 0)
  const bytes = blocksAcross * blockWidth * rows * blockHeight * samplesPerPixel * SAMPLE_BYTES[sampleType]
  return Math.max(MIN_CACHE, Math.min(MAX_CACHE, bytes))
}

/**
 * Relation of blocks and tiles on an axis: each block lies within one tile, or each tile within one block, or neither.
 */
function meshOf(block: number, plan: TilePlan, origin: number): 'blocks in tiles' | 'tiles in blocks' | 'crossing' {
  const { tileSize, stride, edge } = plan
  if (edge === 'shift' || stride < tileSize) return 'crossing'
  if (stride % block === 0 && origin % block === 0) return 'blocks in tiles'
  return block % stride === 0 && origin % stride === 0 ? 'tiles in blocks' : 'crossing'
}
