import { qualified, quoteIdentifier, quoteLiteral, type Database, type Queryable } from '../database.ts'
import { scan } from '../scan/scan.ts'
import type { PackedBytes, ScanBatch, ScanColumn } from '../scan/columns.ts'
import { STAGING_SCHEMA, type StagedTable } from '../staging/staging.ts'
import type { VectorTable } from './classifiers.ts'
import { EMBEDDINGS_SCHEMA } from './embedding-table.ts'

/** Maximum bytes of a batch; pages are smaller, so each is one batch. */
const MAX_BATCH = 2 ** 27

/** Vectors of a table with their ids and other requested values. */
export interface VectorPage {
  readonly ids: readonly number[]
  /** All vectors, concatenated. */
  readonly vectors: Float32Array
  /** EWKB of the places, as MultiPolygons; empty unless requested. */
  readonly places: PackedBytes
}

export interface VectorPages {
  /** Conditions on a row `t` after `where true`, as {@link rowsOfSources} gives them. */
  readonly where: string
  readonly withPlaces: boolean
  /** Bytes of the vectors of a page. */
  readonly pageBytes: number
}

/** Rows of an embeddings table by id, in pages that are separate statements, so that others can run between them. */
export async function* vectorPages(
  database: Database,
  { tableName, dims }: Pick<VectorTable, 'tableName' | 'dims'>,
  { where, withPlaces, pageBytes }: VectorPages,
): AsyncGenerator<VectorPage> {
  const limit = Math.max(1, Math.floor(pageBytes / (4 * dims)))
  let last = '-1'
  for (;;) {
    const from = `(select * from ${qualified(EMBEDDINGS_SCHEMA, tableName)} t where t.id > ${last} ${where} order by t.id limit ${limit}) t`
    // Read whole before it is yielded, because the consumer may need the single session of an embedded database.
    const parts = await Array.fromAsync(readVectors(database, { from, dims, withPlaces }))
    for (const { ids } of parts) last = String(ids.at(-1))
    yield* parts
    if (parts.reduce((sum, { ids }) => sum + ids.length, 0) < limit) return
  }
}

/**
 * Rows of a staging table in the order of their ids, by pages as of {@link vectorPages}. The table gets an index of its
 * ids meanwhile; no others may write to it.
 *
 * @param columns the first one is `id`
 */
export async function* stagedPages(
  database: Database,
  { staging }: Pick<StagedTable, 'staging'>,
  columns: readonly ScanColumn[],
  limit: number,
): AsyncGenerator<ScanBatch> {
  const table = qualified(STAGING_SCHEMA, staging)
  const index = `${staging}_order_idx`
  await database.query(`create index if not exists ${quoteIdentifier(index)} on ${table} (id)`)
  for (let last = '-1', rows = limit; rows === limit;) {
    const from = `(select * from ${table} where id > ${last} order by id limit ${limit}) t`
    const page = await Array.fromAsync(scan(database, columns, from))
    rows = page.reduce((sum, batch) => sum + batch.rows, 0)
    last = String((page.at(-1)?.columns[0] as readonly number[] | undefined)?.at(-1))
    yield* page
  }
  await database.query(`drop index if exists ${qualified(STAGING_SCHEMA, index)}`)
}

/** The rows with these ids, in the order of their ids. */
export async function vectorsWithIds(
  database: Database,
  { tableName, dims }: Pick<VectorTable, 'tableName' | 'dims'>,
  ids: readonly number[],
): Promise<VectorPage> {
  const wanted = quoteLiteral(`{${ids.join()}}`)
  const from = `(select t.* from ${qualified(EMBEDDINGS_SCHEMA, tableName)} t where t.id = any(${wanted}::bigint[]) order by t.id) t`
  const found: number[] = []
  const parts: Float32Array[] = []
  for await (const page of readVectors(database, { from, dims, withPlaces: false })) {
    for (const id of page.ids) found.push(id)
    parts.push(page.vectors)
  }
  const vectors = new Float32Array(found.length * dims)
  let at = 0
  for (const part of parts) {
    vectors.set(part, at)
    at += part.length
  }
  return { ids: found, vectors, places: { bytes: new Uint8Array(), ends: new Uint32Array() } }
}

async function* readVectors(
  database: Database,
  { from, dims, withPlaces }: { readonly from: string; readonly dims: number; readonly withPlaces: boolean },
): AsyncGenerator<VectorPage> {
  const columns: ScanColumn[] = [
    { sql: quoteIdentifier('id'), type: 'int8' },
    { sql: 'vector_send(embedding::vector)', type: 'bytes' },
    { sql: withPlaces ? `st_asewkb(st_multi(geom), 'NDR')` : 'null', type: 'bytes' },
  ]
  for await (const { columns: values } of scan(database, columns, from, { batchRows: 1e6, batchBytes: MAX_BATCH })) {
    const [ids, packed, places] = values as readonly [readonly number[], PackedBytes, PackedBytes]
    yield { ids, vectors: vectorNumbers(packed, dims), places }
  }
}

/**
 * The numbers of vectors in the form that the server sends: two short integers, then floats, big-endian. They are
 * converted in place, because a copy takes as long as the conversion.
 */
export function vectorNumbers({ bytes, ends }: PackedBytes, dims: number): Float32Array {
  const size = 4 * dims
  for (let i = 0; i < ends.length; i++) bytes.copyWithin(i * size, i * (size + 4) + 4, (i + 1) * (size + 4))
  Buffer.from(bytes.buffer, bytes.byteOffset, ends.length * size).swap32()
  return new Float32Array(bytes.buffer, bytes.byteOffset, ends.length * dims)
}

/** Rows of a table, chosen by time and by source. */
export interface ChosenPart {
  /** SQL condition on a row `t`, after `where true`. */
  readonly where: string
  /** Rows that `since` and `until` leave out because they have no time; 0 without these. */
  readonly rowsWithoutTime: number
}

/**
 * Rows `t` of an embeddings table by their own time, where they have one, or that of their source, and by the numbers
 * of sources. @throws the server's 22023
 */
export async function rowsOfSources(
  database: Queryable,
  tableName: string,
  {
    since,
    until,
    sources,
  }: {
    readonly since?: string | undefined
    readonly until?: string | undefined
    readonly sources?: readonly number[] | undefined
  },
): Promise<ChosenPart> {
  const { rows } = await database.query<ChosenPart>(
    `select case when r.by_row then (geoembeddings.part_in_time(c, $2, $3, $4, false)).rows
         else geoembeddings.rows_of_sources(geoembeddings.part_of(c, $2, $3, null, $4)) end as where,
       case when num_nonnulls($2::timestamptz, $3::timestamptz) > 0 then coalesce(geoembeddings.rows_without_time(c, r.by_row, $4), 0) else 0 end
         as "rowsWithoutTime"
     from geoembeddings.embeddings_catalogue c
     cross join lateral (select geoembeddings.has_row_times(to_regclass(format('geoembeddings.%I', c.table_name))) as by_row) r
     where c.table_name = $1`,
    [tableName, since ?? null, until ?? null, sources ?? null],
  )
  return rows[0] ?? { where: '', rowsWithoutTime: 0 }
}

/** SQL condition that selects rows `t` of the sources with these numbers; none for an empty list. */
export async function conditionOfSources(database: Queryable, sources: readonly number[]): Promise<string> {
  const { rows } = await database.query<{ condition: string }>(
    'select geoembeddings.rows_of_sources($1::integer[]) as condition',
    [sources],
  )
  return rows[0]!.condition
}

/** Time at which rows of each source were last written, by its number; empty for tables without sources. */
export async function sourceVersions(
  database: Queryable,
  tableName: string,
): Promise<Readonly<Record<string, string>>> {
  const { rows } = await database.query<{ versions: Record<string, string> }>(
    `select coalesce(jsonb_object_agg(s.source, s.updated_at), '{}') as versions
     from geoembeddings.embedding_sources s where s.table_name = $1 and s.status = 'done'`,
    [tableName],
  )
  return rows[0]!.versions
}

/** Number of rows of a table that match a condition. */
export async function countRows(database: Queryable, tableName: string, where: string): Promise<number> {
  const { rows } = await database.query<{ rows: number }>(
    `select count(*) as rows from ${qualified(EMBEDDINGS_SCHEMA, tableName)} t where true ${where}`,
  )
  return rows[0]!.rows
}
