import type { TilePlan } from './plan.ts'
import type { RasterInfo } from './raster-info.ts'
import type { Scale } from './scale.ts'
import type { ByteSource } from './source.ts'

export interface TileReaderOptions {
  readonly source: ByteSource
  readonly raster: RasterInfo
  readonly plan: TilePlan
  /** One band index per channel. */
  readonly bands: readonly number[]
  readonly scale: Scale
  /** Per channel, subtracted after scaling to [0, 1]. */
  readonly mean: readonly number[]
  /** Per channel, divided by. */
  readonly std: readonly number[]
  /** Side of the model's input in pixels; the plan's tile size when absent. Tiles are resampled when they differ. */
  readonly size?: number | { readonly width: number; readonly height: number }
  /** Memory for decoded blocks, in bytes. */
  readonly cacheBytes?: number
}

export interface TileReading {
  /**
   * Valid pixels ÷ pixels of the tile that lie in the raster. A pixel is invalid where the mask or alpha is 0, where
   * every selected band is nodata, or where a selected band is not finite. Invalid pixels are filled by mirroring.
   */
  readonly validFraction: number
}

/** Reads tiles as normalised tensors. One reader belongs to one thread and does one read at a time. */
export interface TileReader {
  readonly channels: number
  readonly width: number
  readonly height: number
  /**
   * Writes tile `index` into `out` as `[channels, height, width]`, row by row: `(clamp((v - min) / (max - min)) - mean) / std`.
   * `out` has `channels · height · width` elements and may lie in a SharedArrayBuffer.
   *
   * @throws CORRUPT_TILE
   */
  read(index: number, out: Float32Array): Promise<TileReading>
}

export function createTileReader(_options: TileReaderOptions): TileReader {
  throw new Error('pending')
}
