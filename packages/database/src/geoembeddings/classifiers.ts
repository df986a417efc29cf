import { qualified, quoteIdentifier, quoteLiteral, type Database, type Queryable, type Session } from '../database.ts'
import { scan } from '../scan/scan.ts'
import type { PackedBytes, ScanColumn } from '../scan/columns.ts'
import { EMBEDDINGS_SCHEMA } from './embedding-table.ts'

/** Pages are smaller: each is one batch. */
const MAX_BATCH = 2 ** 27

/** What is needed of an embeddings table to classify its rows. */
export interface VectorTable {
  readonly tableName: string
  readonly dims: number
  readonly metric: 'cosine' | 'l2'
  readonly rows: number
  readonly owner: string | null
  readonly isPublic: boolean
  readonly attribution: string | null
  readonly licence: string | null
  /** The job that made the table as it is. */
  readonly jobId: string | null
  /** The members of the catalogue row by which tables are compared. */
  readonly identity: Readonly<Record<string, unknown>>
}

/** An embeddings table by its name; null when there is none. */
export async function findVectorTable(database: Queryable, tableName: string): Promise<VectorTable | null> {
  const { rows } = await database.query<VectorTable>(
    `select table_name as "tableName", dims, metric, rows, owner, is_public as "isPublic", attribution, model_licence as licence, job_id as "jobId",
       jsonb_build_object('table_name', table_name, 'model_name', model_name, 'model_sha256', model_sha256, 'dims', dims,
         'level', level, 'metric', metric, 'normalized', normalized, 'feature_names', feature_names, 'bands', bands,
         'scale', scale) as identity
     from geoembeddings.embeddings_catalogue where table_name = $1`,
    [tableName],
  )
  return rows[0] ?? null
}

/**
 * Refuses a table whose vectors are not what a classifier reads, by the rule that compares two tables.
 *
 * @throws the server's error 22023, which says what differs
 */
export async function checkSameVectors(
  database: Queryable,
  identity: Readonly<Record<string, unknown>>,
  tableName: string,
): Promise<void> {
  await database.query(
    `select geoembeddings.check_comparable(jsonb_populate_record(null::geoembeddings.embeddings_catalogue, $1::jsonb), c)
     from geoembeddings.embeddings_catalogue c where c.table_name = $2`,
    [JSON.stringify(identity), tableName],
  )
}

/** A classifier as it is kept. */
export interface ClassifierRecord {
  readonly name: string
  readonly owner: string | null
  readonly isPublic: boolean
  readonly head: 'knn' | 'logistic' | 'linear' | 'centroids'
  readonly classes: readonly string[]
  readonly tableName: string
  readonly identity: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, unknown>>
  readonly validation: unknown
  readonly examples: number
  readonly attribution: string | null
}

/** A version of a classifier, without its weights. */
export interface StoredClassifier extends ClassifierRecord {
  readonly version: number
  /** The job that made it: a number is given again where the last version was deleted. */
  readonly jobId: string | null
}

/** The owner of the versions of a name; undefined when there are none. */
export async function classifierOwner(database: Queryable, name: string): Promise<string | null | undefined> {
  const { rows } = await database.query<{ owner: string | null }>(
    'select owner from geoembeddings.classifiers where name = $1 order by version desc limit 1',
    [name],
  )
  return rows[0]?.owner
}

/**
 * Keeps a classifier as the next version of its name, in a transaction of the caller. Returns the version.
 *
 * @param weights little-endian float32
 */
export async function saveClassifier(
  session: Session,
  record: ClassifierRecord,
  { jobId, weights }: { readonly jobId: string; readonly weights: Uint8Array },
): Promise<number> {
  await session.query('lock table geoembeddings.classifiers in share row exclusive mode')
  const { rows } = await session.query<{ version: number }>(
    `insert into geoembeddings.classifiers (name, version, owner, is_public, head, classes, table_name, identity, settings,
       validation, examples, attribution, job_id)
     select $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
     from geoembeddings.classifiers where name = $1 returning version`,
    [
      record.name,
      record.owner,
      record.isPublic,
      record.head,
      record.classes,
      record.tableName,
      JSON.stringify(record.identity),
      JSON.stringify(record.settings),
      record.validation === null ? null : JSON.stringify(record.validation),
      record.examples,
      record.attribution,
      jobId,
    ],
  )
  const { version } = rows[0]!
  await session.query('insert into geoembeddings.classifier_weights (name, version, weights) values ($1, $2, $3)', [
    record.name,
    version,
    Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength),
  ])
  return version
}

/** A version of a classifier, the latest for null; null when there is none. */
export async function findClassifier(
  database: Queryable,
  name: string,
  version: number | null,
): Promise<StoredClassifier | null> {
  const { rows } = await database.query<StoredClassifier>(
    `select name, version, owner, is_public as "isPublic", head, classes, table_name as "tableName", identity, settings, validation,
       examples::float8 as examples, attribution, job_id as "jobId"
     from geoembeddings.classifiers where name = $1 and ($2::integer is null or version = $2) order by version desc limit 1`,
    [name, version],
  )
  return rows[0] ?? null
}

/** The weights of a version, as {@link saveClassifier} keeps them; null when it is gone. */
export async function classifierWeights(
  database: Queryable,
  { name, version, jobId }: Pick<StoredClassifier, 'name' | 'version' | 'jobId'>,
): Promise<Uint8Array | null> {
  const { rows } = await database.query<{ weights: Uint8Array }>(
    `select w.weights from geoembeddings.classifier_weights w join geoembeddings.classifiers c using (name, version)
     where name = $1 and version = $2 and c.job_id is not distinct from $3`,
    [name, version, jobId],
  )
  return rows[0]?.weights ?? null
}

/** How many rows of a table count. */
export async function countRows(database: Queryable, tableName: string, where: string): Promise<number> {
  const { rows } = await database.query<{ rows: number }>(
    `select count(*) as rows from ${qualified(EMBEDDINGS_SCHEMA, tableName)} t where true ${where}`,
  )
  return rows[0]!.rows
}

/** Whether anon reads all rows of a table, for all that can be told: a view may hide rows, and counts as one that is not. */
export async function isOpenTable(database: Queryable, schema: string, table: string): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean }>(
    `select c.relkind in ('r', 'p', 'm', 'f') and has_schema_privilege('anon', n.oid, 'usage') and has_table_privilege('anon', c.oid, 'select')
       and coalesce((select e.is_public from geoembeddings.embeddings_catalogue e where n.nspname = '${EMBEDDINGS_SCHEMA}' and e.table_name = c.relname),
         not c.relrowsecurity or (geoembeddings.shows_all(c.oid, 'anon')
           and not exists (select from pg_policy p where p.polrelid = c.oid and not p.polpermissive))) as open
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`,
    [schema, table],
  )
  return rows[0]?.open === true
}

/** Vectors of a table with their ids and whatever else was asked for. */
export interface VectorPage {
  readonly ids: readonly number[]
  /** One after the other. */
  readonly vectors: Float32Array
  /** EWKB of the places, as MultiPolygons; without bytes unless asked for. */
  readonly places: PackedBytes
}

export interface VectorPages {
  /** Conditions on a row `t` after `where true`, as {@link rowsOfSources} gives them. */
  readonly where: string
  readonly withPlaces: boolean
  /** Bytes of the vectors of a page. */
  readonly pageBytes: number
}

/**
 * The rows of an embeddings table in the order of their ids, by pages. Each page is a statement of its own: on the embedded
 * database other clients have their turn between two.
 */
export async function* vectorPages(
  database: Database,
  { tableName, dims }: Pick<VectorTable, 'tableName' | 'dims'>,
  { where, withPlaces, pageBytes }: VectorPages,
): AsyncGenerator<VectorPage> {
  const limit = Math.max(1, Math.floor(pageBytes / (4 * dims)))
  let last = '-1'
  for (;;) {
    const from = `(select * from ${qualified(EMBEDDINGS_SCHEMA, tableName)} t where t.id > ${last} ${where} order by t.id limit ${limit}) t`
    // A page is whole before it is handed out: what works on it may need the one session of an embedded database.
    const parts = await Array.fromAsync(readVectors(database, { from, dims, withPlaces }))
    for (const { ids } of parts) last = String(ids.at(-1))
    yield* parts
    if (parts.reduce((sum, { ids }) => sum + ids.length, 0) < limit) return
  }
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

/** The numbers of vectors in the form that the server sends: two short integers, then floats, big-endian. */
export function vectorNumbers({ bytes, ends }: PackedBytes, dims: number): Float32Array {
  const numbers = new Float32Array(ends.length * dims)
  const raw = new Uint8Array(numbers.buffer)
  const size = 4 * dims
  for (let i = 0; i < ends.length; i++) raw.set(bytes.subarray(i * (size + 4) + 4, (i + 1) * (size + 4)), i * size)
  Buffer.from(raw.buffer).swap32()
  return numbers
}

/** The condition that a row `t` is of the sources of a time or of these numbers, for `where true`. @throws the server's 22023 */
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
): Promise<string> {
  const { rows } = await database.query<{ condition: string }>(
    `select geoembeddings.rows_of_sources(geoembeddings.part_of(c, $2, $3, null, $4)) as condition
     from geoembeddings.embeddings_catalogue c where c.table_name = $1`,
    [tableName, since ?? null, until ?? null, sources ?? null],
  )
  return rows[0]?.condition ?? ''
}

/** The condition that a row `t` is of sources with these numbers, of none for an empty list. */
export async function conditionOfSources(database: Queryable, sources: readonly number[]): Promise<string> {
  const { rows } = await database.query<{ condition: string }>(
    'select geoembeddings.rows_of_sources($1::integer[]) as condition',
    [sources],
  )
  return rows[0]!.condition
}

/** When rows of each source were last written, by its number; none of tables without sources. */
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
