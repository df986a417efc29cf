import type { PackedBytes, ScanBatch, ScanColumn, ScanOptions, ScanValues } from '@terrane/database'
import type { Losses } from './losses.ts'
import { remediesFor, type Lack, type Remedy } from './remedies.ts'
import { geometrySql, type ExportSource, type SourceGeometry } from './source.ts'

/** Few, so that a batch that is written at once holds nobody up. */
const BATCH_ROWS = 1000
const WGS84 = 4326
/** Digits behind the point at most, enough for each double: the server writes no more than tell it from others. */
const DIGITS = 40

/** How geometries leave the database. */
export interface GeometryForm {
  readonly encoding: 'wkb' | 'wkt' | 'geojson'
  /** In longitude and latitude, whatever the table's system is. */
  readonly inDegrees: boolean
  /** What it does not hold. */
  readonly lacks: readonly Lack[]
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

/** The rows of a source, a batch at a time. What of their geometries the format has no place for is changed and counted. */
export async function* readRows(
  scan: Scanner,
  { columns: own, geometry, from }: ExportSource,
  form: GeometryForm,
  losses: Losses,
): AsyncGenerator<ExportRow[]> {
  const columns: ScanColumn[] = own.map((column) => column.scan)
  const remedies = geometry ? remediesFor(geometry, form.lacks) : []
  if (geometry) {
    const place = geometrySql(geometry.name)
    columns.push({ sql: geometryOf(geometry, form, remedies), type: form.encoding === 'wkb' ? 'bytes' : 'text' })
    for (const { changes } of remedies) columns.push({ sql: changes(place), type: 'bool' })
  }
  // A table without columns has rows all the same.
  const asked = columns.length > 0 ? columns : [{ sql: 'null', type: 'text' as const }]
  for await (const batch of scan(asked, from, { batchRows: BATCH_ROWS })) {
    const rows: ExportRow[] = []
    for (let row = 0; row < batch.rows; row++) {
      const values = own.map((_, i) => (batch.columns[i] as Plain)[row]!)
      rows.push({ values, geometry: geometry ? geometryAt(batch.columns[own.length]!, row) : null })
    }
    for (const [i, { code, message }] of remedies.entries()) {
      const flags = batch.columns[own.length + 1 + i] as Plain
      for (let row = 0; row < batch.rows; row++) if (flags[row] === true) losses.count(code, message)
    }
    yield rows
  }
}

type Plain = Exclude<ScanValues, PackedBytes>

function geometryOf({ name, srid }: SourceGeometry, form: GeometryForm, remedies: readonly Remedy[]): string {
  const place = geometrySql(name)
  let sql = place
  if (form.inDegrees && srid === null)
    sql = `case when st_srid(${sql}) in (0, ${WGS84}) then ${sql} else st_transform(${sql}, ${WGS84}) end`
  else if (form.inDegrees && srid !== WGS84) sql = `st_transform(${sql}, ${WGS84})`
  for (const { changes, change } of remedies) sql = `case when ${changes(place)} then ${change(sql)} else ${sql} end`
  if (form.encoding === 'wkb') return `st_asbinary(${sql}, 'NDR')`
  return form.encoding === 'wkt' ? `st_astext(${sql}, ${DIGITS})` : `st_asgeojson(${sql}, ${DIGITS}, 0)`
}

function geometryAt(values: ScanValues, row: number): Uint8Array | string | null {
  if (!('ends' in values)) return values[row] as string | null
  const bytes = values.bytes.subarray(row === 0 ? 0 : values.ends[row - 1]!, values.ends[row])
  return bytes.length === 0 ? null : bytes
}
