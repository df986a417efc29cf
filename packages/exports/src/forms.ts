import type { ExportFormat } from '@terrane/contracts'
import type { GeometryForm } from './rows.ts'

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

/** How each format takes geometries. */
export const FORMS: Readonly<Record<ExportFormat, GeometryForm>> = {
  GeoParquet: { encoding: 'wkb', inDegrees: true, keepsMeasures: false, typesFirst: false },
  GeoPackage: { encoding: 'wkb', inDegrees: false, keepsMeasures: true, typesFirst: true },
  FlatGeobuf: { encoding: 'wkb', inDegrees: false, keepsMeasures: true, typesFirst: true },
  GeoJSON: { encoding: 'geojson', inDegrees: true, keepsMeasures: false, typesFirst: false },
  GeoJSONSeq: { encoding: 'geojson', inDegrees: true, keepsMeasures: false, typesFirst: false },
  CSV: { encoding: 'wkt', inDegrees: true, keepsMeasures: true, typesFirst: false },
  Shapefile: { encoding: 'wkb', inDegrees: false, keepsMeasures: true, typesFirst: true },
}
