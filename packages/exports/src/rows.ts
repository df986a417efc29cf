import type { PackedBytes, ScanBatch, ScanColumn, ScanOptions, ScanSource, ScanValues } from '@terrane/database/scan'
import type { Losses } from './losses.ts'
import { geometriesChanged } from './errors.ts'
import type { GeometryForm } from './forms.ts'
import { NO_SYSTEM, kindSql, remediesFor, type Remedy, type SourceGeometry } from './remedies.ts'
import { DIGITS, geometrySql, type ExportSource } from './source.ts'
import { SystemCounts, systemColumn } from './systems.ts'

/** Rows of a batch; small, so that one synchronous write does not delay other requests. */
const BATCH_ROWS = 1000
const WGS84 = 4326

/** One row: values in the order of the columns, and the geometry as bytes or text. */
export interface ExportRow {
  readonly values: readonly (number | bigint | boolean | string | null)[]
  readonly geometry: Uint8Array | string | null
}

/** Streams the rows of a source: `scan` of a database, `scanInTurns`, or `scanSession` of a session. */
export type Scanner = (
  columns: readonly ScanColumn[],
  from: ScanSource,
  options: ScanOptions,
) => AsyncIterable<ScanBatch>

/** Rows of a source in batches; unfit geometries are changed and counted. @throws TABLE_CHANGED for a new kind */
export async function* readRows(
  scan: Scanner,
  { name, columns: own, geometry, from }: ExportSource,
  form: GeometryForm,
  losses: Losses,
): AsyncGenerator<ExportRow[]> {
  const columns: ScanColumn[] = own.map((column) => column.scan)
  countFurther(own, losses)
  const remedies = geometry ? remediesFor(geometry, form.lacks) : []
  const counted = geometry && !geometry.isDeclared ? [...remedies, NO_SYSTEM] : remedies
  if (geometry) {
    const place = geometrySql(geometry.name)
    columns.push({ sql: geometryOf(geometry, form, remedies), type: form.encoding === 'wkb' ? 'bytes' : 'text' })
    for (const { changes } of counted) columns.push({ sql: changes(place), type: 'bool' })
    if (geometry.kinds) columns.push({ sql: isNewSql(place, geometry.kinds), type: 'bool' })
    if (!geometry.isDeclared) columns.push(systemColumn(place))
  }
  const systems = new SystemCounts()
  // A table without columns has rows all the same.
  const asked = columns.length > 0 ? columns : [{ sql: 'null', type: 'text' as const }]
  for await (const batch of scan(asked, from, { batchRows: BATCH_ROWS })) {
    if (geometry?.kinds && (batch.columns[own.length + 1 + counted.length] as Plain).includes(true))
      throw geometriesChanged({ table: name })
    const rows: ExportRow[] = []
    for (let row = 0; row < batch.rows; row++) {
      const values = own.map((_, i) => (batch.columns[i] as Plain)[row]!)
      rows.push({ values, geometry: geometry ? geometryAt(batch.columns[own.length]!, row) : null })
    }
    for (const [i, { code, message }] of counted.entries()) {
      const flags = batch.columns[own.length + 1 + i] as Plain
      for (let row = 0; row < batch.rows; row++) if (flags[row] === true) losses.count(code, message)
    }
    if (geometry && !geometry.isDeclared) systems.add(batch.columns.at(-1) as Plain, batch.rows)
    yield rows
  }
  systems.tell(losses)
}

/** SQL condition that is true if a geometry has none of the kinds, which are words and numbers. */
function isNewSql(place: string, kinds: readonly string[]): string {
  return `${place} is not null and ${kindSql(place)} <> all ('{${kinds.map((kind) => `"${kind}"`).join()}}'::text[])`
}

function countFurther(columns: ExportSource['columns'], losses: Losses): void {
  const further = columns.filter(({ isGeometry }) => isGeometry).map(({ name }) => name)
  const message = 'A row has one geometry: further ones became texts (EWKT).'
  if (further.length > 0) losses.add('GEOMETRIES_AS_TEXT', message, further.length, further)
}

type Plain = Exclude<ScanValues, PackedBytes>

function geometryOf({ name, srid, isMixed }: SourceGeometry, form: GeometryForm, remedies: readonly Remedy[]): string {
  const place = geometrySql(name)
  let sql = place
  const target = form.inDegrees ? WGS84 : srid
  if (isMixed || (form.inDegrees && srid === null))
    sql = `case when st_srid(${sql}) in (0, ${target}) then ${sql} else st_transform(${sql}, ${target}) end`
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
