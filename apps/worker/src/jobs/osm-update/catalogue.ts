import { createHash } from 'node:crypto'
import type { OsmImportArea } from '@terrane/contracts'
import type { Bbox } from '@terrane/core'
import { qualified, type Queryable, type Session } from '@terrane/database'
import { AREA_RULES, TOPICS, TOPIC_TABLES, type Topics } from '@terrane/osm'
import type { Replication } from '../osm/load-extract.ts'
import { isNamed } from '../osm/losses.ts'
import { importNotFound, importOutdated, updateOvertaken } from './errors.ts'
import { PAGES_SCHEMA } from './pages-table.ts'

/** Rows of one table that the job has changed so far. */
export interface TableChanges {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
}

/** Checkpoint of a job, written with the rows. */
export interface UpdateProgress {
  /** Version of the import after its last file. */
  readonly version: number
  readonly files: number
  readonly tables: Readonly<Record<string, TableChanges>>
}

/** An import that can be updated. */
export interface OsmImport {
  readonly prefix: string
  readonly jobId: string
  readonly pagesTable: string
  /** The area of the import's request. */
  readonly area: OsmImportArea['aoiGeoJson']
  readonly topics: Topics
  readonly clip: boolean
  readonly extent: readonly Bbox[] | null
  readonly replicationUrl: string | null
  readonly sequence: number | null
  /** Time of the data. */
  readonly timestamp: Date | null
  readonly version: number
}

/** State of the data after a change file. */
export type DataMark = Pick<OsmImport, 'replicationUrl' | 'sequence' | 'timestamp'>

/** Deletes the record of an import whose tables were replaced or dropped, with its pages. */
export async function forgetOsmImport(session: Session, prefix: string): Promise<void> {
  const { rows } = await session.query<{ pages: string }>(
    'delete from terrane.osm_imports where table_prefix = $1 returning pages_table as pages',
    [prefix],
  )
  for (const { pages } of rows) await session.query(`drop table if exists ${qualified(PAGES_SCHEMA, pages)}`)
}

/** Records an import that can be updated. */
export async function registerOsmImport(
  session: Session,
  { prefix, jobId, pagesTable }: Pick<OsmImport, 'prefix' | 'jobId' | 'pagesTable'>,
  {
    aoiGeoJson,
    topics = TOPICS,
    clip = false,
  }: Pick<OsmImportArea, 'aoiGeoJson' | 'clip'> & { readonly topics?: Topics },
  { extent, replicationUrl, sequence, timestamp }: Replication,
): Promise<void> {
  await session.query(
    `insert into terrane.osm_imports (table_prefix, job_id, pages_table, area, topics, style, clip, rules, extent, replication_url, sequence, data_timestamp)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      prefix,
      jobId,
      pagesTable,
      JSON.stringify(aoiGeoJson),
      isNamed(topics) ? topics : [],
      isNamed(topics) ? null : JSON.stringify(topics),
      clip,
      rulesOf(topics),
      extent?.flat() ?? null,
      replicationUrl,
      sequence,
      timestamp,
    ],
  )
}

type FoundImport = Omit<OsmImport, 'extent'> & { readonly extent: number[] | null; readonly rules: string }

/** @throws OSM_IMPORT_NOT_FOUND, OSM_IMPORT_OUTDATED */
export async function findOsmImport(database: Queryable, prefix: string): Promise<OsmImport> {
  const { rows } = await database.query<FoundImport>(
    `select table_prefix as prefix, job_id as "jobId", pages_table as "pagesTable", area,
       coalesce(style, to_json(topics)) as topics, clip, rules, extent,
       replication_url as "replicationUrl", sequence, data_timestamp as timestamp, version
     from terrane.osm_imports where table_prefix = $1`,
    [prefix],
  )
  const [found] = rows
  if (!found) throw importNotFound({ prefix })
  if (!isOfRules(found)) throw importOutdated({ prefix })
  const { extent } = found
  const boxes = extent && Array.from({ length: extent.length / 4 }, (_, i) => extent.slice(4 * i, 4 * i + 4) as never)
  return { ...found, extent: boxes }
}

/** Records an applied change file and the job's progress in its transaction. @throws OSM_UPDATE_OVERTAKEN */
export async function advance(
  session: Session,
  { prefix, jobId, version }: OsmImport,
  { replicationUrl, sequence, timestamp }: DataMark,
  { jobId: by, files, tables }: UpdateProgress & { readonly jobId: string },
): Promise<void> {
  const { rowCount } = await session.query(
    `update terrane.osm_imports set version = version + 1, replication_url = $4, sequence = $5, data_timestamp = $6,
       updated_at = now()
     where table_prefix = $1 and job_id = $2 and version = $3`,
    [prefix, jobId, version, replicationUrl, sequence, timestamp],
  )
  if (rowCount !== 1) throw updateOvertaken({ prefix })
  await session.query(
    `insert into terrane.osm_updates (job_id, table_prefix, version, files, tables) values ($1, $2, $3, $4, $5)
     on conflict (job_id) do update set version = $3, files = $4, tables = $5, updated_at = now()`,
    [by, prefix, version + 1, files, JSON.stringify(tables)],
  )
}

/** Checkpoint of an earlier run of a job; null where there is none. */
export async function progressOf(database: Queryable, jobId: string): Promise<UpdateProgress | null> {
  const { rows } = await database.query<UpdateProgress>(
    'select version, files, tables from terrane.osm_updates where job_id = $1',
    [jobId],
  )
  return rows[0] ?? null
}

/** Tables of an earlier import of this prefix that are not replaced, and so can no longer be updated. */
export async function tablesLeftBehind(
  database: Queryable,
  prefix: string,
  replaced: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `select i.table_name as name from terrane.osm_imports o join terrane.imports i using (job_id)
     where o.table_prefix = $1 and i.table_name <> all ($2::text[]) order by 1`,
    [prefix, replaced],
  )
  return rows.map(({ name }) => name)
}

/** Hash of the topics from before styles: imports of that time can be updated while the current topics have it. */
const TOPICS_OF_THEN = '2:a69c2d49a44988958cacf28cd48eca248842cd31b2887acad8bf8b871cb5c37d'
const HASH_OF_THEN = /^[0-9a-f]{64}$/

function isOfRules({ rules, topics }: Pick<FoundImport, 'rules' | 'topics'>): boolean {
  if (rules === rulesOf(topics)) return true
  return HASH_OF_THEN.test(rules) && isNamed(topics) && rulesOf([...TOPICS, 'all']) === TOPICS_OF_THEN
}

/** Identifies the rules that make rows: the version of the code, and a hash of topics and area rules. */
function rulesOf(topics: OsmImport['topics']): string {
  const rules = isNamed(topics) ? TOPIC_TABLES.filter(({ topic }) => topics.includes(topic)) : topics
  return `2:${createHash('sha256')
    .update(JSON.stringify([rules, AREA_RULES]))
    .digest('hex')}`
}
