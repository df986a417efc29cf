import type { RasterCrs, RasterInfo } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import type { ByteSpan } from './blocks.ts'
import { tileTooCoarse } from './errors.ts'
import type { LngLatBox } from './extent.ts'
import type { ReadPixels } from './pixels.ts'
import type { View, WantedSize } from './view.ts'

/** Resampling methods by GDAL's names. */
export const RESAMPLINGS = [
  'nearest',
  'bilinear',
  'cubic',
  'cubic_spline',
  'lanczos',
  'average',
  'mode',
  'rms',
] as const
export type RenderResampling = (typeof RESAMPLINGS)[number]

/** Requested values of a layer. */
export interface LayerChoice {
  /** 0-based. */
  readonly bands: readonly number[]
  /** Replaces the nodata value of the files; null for theirs. */
  readonly nodata: number | null
  readonly resampling: RenderResampling
  /** Whether `nearest` of a file keeps pixels that have no data, so that the caller masks each band by itself. */
  readonly keepsMissing?: boolean | undefined
}

/** Range of zooms of a layer in Web Mercator. */
export interface ZoomRange {
  readonly minzoom: number
  readonly maxzoom: number
}

/** Returns a range of values for each band. */
export type Limits = (bands: readonly number[]) => Promise<readonly (readonly [number, number])[]>

/** Caches the limits for a list of bands; failures are not cached. */
export function rememberLimits(find: Limits): Limits {
  const known = new Map<string, ReturnType<Limits>>()
  return (bands) => {
    const key = bands.join(',')
    const limits = known.get(key) ?? find(bands)
    known.set(key, limits)
    limits.catch(() => known.delete(key))
    return limits
  }
}

/** Data of a file that a view needs. */
export interface FileNeed {
  readonly source: ByteSource
  /** Ranges that are not in memory yet. */
  readonly spans: readonly ByteSpan[]
  /** Number of decoded pixels of all bands, in memory or not. */
  readonly pixels: number
}

/** Reads the spans of several files at once, so that each layer finds its own when it is read. */
export type FetchTogether = (needs: readonly FileNeed[]) => void

/** Maximum number of decoded pixels of all bands for one view. */
const MAX_PIXELS = 1 << 28

/** Adds the cost of a view, in pixels. @throws TILE_TOO_COARSE */
export function addCost(before: number, needs: readonly FileNeed[]): number {
  const pixels = needs.reduce((sum, need) => sum + need.pixels, before)
  if (pixels > MAX_PIXELS) throw tileTooCoarse({ pixels, limit: MAX_PIXELS })
  return pixels
}

/** Georeferenced values of bands: a raster file, a scene of many files, or a mosaic of them. */
export interface Layer extends ZoomRange {
  /** Size, grid, bands and types; for a mosaic, those of its first layer. */
  readonly raster: RasterInfo
  readonly crs: RasterCrs
  readonly boxes: readonly LngLatBox[]
  /** The layer that decides the style of all: the first of a mosaic, else this one. */
  readonly reference: Layer | null
  /** A view of the whole layer in a given size; it has the proportions of `raster` unless the layer is a mosaic. */
  wholeView(size: WantedSize | null, maxSize: number): View
  /** The default range of physical values of each band. @throws NO_VALID_PIXELS */
  readonly limits: Limits
  /** Index of the image that a view is read from; 0 for the full resolution. */
  levelOf(view: View): number
  /** Number of pixels of the full resolution per pixel of a view; 1 if unknown. */
  stepOf(view: View): number
  /** The byte ranges that `read` will need; empty when the layer is not visible. @throws TILE_TOO_COARSE */
  needs(view: View, choice: LayerChoice): readonly FileNeed[]
  /** Values of a whole view; null when it has none. @throws TILE_TOO_COARSE, CORRUPT_TILE */
  read(view: View, choice: LayerChoice): Promise<ReadPixels | null>
}
