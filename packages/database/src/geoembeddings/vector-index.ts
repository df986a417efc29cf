import { quoteIdentifier, quoteLiteral, type Queryable, type Session } from '../database.ts'

/** Maximum dimensions of an HNSW index over halfvec (pgvector 0.8); an index over bits accepts them as well. */
const MAX_INDEXED_DIMS = 4000
/** Up to this many rows an exact scan is fast enough (measured). */
const EXACT_SEARCH_ROWS = 50_000
/** Dimensions from which the signs of a vector suffice to find its neighbours among some hundred candidates. */
const MIN_BIT_DIMS = 256
/** A bit index with a lower recall is replaced by one over halfvec. */
const MIN_BIT_RECALL = 0.98
/** Bytes of a row in the graph beside its vector (m 16; measured). */
const GRAPH_BYTES = 830
/** Number of rows that the mean direction is computed from. */
const CENTER_ROWS = 20_000
/** Rows that are searched for to measure recall, and number of neighbours of each. */
const RECALL_QUERIES = 20
const RECALL_NEIGHBOURS = 10
/** Minimum parallel workers of a build; a higher setting of the server is kept. */
const BUILD_WORKERS = 2

/** Kind of an approximate index, and its recall, 0 to 1. */
export interface VectorIndex {
  readonly kind: 'halfvec' | 'bit'
  /** Null when it was not measured. */
  readonly recall: number | null
}

/** A table to index: `name` is quoted, with its schema. */
export interface IndexedTable {
  readonly name: string
  /** The name of the index. */
  readonly index: string
  readonly rows: number
  readonly dims: number
  readonly metric: 'cosine' | 'l2'
}

/** Whether a table gets an HNSW index; others are searched exactly. */
export function needsVectorIndex(rows: number, dims: number): boolean {
  return rows > EXACT_SEARCH_ROWS && dims <= MAX_INDEXED_DIMS
}

/**
 * Builds the HNSW index of a table with a primary key: over one bit per dimension for directions of many dimensions, if
 * the bits find the nearest vectors, else over halfvec. Raises memory and parallel workers for the rest of the
 * transaction, and stores the description in the comment of the index.
 */
export async function buildVectorIndex(
  session: Session,
  table: IndexedTable,
  engine: 'postgres' | 'pglite',
): Promise<VectorIndex> {
  if (table.metric === 'cosine' && table.dims >= MIN_BIT_DIMS) {
    const index = await build(session, table, 'bit', engine)
    if (index.recall === null || index.recall >= MIN_BIT_RECALL) return index
    await session.query(`drop index ${await found(session, table)}`)
  }
  return await build(session, table, 'halfvec', engine)
}

/** The comment of a table's index; null without an index. */
export async function readVectorIndex(database: Queryable, name: string): Promise<VectorIndex | null> {
  const { rows } = await database.query<{ about: VectorIndex | null }>(
    `select obj_description(i.indexrelid, 'pg_class')::jsonb - 'center' as about
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
     where i.indrelid = $1::regclass and a.amname = 'hnsw'`,
    [name],
  )
  return rows[0] === undefined ? null : (rows[0].about ?? { kind: 'halfvec', recall: null })
}

async function build(
  session: Session,
  table: IndexedTable,
  kind: VectorIndex['kind'],
  engine: 'postgres' | 'pglite',
): Promise<VectorIndex> {
  const { name, index, rows, dims, metric } = table
  const center = kind === 'bit' ? await meanDirection(session, table) : null
  const { rows: made } = await session.query<{ expression: string }>(
    `select geoembeddings.indexed_expression($1, $2, $3, 'embedding') as expression`,
    [kind, center, dims],
  )
  const operators = kind === 'bit' ? 'bit_hamming_ops' : metric === 'l2' ? 'halfvec_l2_ops' : 'halfvec_cosine_ops'
  const statement = `create index ${quoteIdentifier(index)} on ${name} using hnsw ((${made[0]!.expression}) ${operators})`
  if (engine === 'pglite') {
    await session.query(statement)
  } else {
    await allowMemory(session, rows * ((kind === 'bit' ? dims / 8 : 2 * dims) + GRAPH_BYTES))
    await createWithHelpers(session, statement)
  }
  const described = { kind, ...(center !== null && { center }), recall: null }
  // Searches choose their candidates by the comment, so it is written first.
  await describe(session, table, described)
  const recall = await measureRecall(session, table)
  await describe(session, table, { ...described, recall })
  return { kind, recall }
}

async function describe(session: Session, table: IndexedTable, about: object): Promise<void> {
  await session.query(`comment on index ${await found(session, table)} is ${quoteLiteral(JSON.stringify(about))}`)
}

/** The quoted name of a table's HNSW index with its schema. */
async function found(session: Session, { name }: IndexedTable): Promise<string> {
  const { rows } = await session.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
     join pg_namespace n on n.oid = c.relnamespace
     where i.indrelid = $1::regclass and a.amname = 'hnsw'`,
    [name],
  )
  return rows[0]!.name
}

/** The mean of the directions of some rows, as text. */
async function meanDirection(session: Session, { name, rows }: IndexedTable): Promise<string> {
  const percent = Math.min(100, (100 * CENTER_ROWS) / Math.max(1, rows))
  const { rows: means } = await session.query<{ center: string }>(
    `select coalesce(
       (select avg(l2_normalize(embedding::vector)) from ${name} tablesample system (${percent}) repeatable (1)),
       (select avg(l2_normalize(embedding::vector)) from ${name}))::text as center`,
  )
  return means[0]!.center
}

/** Recall of the index: the share of true nearest rows of some rows that a search by index finds. */
async function measureRecall(session: Session, { name, dims, metric }: IndexedTable): Promise<number | null> {
  const operator = metric === 'l2' ? '<->' : '<=>'
  let wanted = 0
  let hits = 0
  for (let i = 0; i < RECALL_QUERIES; i++) {
    const { rows } = await session.query<{ wanted: number; hits: number }>(
      `with query as materialized (
         select t.id, t.embedding::vector as embedding from ${name} t
         where t.id >= (select min(id) + ((max(id) - min(id)) * ($1::float8 / ${RECALL_QUERIES}))::bigint from ${name})
           and vector_norm(t.embedding::vector) > 0
         order by t.id limit 1
       ), near as materialized (
         select t.id from ${name} t where t.id <> (select id from query)
         order by t.embedding::vector ${operator} (select embedding from query) limit ${RECALL_NEIGHBOURS}
       )
       select count(*)::integer as wanted, count(*) filter (where c.ids is null or near.id = any(c.ids))::integer as hits
       from near cross join (
         select geoembeddings.candidates($2::regclass, $3, $4, query.embedding, null, null, ${RECALL_NEIGHBOURS}) as ids
         from query offset 0
       ) c`,
      [i + 0.5, name, dims, metric],
    )
    wanted += rows[0]!.wanted
    hits += rows[0]!.hits
  }
  return wanted === 0 ? null : hits / wanted
}

/** Builds an index with parallel workers, or without them where shared memory is short, as in containers. */
async function createWithHelpers(session: Session, statement: string): Promise<void> {
  await session.query(
    `select set_config('max_parallel_maintenance_workers',
       greatest(current_setting('max_parallel_maintenance_workers')::integer, ${BUILD_WORKERS})::text, true)`,
  )
  await session.query('savepoint vector_index')
  try {
    await session.query(statement)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '53100')) throw error
    await session.query('rollback to savepoint vector_index')
    await session.query(`select set_config('max_parallel_maintenance_workers', '0', true)`)
    await session.query(statement)
  }
  await session.query('release savepoint vector_index')
}

/** Raises memory to the graph's size, up to a quarter of the cache: a build beyond it takes four times as long. */
async function allowMemory(session: Session, bytes: number): Promise<void> {
  await session.query(
    `select set_config('maintenance_work_mem', greatest(
       pg_size_bytes(current_setting('maintenance_work_mem')),
       least($1::bigint, pg_size_bytes(current_setting('effective_cache_size')) / 4)) / 1024 || 'kB', true)`,
    [Math.ceil(bytes)],
  )
}
