import type { ExportFormat } from '@terrane/contracts'
import type { Lack } from './remedies.ts'

/** How geometries leave the database. */
export interface GeometryForm {
  readonly encoding: 'wkb' | 'wkt' | 'geojson'
  /** In longitude and latitude, independent of the table's system. */
  readonly inDegrees: boolean
  /** Geometries that the format cannot hold. */
  readonly lacks: readonly Lack[]
  /** The header of the format has types and reference system, before the rows. */
  readonly typesFirst: boolean
}

/** Media types of the formats. */
export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  GeoParquet: 'application/vnd.apache.parquet',
  GeoPackage: 'application/geopackage+sqlite3',
  FlatGeobuf: 'application/flatgeobuf',
  GeoJSON: 'application/geo+json',
  GeoJSONSeq: 'application/geo+json-seq',
  CSV: 'text/csv',
  Shapefile: 'application/zip',
}

/** RFC 7946 has seven types, and PostGIS writes no nested collections. */
const NOT_IN_JSON: readonly Lack[] = ['curves', 'surfaces', 'nested collections', 'measures']
/** Both formats store a box for each geometry; few of their readers support arcs and surfaces. */
const NOT_IN_BOXES: readonly Lack[] = ['curves', 'surfaces', 'empty geometries']

/** How each format takes geometries. */
export const FORMS: Readonly<Record<ExportFormat, GeometryForm>> = {
  GeoParquet: { encoding: 'wkb', inDegrees: true, lacks: ['curves', 'surfaces', 'measures'], typesFirst: false },
  GeoPackage: { encoding: 'wkb', inDegrees: false, lacks: [], typesFirst: true },
  FlatGeobuf: { encoding: 'wkb', inDegrees: false, lacks: NOT_IN_BOXES, typesFirst: true },
  GeoJSON: { encoding: 'geojson', inDegrees: true, lacks: NOT_IN_JSON, typesFirst: false },
  GeoJSONSeq: { encoding: 'geojson', inDegrees: true, lacks: NOT_IN_JSON, typesFirst: false },
  CSV: { encoding: 'wkt', inDegrees: true, lacks: [], typesFirst: false },
  Shapefile: { encoding: 'wkb', inDegrees: false, lacks: NOT_IN_BOXES, typesFirst: true },
}
