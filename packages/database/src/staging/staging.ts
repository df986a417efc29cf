import { createHash } from 'node:crypto'
import { qualified, quoteIdentifier, type Database, type Queryable, type Session } from '../database.ts'
import { tableExists } from '../errors.ts'
import { holdRun, type JobRun } from './job-runs.ts'

/** Schema in which tables are built before they are swapped in. It is never served. */
export const STAGING_SCHEMA = 'terrane_staging'

/** Maximum wait for a staging table that is to be dropped, in milliseconds. */
const DROP_LOCK_MS = 2000
/** PostgreSQL's error code of a lock timeout. */
export const LOCK_NOT_AVAILABLE = '55P03'

/** A table that a job builds in the staging schema and that becomes `schema.table` when the job succeeds. */
export interface StagedTable {
  /** Name in the staging schema. */
  readonly staging: string
  readonly schema: string
  readonly table: string
  /** The table replaces an existing one, if there is one. */
  readonly replaces?: boolean
}

/** A staging table of a run, `j_{job id}_{run}_{index}`: the name identifies the run. */
export function stagedTable(run: JobRun, index: number, schema: string, table: string): StagedTable {
  return { staging: `${prefixOf(run.jobId, run.number)}${index}`, schema, table }
}

/** Staging table that the shards of a job fill, independent of the job's run. */
export function sharedStaging(jobId: string): string {
  return `c_${jobId.replaceAll('-', '')}`
}

/** True when a table, view, sequence or index of that name exists; optionally only a table, or only another kind. */
export async function relationExists(
  database: Queryable,
  schema: string,
  name: string,
  { isTable }: { readonly isTable?: boolean } = {},
): Promise<boolean> {
  const { rowCount } = await database.query(
    `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and coalesce((c.relkind in ('r', 'p')) = $3, true)`,
    [schema, name, isTable ?? null],
  )
  return (rowCount ?? 0) > 0
}

/**
 * Drops the staging tables of a job, of one run of it, or of all its runs but one; nothing happens when there are none.
 * The table shared with shards is dropped only with all runs. A table that another session has locked, e.g. a lost run
 * that still works, stays.
 */
export async function dropStaging(
  database: Database,
  jobId: string,
  { of, butOf }: { readonly of?: JobRun; readonly butOf?: JobRun } = {},
): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p') and (starts_with(c.relname, $2) or c.relname = $4)
       and ($3::text is null or not starts_with(c.relname, $3))`,
    [
      STAGING_SCHEMA,
      prefixOf(jobId, of?.number),
      butOf ? prefixOf(jobId, butOf.number) : null,
      of || butOf ? null : sharedStaging(jobId),
    ],
  )
  for (const row of rows) await dropUnlessHeld(database, qualified(STAGING_SCHEMA, row.name))
}

/** Makes the staging tables of a run, with their indexes and sequences, those of a later one. Returns their new names, as SQL. */
export async function renameStaging(
  session: Session,
  from: Pick<JobRun, 'jobId' | 'number'>,
  to: Pick<JobRun, 'number'>,
): Promise<string[]> {
  const [before, after] = [prefixOf(from.jobId, from.number), prefixOf(from.jobId, to.number)]
  const { rows } = await session.query<{ name: string; kind: keyof typeof KINDS }>(
    `select c.relname as name, c.relkind as kind from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind = any($2) and starts_with(c.relname, $3)`,
    [STAGING_SCHEMA, Object.keys(KINDS), before],
  )
  for (const { name, kind } of rows) {
    const renamed = quoteIdentifier(after + name.slice(before.length))
    await session.query(`alter ${KINDS[kind]} ${qualified(STAGING_SCHEMA, name)} rename to ${renamed}`)
  }
  return rows
    .filter(({ kind }) => KINDS[kind] === 'table')
    .map(({ name }) => qualified(STAGING_SCHEMA, after + name.slice(before.length)))
}

const KINDS = { r: 'table', p: 'table', i: 'index', S: 'sequence' } as const

async function dropUnlessHeld(database: Database, table: string): Promise<void> {
  try {
    await database.transaction(async (session) => {
      await session.query(`set local lock_timeout = '${DROP_LOCK_MS}ms'`)
      await session.query(`drop table if exists ${table}`)
    })
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
  }
}

/**
 * Moves staged tables to their place in one short transaction, and records the job as applied in it, so that a second
 * run finds the result instead of repeating the work. `register` runs as the last step before that record: its effects
 * outside the database are complete when it ends, and its additions to the result are recorded. Of two jobs with the
 * same target the second waits for the first. The staged table's indexes, constraints and sequences, named after it,
 * are renamed along.
 *
 * @throws RUN_SUPERSEDED when a later run of the job has begun, TABLE_EXISTS when a target exists meanwhile; nothing is
 * changed then
 */
export async function swapIn(
  database: Database,
  run: JobRun,
  tables: readonly StagedTable[],
  result: unknown,
  register?: (session: Session) => Promise<void>,
): Promise<void> {
  await database.transaction(async (session) => {
    await holdRun(session, run)
    if (database.capabilities.locks) await lockNames(session, tables)
    for (const staged of tables) await move(session, staged)
    // A PostgREST in front of this database learns of the new tables.
    if (tables.length > 0 && database.capabilities.notify) await session.query(`notify pgrst, 'reload schema'`)
    await register?.(session)
    await session.query('delete from terrane.job_checkpoints where job_id = $1', [run.jobId])
    await session.query('insert into terrane.applied_jobs (job_id, result) values ($1, $2)', [
      run.jobId,
      JSON.stringify(result),
    ])
  })
}

/** The result that {@link swapIn} recorded for a job, or null when the job has not been applied. */
export async function appliedResult(database: Queryable, jobId: string): Promise<unknown> {
  const { rows } = await database.query<{ result: unknown }>(
    'select result from terrane.applied_jobs where job_id = $1',
    [jobId],
  )
  return rows[0]?.result ?? null
}

/** Locks names until the end of the transaction, always in the same order, so that transactions do not deadlock. */
export async function lockNames(
  session: Session,
  tables: readonly Pick<StagedTable, 'schema' | 'table'>[],
): Promise<void> {
  await session.query(
    `select pg_advisory_xact_lock(key) from (
       select distinct hashtextextended(name, 0) as key from unnest($1::text[]) as name order by key) as keys`,
    [tables.map(({ schema, table }) => `terrane:${schema}.${table}`)],
  )
}

async function move(session: Session, staged: StagedTable): Promise<void> {
  const { staging, schema, table } = staged
  let rights: string[] = []
  if (await relationExists(session, schema, table)) {
    if (!staged.replaces) throw tableExists({ schema, table })
    rights = await rightsOf(session, qualified(schema, table))
    await session.query(`drop table ${qualified(schema, table)}`)
  }
  const source = qualified(STAGING_SCHEMA, staging)
  const { rows } = await session.query<{ name: string; kind: string }>(
    `select c.relname as name, c.relkind as kind from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('i', 'S') and starts_with(c.relname, $2 || '_')`,
    [STAGING_SCHEMA, staging],
  )
  const renames = rows.map(({ name, kind }) => {
    const renamed = fitName(table, name.slice(staging.length))
    return `alter ${kind === 'S' ? 'sequence' : 'index'} ${qualified(schema, name)} rename to ${quoteIdentifier(renamed)}`
  })
  const statements = [
    `alter table ${source} set schema ${quoteIdentifier(schema)}`,
    ...renames,
    `alter table ${qualified(schema, staging)} rename to ${quoteIdentifier(table)}`,
    ...rights,
  ]
  await session.query(statements.join(';\n'))
}

/** Statements that give the successor of a table the same readers: grants, row-level security and its policies. */
async function rightsOf(session: Session, table: string): Promise<string[]> {
  const { rows } = await session.query<{ statement: string }>(
    `select format('grant %s on %s to %s%s', a.privilege_type, $1::text, case when a.grantee = 0 then 'public' else quote_ident(r.rolname) end,
       case when a.is_grantable then ' with grant option' else '' end) as statement
     from pg_class c cross join aclexplode(c.relacl) a left join pg_roles r on r.oid = a.grantee
     where c.oid = $1::text::regclass and a.grantee <> c.relowner
     union all select format('alter table %s %s row level security', $1::text, word)
     from pg_class c cross join (values ('enable'), ('force')) as words (word)
     where c.oid = $1::text::regclass and case word when 'enable' then relrowsecurity else relforcerowsecurity end
     union all select format('create policy %I on %s as %s for %s to %s%s%s', p.policyname, $1::text, p.permissive, p.cmd,
       (select string_agg(case name when 'public' then 'public' else quote_ident(name) end, ', ') from unnest(p.roles) name),
       ' using (' || p.qual || ')', ' with check (' || p.with_check || ')')
     from pg_policies p where format('%I.%I', p.schemaname, p.tablename)::regclass = $1::text::regclass`,
    [table],
  )
  return rows.map(({ statement }) => statement)
}

/** A name of at most 63 bytes that ends in the suffix; where the table's name is cut, a hash of it keeps it unique. */
export function fitName(table: string, suffix: string): string {
  if (table.length + suffix.length <= 63) return table + suffix
  const hash = createHash('sha256').update(table).digest('hex').slice(0, 6)
  return `${table.slice(0, 63 - suffix.length - 7)}_${hash}${suffix}`
}

/** Prefix of the names of staging tables of a job, or of one run of it. */
function prefixOf(jobId: string, run?: number): string {
  return `j_${jobId.replaceAll('-', '')}_${run === undefined ? '' : `${run.toString(36)}_`}`
}
