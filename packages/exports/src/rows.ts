import type { PackedBytes, ScanBatch, ScanColumn, ScanOptions, ScanValues } from '@terrane/database'
import type { Losses } from './losses.ts'
import { geometrySql, type ExportSource, type SourceGeometry } from './source.ts'

/** Few, so that a batch that is written at once holds nobody up. */
const BATCH_ROWS = 1000
const WGS84 = 4326
const ISO_M = 2000

/** How geometries leave the database. */
export interface GeometryForm {
  readonly encoding: 'wkb' | 'wkt' | 'geojson'
  /** In longitude and latitude, whatever the table's system is. */
  readonly inDegrees: boolean
  readonly keepsMeasures: boolean
  /** Its head tells of types and system, before the rows. */
  readonly typesFirst: boolean
}

/** One row: values in the order of the columns, and the geometry as bytes or text. */
export interface ExportRow {
  readonly values: readonly (number | bigint | boolean | string | null)[]
  readonly geometry: Uint8Array | string | null
}

/** Streams the rows of a query: `scan` of a database, or `scanSession` of a session. */
export type Scanner = (columns: readonly ScanColumn[], from: string, options: ScanOptions) => AsyncIterable<ScanBatch>

/** The rows of a source, a batch at a time. Measures that the format has no place for are counted. */
export async function* readRows(
  scan: Scanner,
  { columns: own, geometry, from }: ExportSource,
  form: GeometryForm,
  losses: Losses,
): AsyncGenerator<ExportRow[]> {
  const columns: ScanColumn[] = own.map((column) => column.scan)
  const dropsMeasures = geometry !== null && !form.keepsMeasures && mayHaveMeasures(geometry)
  if (geometry)
    columns.push({
      sql: geometryOf(geometry, form, dropsMeasures),
      type: form.encoding === 'wkb' ? 'bytes' : 'text',
    })
  if (dropsMeasures) columns.push({ sql: hasMeasures(geometry.name), type: 'bool' })
  // A table without columns has rows all the same.
  const asked = columns.length > 0 ? columns : [{ sql: 'null', type: 'text' as const }]
  for await (const batch of scan(asked, from, { batchRows: BATCH_ROWS })) {
    const rows: ExportRow[] = []
    const flags = dropsMeasures ? (batch.columns[own.length + 1] as Plain) : null
    for (let row = 0; row < batch.rows; row++) {
      const values = own.map((_, i) => (batch.columns[i] as Plain)[row]!)
      rows.push({ values, geometry: geometry ? geometryAt(batch.columns[own.length]!, row) : null })
      if (flags?.[row]) losses.count('MEASURES_LEFT_OUT', 'The format has no place for the measures of positions.')
    }
    yield rows
  }
}

type Plain = Exclude<ScanValues, PackedBytes>

function mayHaveMeasures({ types }: SourceGeometry): boolean {
  return types === null || types.some((type) => type >= ISO_M)
}

function hasMeasures(name: string): string {
  return `st_zmflag(${geometrySql(name)}) in (1, 3)`
}

function geometryOf({ name, srid }: SourceGeometry, form: GeometryForm, dropsMeasures: boolean): string {
  let sql = geometrySql(name)
  if (form.inDegrees && srid === null)
    sql = `case when st_srid(${sql}) in (0, ${WGS84}) then ${sql} else st_transform(${sql}, ${WGS84}) end`
  else if (form.inDegrees && srid !== WGS84) sql = `st_transform(${sql}, ${WGS84})`
  if (dropsMeasures)
    sql = `case st_zmflag(${sql}) when 1 then st_force2d(${sql}) when 3 then st_force3dz(${sql}) else ${sql} end`
  if (form.encoding === 'wkb') return `st_asbinary(${sql}, 'NDR')`
  return form.encoding === 'wkt' ? `st_astext(${sql}, 17)` : `st_asgeojson(${sql}, 17, 0)`
}

function geometryAt(values: ScanValues, row: number): Uint8Array | string | null {
  if (!('ends' in values)) return values[row] as string | null
  const bytes = values.bytes.subarray(row === 0 ? 0 : values.ends[row - 1]!, values.ends[row])
  return bytes.length === 0 ? null : bytes
}
