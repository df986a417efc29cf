import type { PackedBytes, ScanBatch, ScanColumn, ScanOptions, ScanValues } from '@terrane/database'
import { geometrySql, type ExportSource } from './source.ts'

/** Few, so that a batch that is written at once holds nobody up. */
const BATCH_ROWS = 1000
const WGS84 = 4326

/** How geometries leave the database. */
export interface GeometryForm {
  readonly encoding: 'wkb' | 'wkt' | 'geojson'
  /** In longitude and latitude, whatever the table's system is. */
  readonly inDegrees: boolean
  readonly keepsMeasures: boolean
}

/** One row: values in the order of the columns, and the geometry as bytes or text. */
export interface ExportRow {
  readonly values: readonly (number | bigint | boolean | string | null)[]
  readonly geometry: Uint8Array | string | null
}

/** Streams the rows of a query: `scan` of a database, or `scanSession` of a session. */
export type Scanner = (columns: readonly ScanColumn[], from: string, options: ScanOptions) => AsyncIterable<ScanBatch>

/** The rows of a source, a batch at a time. */
export async function* readRows(scan: Scanner, source: ExportSource, form: GeometryForm): AsyncGenerator<ExportRow[]> {
  const columns = source.columns.map((column) => column.scan)
  if (source.geometry)
    columns.push({ sql: geometryOf(source.geometry, form), type: form.encoding === 'wkb' ? 'bytes' : 'text' })
  // A table without columns has rows all the same.
  const asked = columns.length > 0 ? columns : [{ sql: 'null', type: 'text' as const }]
  for await (const batch of scan(asked, source.from, { batchRows: BATCH_ROWS })) {
    const rows: ExportRow[] = []
    for (let row = 0; row < batch.rows; row++) {
      const values = source.columns.map((_, i) => (batch.columns[i] as Exclude<ScanValues, PackedBytes>)[row]!)
      rows.push({ values, geometry: source.geometry ? geometryAt(batch.columns[columns.length - 1]!, row) : null })
    }
    yield rows
  }
}

function geometryOf({ name, srid, hasMeasures }: NonNullable<ExportSource['geometry']>, form: GeometryForm): string {
  let sql = geometrySql(name)
  if (form.inDegrees && srid !== WGS84) sql = `st_transform(${sql}, ${WGS84})`
  if (hasMeasures && !form.keepsMeasures) {
    sql = `case when st_zmflag(${sql}) in (2, 3) then st_force3dz(${sql}) else st_force2d(${sql}) end`
  }
  if (form.encoding === 'wkb') return `st_asbinary(${sql}, 'NDR')`
  return form.encoding === 'wkt' ? `st_astext(${sql}, 17)` : `st_asgeojson(${sql}, 17, 0)`
}

function geometryAt(values: ScanValues, row: number): Uint8Array | string | null {
  if (!('ends' in values)) return values[row] as string | null
  const bytes = values.bytes.subarray(row === 0 ? 0 : values.ends[row - 1]!, values.ends[row])
  return bytes.length === 0 ? null : bytes
}
