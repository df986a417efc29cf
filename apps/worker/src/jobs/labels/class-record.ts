import type { Database, Session } from '@terrane/database'
import { EMBEDDINGS_SCHEMA } from '@terrane/database/geoembeddings'
import { relationExists, tableExists } from '@terrane/database/staging'
import { SCHEMA } from '../import-names.ts'
import { notClassTable } from './errors.ts'

/** Provenance in the record of a table of classes. */
export interface ClassSource {
  readonly embeddings: string
  readonly classifier: string
  readonly version: number
  /** The jobs that made the classifier and the embeddings table; names and versions can be reused, job ids cannot. */
  readonly classifierJob: string | null
  readonly embeddingsJob: string | null
  /** Filter of the rows. */
  readonly chosen: Readonly<Record<string, unknown>>
  /** When rows of each source of the embeddings table were last written. */
  readonly sources: Readonly<Record<string, string>>
}

/** The comment of a table of classes. It names the job, because the record stays when a table is dropped in SQL. */
export function commentOf({ embeddings, classifier, version }: ClassSource, jobId: string): string {
  return `Classes of ${EMBEDDINGS_SCHEMA}.${embeddings} by ${classifier}, version ${version} (job ${jobId})`
}

/** The record of a table of classes; null for other tables, also if it belongs to a dropped table of the name. */
export async function readRecord(
  session: Pick<Session, 'query'>,
  tableName: string,
  tasks: readonly ('classifyEmbeddings' | 'clusterEmbeddings')[] = ['classifyEmbeddings'],
): Promise<{ readonly jobId: string; readonly source: ClassSource } | null> {
  const { rows } = await session.query<{ jobId: string; source: ClassSource }>(
    `select i.job_id as "jobId", i.source from terrane.imports i
     join pg_namespace n on n.nspname = i.table_schema join pg_class c on c.relnamespace = n.oid and c.relname = i.table_name
     where i.table_schema = $1 and i.table_name = $2 and i.task = any ($3) and c.relkind = 'r'
       and obj_description(c.oid, 'pg_class') like format('%% (job %s)', i.job_id)`,
    [SCHEMA, tableName, tasks],
  )
  return rows[0] ?? null
}

/** Checks that the locked table is still the one that the job made. @throws NOT_A_CLASS_TABLE */
export async function checkMarked(session: Session, table: string, jobId: string): Promise<void> {
  const record = await readRecord(session, table)
  if (record?.jobId !== jobId) throw notClassTable({ table, why: 'it was replaced in the meantime' })
}

/** The error of a failed merge if the table is gone, or has other columns or keys; undefined for other causes. */
export function notWhatItWas(table: string, cause: unknown): Error | undefined {
  const { code, message } = cause as { code?: unknown; message: string }
  if (code === '42P01') return notClassTable({ table, why: 'it is not there' }, { cause })
  const isChanged = ['42703', '42P10', '428C9', '42804'].includes(code as string)
  return isChanged ? notClassTable({ table, why: message }, { cause }) : undefined
}

/** @throws TABLE_EXISTS, NOT_A_CLASS_TABLE */
export async function checkOutput(
  database: Database,
  { tableName, mode = 'create' }: { readonly tableName: string; readonly mode?: 'create' | 'replace' | 'update' },
): Promise<void> {
  if (mode === 'update') {
    const isThere = await relationExists(database, SCHEMA, tableName, { isTable: true })
    if (isThere && (await readRecord(database, tableName)) !== null) return
    throw notClassTable({
      table: tableName,
      why: isThere ? 'its comment and its record do not say that classifyEmbeddings made it' : 'it is not there',
    })
  }
  const only = mode === 'create' ? {} : { isTable: false }
  if (await relationExists(database, SCHEMA, tableName, only))
    throw tableExists({ schema: SCHEMA, table: tableName, field: 'tableName' })
}
