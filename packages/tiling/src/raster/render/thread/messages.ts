import type { Scene } from '../../scene/scene.ts'
import type { CrsBounds } from '../../crs/bounds.ts'
import type { ByteSpan } from '../blocks.ts'
import type { LngLatBox } from '../extent.ts'
import type { PixelSelection } from '../mosaic-layer.ts'
import type { RenderStyle } from '../style.ts'
import type { Shape } from '../values/shape.ts'
import type { BandStatistics, StatisticsOptions } from '../values/statistics.ts'
import type { TileSet, WantedSize } from '../view.ts'

/** Formats of pictures, and of values: NumPy's and GeoTIFF. */
export type PictureFormat = 'png' | 'webp' | 'jpeg' | 'npy' | 'tif'

/** A tile of a tile matrix set. */
export interface TileArea {
  readonly type: 'tile'
  readonly set: TileSet
  readonly z: number
  readonly x: number
  readonly y: number
  readonly size: number
  readonly buffer: number
}

/** A box, and the requested part of it. */
export interface BoxArea {
  readonly type: 'box'
  /** In the unit of `boundsCrs`, an EPSG code. */
  readonly bounds: CrsBounds
  readonly boundsCrs: number
  /** EPSG code of the CRS whose axes the pixels follow; null for the raster's CRS. */
  readonly crs: number | null
  /** Null for the resolution of the raster within `maxSize`. */
  readonly size: WantedSize | null
  readonly maxSize: number
  /** Outline of the pixels to draw; null for the whole box. */
  readonly shape: Shape | null
}

/** A whole raster, scaled to a size. */
export interface WholeArea {
  readonly type: 'preview'
  readonly maxSize: number
  /** A fixed size, regardless of proportions; null for the proportions of the raster within `maxSize`. */
  readonly size: WantedSize | null
  /**
   * EPSG code of the CRS whose axes the pixels follow, or null for that of the raster. By default the raster's own pixels
   * are used, and Web Mercator for a mosaic.
   */
  readonly crs?: number | null
}

/** A position; only for values. */
export interface PointArea {
  readonly type: 'point'
  readonly position: readonly [number, number]
}

/** Request for a raster. */
export type RenderRequest =
  | { readonly kind: 'describe' }
  | {
      readonly kind: 'picture'
      readonly area: TileArea | BoxArea | WholeArea
      readonly style: RenderStyle
      readonly format: PictureFormat
      /** False for a picture without transparency. */
      readonly mask: boolean
      /** Color under a picture without transparency (`#rrggbb`). With it a picture outside of the raster is blank, not null. */
      readonly background?: string
    }
  | {
      readonly kind: 'statistics'
      readonly area: BoxArea | WholeArea
      readonly style: RenderStyle
      readonly options: StatisticsOptions
    }
  | { readonly kind: 'point'; readonly area: PointArea; readonly style: RenderStyle }

/** Statistics by the names of bands. */
export type RasterStatistics = Readonly<Record<string, BandStatistics>>

/** Values at a position, null for missing ones. */
export interface PointValues {
  readonly values: readonly (number | null)[]
  readonly names: readonly string[]
  readonly descriptions: readonly string[]
}

/** A file, or a scene of files, and its position. */
export interface ImagePart {
  /** Null for a single, unchanged file. */
  readonly scene: Scene | null
  /** Indices of its files in the list of the image. */
  readonly files: readonly number[]
  /** Boxes for finding the part; null for a single part, or when only its files have the position. */
  readonly boxes: readonly LngLatBox[] | null
  /** Id of the sensor profile that reads stored numbers, where it is known: parts of a mosaic have one scale and offset. */
  readonly profile?: string | null
}

/** Parts of a picture: one, or several overlapping ones, the first on top. */
export interface ImagePlan {
  /** The first part determines bands and limits. */
  readonly parts: readonly ImagePart[]
  readonly selection: PixelSelection
}

/** A picture of an image. */
export interface RenderJob {
  /** Keys identify the content of files; threads cache their facts by key. */
  readonly files: readonly { readonly key: string; readonly bytes: number }[]
  readonly plan: ImagePlan
  readonly request: RenderRequest
}

/** Methods of a thread. */
export interface RenderMethods {
  render(job: RenderJob): unknown
}

/** Spans of a file by its key. */
export interface FileSpans {
  readonly key: string
  readonly spans: readonly ByteSpan[]
}

/**
 * Request to fill `into` with the spans of all files, one after the other, then to set `state[0]` to 1 (or 2 when
 * reading failed) and notify it.
 */
export interface ReadEvent {
  readonly reads: readonly FileSpans[]
  readonly into: SharedArrayBuffer
  readonly state: SharedArrayBuffer
}
