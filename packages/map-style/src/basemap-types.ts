/** A condition on tags, as `osmImportArea` takes it. */
export type BasemapFilter =
  | { readonly key: string; readonly is?: string | string[] }
  | { readonly all: BasemapFilter[] }
  | { readonly any: BasemapFilter[] }

/** A column of a table of an OpenStreetMap import. */
export interface BasemapColumn {
  readonly name: string
  readonly key?: string
  readonly keys?: string[]
  readonly type?: 'integer' | 'metres'
  readonly map?: Record<string, string | null>
  readonly default?: number
}

/** A table of an OpenStreetMap import. */
export interface BasemapTable {
  readonly name: string
  readonly geometry: 'point' | 'linestring' | 'multilinestring' | 'multipolygon'
  readonly from: ('node' | 'line' | 'area' | 'relation')[]
  readonly where: BasemapFilter
  readonly columns: (string | BasemapColumn)[]
}

interface TilesLayer {
  readonly table: string
  readonly layerName: string
  readonly zooms: [number, number]
  readonly rankBy?: { readonly property: string }
}

/** Body of `archiveToPmtiles`. */
export interface BasemapTiles extends TilesLayer {
  readonly archiveName: string
  readonly layers: TilesLayer[]
}
