import type { ClassMethod } from './classes.ts'

/** A map as people edit it. */
export interface MapDocument {
  readonly title: string
  /** Text of the author about the map. */
  readonly notes: string
  /** `[lng, lat]` and zoom that the map opens with; null before it has layers. */
  readonly view: { readonly center: readonly [number, number]; readonly zoom: number } | null
  /** From the topmost to the lowest. */
  readonly layers: readonly MapLayer[]
}

export type MapLayer = VectorLayer | RasterLayer

interface AnyLayer {
  /** Unique in its map. */
  readonly id: string
  readonly title: string
  readonly isShown: boolean
  /** 0 to 1. */
  readonly opacity: number
  /** Lowest and highest zoom of the layer. */
  readonly zooms: readonly [number, number]
  /** West, south, east, north in degrees. */
  readonly bounds: readonly [number, number, number, number]
  readonly attribution: string
}

/** Features of a table, drawn from its tiles. */
export interface VectorLayer extends AnyLayer {
  readonly kind: 'vector'
  /** `schema.table`. */
  readonly table: string
  readonly geometry: 'point' | 'line' | 'area' | 'mixed'
  /** How points are drawn: `heat` shows how dense they are, `cluster` joins neighbours and counts them. */
  readonly draw: 'features' | 'heat' | 'cluster'
  readonly color: Coloring
  /** Radius of points, or width of lines, in pixels. */
  readonly size: number
  /** Outline of areas and points: CSS colour, width in pixels; width 0 hides it. */
  readonly outline: { readonly color: string; readonly width: number }
  /** Property for labels; null for none. */
  readonly label: { readonly property: string; readonly size: number } | null
  /** A feature is drawn when it fulfils all of them. */
  readonly filters: readonly Filter[]
}

/** A GeoTIFF, drawn by `/raster/v1`. */
export interface RasterLayer extends AnyLayer {
  readonly kind: 'raster'
  /** `storage://{bucket}/{path}` or `embeddings://{table}`. */
  readonly url: string
  /** Numbers of one or three bands, from 1. */
  readonly bands: readonly number[]
  /** Values that are drawn darkest and brightest, per band; empty for the raster's own limits. */
  readonly stretch: readonly (readonly [number, number])[]
  /** Name of a colormap for one band; null for greys. */
  readonly colormap: string | null
  /** Zooms that have tiles of their own. */
  readonly tileZooms: readonly [number, number]
}

/** Colours of a layer. */
export type Coloring =
  | { readonly by: 'one'; readonly color: string }
  | {
      readonly by: 'number'
      readonly property: string
      readonly method: ClassMethod
      /** A name of {@link PALETTES}. */
      readonly palette: string
      readonly isReversed: boolean
      /** Start of each class, ascending; numbers below the first start are in the first class. */
      readonly starts: readonly number[]
      /** The greatest number. */
      readonly high: number
      /** Rows of each class, and rows without a number. */
      readonly rows: readonly number[]
      readonly missing: number
    }
  | {
      readonly by: 'category'
      readonly property: string
      readonly palette: string
      readonly values: readonly { readonly value: string | number | boolean; readonly rows: number }[]
      /** Numbers of rows with other values, and without a value. */
      readonly others: number
      readonly missing: number
    }

export const CONDITIONS = ['equal', 'not', 'less', 'more', 'contains', 'empty', 'filled'] as const

/** A condition on a property; rows without a value fulfil only `empty` and `not`. An empty text counts as missing. */
export interface Filter {
  readonly property: string
  readonly is: (typeof CONDITIONS)[number]
  /** A value of the property's kind, also for conditions without a value. */
  readonly value: string | number | boolean
}
