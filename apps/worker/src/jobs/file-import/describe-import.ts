import type { JobWarning, Ogr2ogrImport } from '@terrane/contracts'
import type { Queryable } from '@terrane/database'
import { appendFailed, nothingImported } from './errors.ts'
import type { Contents, LayerTable } from './layer-table.ts'

/** A table whose rows are in staging. */
export interface LoadedTable extends Pick<LayerTable, 'layer' | 'rows' | 'rejected'> {
  readonly warnings: readonly JobWarning[]
  /** Null until the geometries have their final type. */
  readonly contents: Contents | null
}

/** A table that is complete except for its indexes. */
export interface FinishedTable extends LoadedTable {
  readonly table: LayerTable
  readonly contents: Contents
}

/** A table's entry in the result. */
export function describeTable({ table, contents, rejected }: FinishedTable) {
  return {
    table: `${table.staged.schema}.${table.staged.table}`,
    rows: table.rows,
    rejected,
    geometry_type: contents.geometryType,
    srid: contents.srid,
    bbox: contents.bbox,
    columns: table.columns,
    layer: table.layer.name,
  }
}

/** @throws NOTHING_IMPORTED */
export function refuseEmpty(
  finished: readonly FinishedTable[],
  layers: readonly string[],
  warnings: readonly JobWarning[],
): void {
  if (finished.some(({ table }) => table.rows > 0)) return
  throw nothingImported({
    layer: finished.map(({ table }) => table.layer.name).join(', '),
    rejected: sum(finished.map(({ rejected }) => rejected)),
    reasons: warnings.map(({ message }) => message),
    layers,
  })
}

export function shapeOf({ key, hasGeometry }: LayerTable) {
  const geometry = hasGeometry ? [{ name: 'geom', type: 'geometry' as const }] : []
  return { primaryKey: key, columns: [{ name: key, type: 'int8' as const }, ...geometry] }
}

/** Origin of the data, without possible secrets in an address. */
export function describeOrigin(input: Ogr2ogrImport): { readonly kind: string; readonly name: string } {
  const address = input.fileUrl ?? input.url
  if (address === undefined) return { kind: 'storage', name: `${input.storagePath!.bucket}/${input.storagePath!.path}` }
  const { origin, pathname } = new URL(address)
  return { kind: 'url', name: `${origin}${pathname}` }
}

export async function columnNames(database: Queryable, schema: string, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = format('%I.%I', $1::text, $2::text)::regclass
     and attnum > 0 and not attisdropped`,
    [schema, table],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Names the table in the server's error about its rows or its replacement; returns other errors unchanged. */
export function explained(cause: unknown, table: string): unknown {
  const { code } = cause as { code?: unknown }
  const isAboutRows = typeof code === 'string' && /^(22|23|42|2B)\w{3}$/.test(code)
  return isAboutRows ? appendFailed({ table, reason: (cause as Error).message }, { cause }) : cause
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0)
}
