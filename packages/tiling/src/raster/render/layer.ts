import type { RasterCrs, RasterInfo } from '../raster-info.ts'
import type { LngLatBox } from './extent.ts'
import type { ReadPixels } from './pixels.ts'
import type { View } from './view.ts'

/** How values between pixels are found. */
export type RenderResampling = 'nearest' | 'bilinear'

/** Which values of a layer are wanted. */
export interface LayerChoice {
  /** 0-based. */
  readonly bands: readonly number[]
  /** Stands in for the nodata value of the files; null for theirs. */
  readonly nodata: number | null
  readonly resampling: RenderResampling
}

/** Where a layer lies on the zooms of Web Mercator. */
export interface ZoomRange {
  readonly minzoom: number
  readonly maxzoom: number
}

/** A range of values for each band. */
export type Limits = (bands: readonly number[]) => Promise<readonly (readonly [number, number])[]>

/** The same limits, found once for a list of bands. */
export function rememberLimits(find: Limits): Limits {
  const known = new Map<string, ReturnType<Limits>>()
  return (bands) => {
    const key = bands.join(',')
    const limits = known.get(key) ?? find(bands)
    known.set(key, limits)
    return limits
  }
}

/** Values of bands by place: a raster file, a scene of many files, or a mosaic of such. */
export interface Layer extends ZoomRange {
  /** Size, grid, bands and types; of a mosaic those of its first layer. */
  readonly raster: RasterInfo
  readonly crs: RasterCrs
  readonly boxes: readonly LngLatBox[]
  /** The layer that decides how all are shown: the first of a mosaic, else this one. */
  readonly reference: Layer | null
  /** The whole of the layer in a size; the proportions are those of `raster` unless it is a mosaic. */
  wholeView(size: readonly [number, number] | null, maxSize: number): View
  /** The range of physical values of each band that is shown unless it is told. @throws NO_VALID_PIXELS */
  readonly limits: Limits
  /** Which image a view is read from, 0 for the full resolution. */
  levelOf(view: View): number
  /** Values of a whole view; null where there are none. @throws TILE_TOO_COARSE, CORRUPT_TILE */
  read(view: View, choice: LayerChoice): Promise<ReadPixels | null>
}
