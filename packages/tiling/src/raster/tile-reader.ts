import { coveredRect, tileWindow } from './plan.ts'
import type { TilePlan } from './plan.ts'
import type { RasterInfo } from './raster-info.ts'
import type { Scale } from './scale.ts'
import type { ByteSource } from './source.ts'
import { createTileFiller } from './tensor/fill.ts'
import { createDecibels } from './tensor/decibels.ts'
import { channelLines, physicalLines } from './tensor/lines.ts'
import { createPainter } from './tensor/painter.ts'
import { createResampler } from './tensor/resample.ts'

export interface TileReaderOptions {
  readonly source: ByteSource
  readonly raster: RasterInfo
  readonly plan: TilePlan
  /** One band index per channel. */
  readonly bands: readonly number[]
  readonly scale: Scale
  /** Per channel, subtracted after scaling to [0, 1]. */
  readonly mean: readonly number[]
  /** Per channel, divisor after subtracting the mean; positive. */
  readonly std: readonly number[]
  /** Side of the model's input in pixels; the plan's tile size when absent. Tiles are resampled when they differ. */
  readonly size?: number | { readonly width: number; readonly height: number }
  /** Memory for decoded blocks, in bytes; default: enough for one row of tiles, up to 96 MiB. */
  readonly cacheBytes?: number
}

export interface TileReading {
  /**
   * Valid pixels ÷ pixels of the tile that lie in the raster. A pixel is invalid where the mask or alpha is 0, where
   * every selected band is nodata, or where a selected band is not finite. Invalid pixels, and those outside of the
   * raster, are filled by mirroring; a tile without any valid pixel is all 0.
   */
  readonly validFraction: number
}

/** Reads tiles as normalised tensors. A reader belongs to one thread and does one read at a time. */
export interface TileReader {
  readonly channels: number
  readonly width: number
  readonly height: number
  /**
   * Writes tile `index` into `out` as `[channels, height, width]`, each value `(clamp((v - min) / (max - min)) - mean) / std`.
   * `out` has `channels · height · width` elements and may lie in a SharedArrayBuffer. Tiles read in the order of their
   * index decode each block once.
   *
   * @throws CORRUPT_TILE
   */
  read(index: number, out: Float32Array): Promise<TileReading>
}

export function createTileReader(options: TileReaderOptions): TileReader {
  const { plan, bands } = options
  const side = plan.tileSize
  const { size = side } = options
  const { width, height } = typeof size === 'number' ? { width: size, height: size } : size
  const channels = bands.length
  const decibels = options.scale.decibels === true ? createDecibels(options) : null
  const lines = decibels === null ? channelLines(options) : physicalLines(options)
  const painter = createPainter({ ...options, lines })
  const filler = createTileFiller(side)
  const tileSize = { width: side, height: side }
  const resample = width === side && height === side ? null : createResampler(tileSize, { width, height })
  const tile = new Float32Array(resample === null ? 0 : channels * side * side)

  const read = async (index: number, planes: Float32Array): Promise<TileReading> => {
    const window = tileWindow(plan, index)
    const inside = coveredRect(plan, window)
    const count = await painter.paint(window, inside, planes)
    decibels?.(planes)
    if (count === 0) planes.fill(0)
    else if (count < painter.valid.length) filler.fill(planes, painter.valid)
    return { validFraction: count / (inside.width * inside.height) }
  }
  return {
    channels,
    width,
    height,
    async read(index, out) {
      if (resample === null) return await read(index, out)
      const reading = await read(index, tile)
      const planeSize = width * height
      for (let c = 0; c < channels; c++) {
        const from = tile.subarray(c * side * side, (c + 1) * side * side)
        resample(from, out.subarray(c * planeSize, (c + 1) * planeSize))
      }
      return reading
    },
  }
}
