import type { Queryable, Session } from '../database.ts'
import { EMBEDDINGS_SCHEMA } from './embedding-table.ts'

/** The parts of an embeddings table that classification needs. */
export interface VectorTable {
  readonly tableName: string
  readonly dims: number
  readonly metric: 'cosine' | 'l2'
  readonly rows: number
  readonly owner: string | null
  readonly isPublic: boolean
  readonly attribution: string | null
  readonly licence: string | null
  /** The job that made the present table. */
  readonly jobId: string | null
  /** Fields of the catalogue row that must be equal for tables to be comparable. */
  readonly identity: Readonly<Record<string, unknown>>
}

/** An embeddings table by its name; null when it does not exist. */
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

/** Refuses a table whose vectors do not match a classifier. @throws the server's 22023, which names the difference */
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

/** A stored classifier. */
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
  /** The job that made it; a version number may be reused after the latest version was deleted. */
  readonly jobId: string | null
}

/** The owner of the versions of a name; undefined without versions. */
export async function classifierOwner(database: Queryable, name: string): Promise<string | null | undefined> {
  const { rows } = await database.query<{ owner: string | null }>(
    'select owner from geoembeddings.classifiers where name = $1 order by version desc limit 1',
    [name],
  )
  return rows[0]?.owner
}

/** Stores a classifier as the next version of its name and returns that. @param weights little-endian float32 */
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

/** A version of a classifier, the latest for null; null when it does not exist. */
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

/** The weights of a version, as {@link saveClassifier} stored them; null when the version was deleted. */
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

/** Whether anon can read all rows of a table. Views count as not open, because they may hide rows. */
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
