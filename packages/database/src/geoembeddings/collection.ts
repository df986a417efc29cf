import { qualified, type Database, type Queryable, type Session } from '../database.ts'
import { runSuperseded } from '../errors.ts'
import { CLOSED, holdRun, type JobRun } from '../staging/job-runs.ts'
import { STAGING_SCHEMA, relationExists, sharedStaging, type StagedTable } from '../staging/staging.ts'
import {
  EMBEDDINGS_SCHEMA,
  columnsOf,
  createEmbeddingTable,
  finishGeometry,
  indexWhenLarge,
  type EmbeddingTableShape,
} from './embedding-table.ts'
import { SOURCE_BITS, findSources, writeSources, type EmbeddingSource } from './sources.ts'

/** Staging table of a collection, of the job and not of a run; ids have the number of their shard in the upper bits. */
export function collectionTable(jobId: string, tableName: string): StagedTable {
  return { staging: sharedStaging(jobId), schema: EMBEDDINGS_SCHEMA, table: tableName }
}

/** Creates the table of a collection unless it exists. @throws RUN_SUPERSEDED */
export async function openCollection(
  database: Database,
  run: JobRun,
  staged: StagedTable,
  shape: EmbeddingTableShape,
): Promise<void> {
  await database.transaction(async (session) => {
    await holdRun(session, run)
    if (!(await relationExists(session, STAGING_SCHEMA, staged.staging)))
      await createEmbeddingTable(session, staged, shape)
  })
}

/**
 * Moves the rows of a shard's own staging table into that of its collection, in a transaction of the caller. The same
 * transaction records the shard as applied, so that its rows are added exactly once.
 *
 * @throws RUN_SUPERSEDED when the collection's job has ended
 */
export async function addToCollection(
  session: Session,
  from: StagedTable,
  {
    jobId,
    shard,
    kind,
  }: { readonly jobId: string; readonly shard: number; readonly kind: EmbeddingTableShape['kind'] },
): Promise<void> {
  // The code that closes the job waits for this transaction before it drops the table.
  const { rowCount } = await session.query(
    `select 1 from terrane.job_runs where job_id = $1 and number < ${CLOSED} for share`,
    [jobId],
  )
  if (rowCount !== 1) throw runSuperseded()
  const columns = columnsOf(kind).join(', ')
  const source = qualified(STAGING_SCHEMA, from.staging)
  await session.query(
    `insert into ${qualified(STAGING_SCHEMA, sharedStaging(jobId))} (id, ${columns})
     select id + ($1::bigint << ${SOURCE_BITS}), ${columns} from ${source}`,
    [shard],
  )
  await session.query(`drop table ${source}`)
}

/** Drops the staging table of a collection. @throws RUN_SUPERSEDED when a later run has begun, which keeps the table */
export async function dropCollection(database: Database, run: JobRun): Promise<void> {
  await database.transaction(async (session) => {
    await holdRun(session, run)
    await session.query(`drop table if exists ${qualified(STAGING_SCHEMA, sharedStaging(run.jobId))}`)
  })
}

/** State of an embedding table after an append. */
export interface AppendedTable {
  readonly rows: number
  readonly bbox: readonly [number, number, number, number]
}

/**
 * Adds the rows of a collection to an existing table, in a transaction of the caller. A new source gets a number of its
 * own. A source that the table already has keeps its number, and its former rows are deleted. Catalogue and list of
 * sources are updated as well.
 */
export async function appendCollection(
  session: Session,
  database: Database,
  from: StagedTable,
  {
    jobId,
    shape,
    sources,
  }: {
    readonly jobId: string
    readonly shape: EmbeddingTableShape
    /** Sources by the number of the shard. */
    readonly sources: ReadonlyMap<number, EmbeddingSource>
  },
): Promise<AppendedTable> {
  const { table: tableName } = from
  const table = qualified(EMBEDDINGS_SCHEMA, tableName)
  await session.query('select 1 from geoembeddings.embeddings_catalogue where table_name = $1 for update', [tableName])
  await knowTheFirst(session, tableName)
  const numbered = await numberSources(session, tableName, sources)
  const done = numbered.filter(({ status }) => status === 'done')
  const numbers = [done.map(({ shard }) => shard), done.map(({ source }) => source)]
  await session.query(`delete from ${table} where id >> ${SOURCE_BITS} = any($1::bigint[])`, [numbers[1]])
  const cast = await finishGeometry(session, table, qualified(STAGING_SCHEMA, from.staging))
  const columns = columnsOf(shape.kind)
  await session.query(
    `insert into ${table} (id, ${columns.join(', ')})
     select (t.id & ${2 ** SOURCE_BITS - 1}) + (n.source << ${SOURCE_BITS}), ${columns.map((name) => (name === 'geom' ? cast : `t.${name}`)).join(', ')}
     from ${qualified(STAGING_SCHEMA, from.staging)} t
     join unnest($1::bigint[], $2::bigint[]) n(shard, source) on n.shard = t.id >> ${SOURCE_BITS}`,
    numbers,
  )
  await writeSources(session, tableName, jobId, numbered)
  await session.query(`drop table ${qualified(STAGING_SCHEMA, from.staging)}`)
  const { rows } = await session.query<{ rows: number; box: number[] }>(
    `select e.rows, array[st_xmin(e.b), st_ymin(e.b), st_xmax(e.b), st_ymax(e.b)] as box
     from (select count(*) as rows, st_extent(geom)::box3d as b from ${table}) e`,
  )
  const { rows: count = 0, box = [] } = rows[0] ?? {}
  const index = await indexWhenLarge(session, database, tableName, { ...shape, rows: count })
  await session.query(`analyze ${table}`)
  await session.query(
    `update geoembeddings.embeddings_catalogue set rows = $2, bbox = $3, approximate_index = $4, index_kind = $5, index_recall = $6,
       zero_vectors = (select coalesce(sum(zero_vectors), 0) from geoembeddings.embedding_sources where table_name = $1)
     where table_name = $1`,
    [tableName, count, box, index !== null, index?.kind ?? null, index?.recall ?? null],
  )
  return { rows: count, bbox: box as unknown as AppendedTable['bbox'] }
}

/** Adds the source of a single-raster table from before sources were recorded, from the catalogue. */
async function knowTheFirst(session: Queryable, tableName: string): Promise<void> {
  await session.query(
    `insert into geoembeddings.embedding_sources (table_name, source, name, datetime, profile, crs, status, rows,
       zero_vectors, bbox, job_id)
     select table_name, 0, coalesce((select o.source from geoembeddings.embedding_origins o where o.table_name = c.table_name), table_name), (metadata->>'datetime')::timestamptz, scale->>'profile', source_crs,
       'done', rows, zero_vectors, bbox, job_id
     from geoembeddings.embeddings_catalogue c where table_name = $1
       and not exists (select from geoembeddings.embedding_sources s where s.table_name = c.table_name)`,
    [tableName],
  )
}

async function numberSources(session: Queryable, tableName: string, sources: ReadonlyMap<number, EmbeddingSource>) {
  const there = await findSources(session, tableName)
  const known = new Map(there.map((source) => [source.name, source]))
  const { rows } = await session.query<{ next: number }>(
    `select coalesce((metadata ->> 'next_source')::integer, 0) as next from geoembeddings.embeddings_catalogue where table_name = $1`,
    [tableName],
  )
  // Numbers of sources that were removed are not used again.
  let next = Math.max(rows[0]?.next ?? 0, ...there.map(({ source }) => source + 1))
  return (
    [...sources]
      .map(([shard, source]) => ({ ...source, shard, source: known.get(source.name)?.source ?? next++ }))
      // The former rows of a file stay when it cannot be read now.
      .filter(({ name, status }) => status === 'done' || known.get(name)?.status !== 'done')
  )
}

/** The catalogue's entry of a table to append to; null when it does not exist. */
export async function findAppendable(database: Queryable, tableName: string): Promise<Appendable | null> {
  const { rows } = await database.query<Appendable>(
    `select kind, model_name, model_sha256, dims, level, normalized, tile_size, stride, bands, scale, metadata, rows, bbox,
       source_crs
     from geoembeddings.embeddings_catalogue where table_name = $1`,
    [tableName],
  )
  return rows[0] ?? null
}

export interface Appendable {
  readonly kind: 'geo' | 'srai'
  readonly model_name: string
  readonly model_sha256: string | null
  readonly dims: number
  readonly level: string
  readonly normalized: boolean
  readonly tile_size: number | null
  readonly stride: number | null
  readonly bands: readonly number[] | null
  readonly scale: unknown
  readonly rows: number
  readonly bbox: readonly number[] | null
  readonly source_crs: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}
