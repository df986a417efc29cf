import { type Database, type Queryable, type Session } from '../database.ts'
import { runSuperseded } from '../errors.ts'
import { holdRun, type JobRun } from './job-runs.ts'
import { LOCK_NOT_AVAILABLE, dropStaging, renameStaging } from './staging.ts'

/** Maximum wait for tables that an earlier run still writes into, in milliseconds. */
const LOCK_MS = 2000
/** Number of transactions after which their ids wrap around. */
const XIDS = 2 ** 32

/**
 * Stores the state from which a later run of the job continues with the present staging tables. Rows committed before
 * are included, also after a crash of the server. For tables that still grow, rows committed later are removed by that
 * run; no load may be in progress during the call.
 *
 * @throws RUN_SUPERSEDED when a later run has begun
 */
export async function keepCheckpoint(
  database: Queryable,
  run: JobRun,
  state: unknown,
  { rowsFollow = false }: { readonly rowsFollow?: boolean } = {},
): Promise<void> {
  const { rowCount } = await database.query(
    `insert into terrane.job_checkpoints as c (job_id, run, state, rows_before)
     select job_id, number, $3, case when $4 then pg_current_xact_id() end
     from terrane.job_runs where job_id = $1 and number = $2 for share
     on conflict (job_id) do update set run = excluded.run, state = excluded.state, rows_before = excluded.rows_before,
       kept_at = clock_timestamp()`,
    [run.jobId, run.number, JSON.stringify(state), rowsFollow],
  )
  if (rowCount !== 1) throw runSuperseded()
}

/**
 * Takes over the staging tables of the last checkpoint, in their state at that time, and returns the stored state.
 * Other staging tables of earlier runs are dropped. Without a checkpoint, or when its tables are missing or locked, all
 * are dropped and the result is null.
 *
 * @throws RUN_SUPERSEDED when a later run has begun
 */
export async function takeOver(database: Database, run: JobRun): Promise<unknown> {
  const kept = await adopt(database, run).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    return null
  })
  await dropStaging(database, run.jobId, { butOf: run })
  return kept
}

/** Deletes the checkpoint of a job. */
export async function dropCheckpoint(database: Queryable, jobId: string): Promise<void> {
  await database.query('delete from terrane.job_checkpoints where job_id = $1', [jobId])
}

async function adopt(database: Database, run: JobRun): Promise<unknown> {
  return database.transaction(async (session) => {
    await holdRun(session, run)
    const { rows } = await session.query<{ run: number; state: unknown; rows_before: string | null }>(
      'select run, state, rows_before::text from terrane.job_checkpoints where job_id = $1 for update',
      [run.jobId],
    )
    const found = rows[0]
    if (!found) return null
    await session.query(`set local lock_timeout = '${LOCK_MS}ms'`)
    const tables = await renameStaging(session, { jobId: run.jobId, number: found.run }, run)
    if (tables.length === 0) return null
    if (found.rows_before !== null) for (const table of tables) await takeOut(session, table, found.rows_before)
    await session.query('update terrane.job_checkpoints set run = $2 where job_id = $1', [run.jobId, run.number])
    return found.state
  })
}

/** Deletes the rows of a transaction and later ones; `xmin` has the last 32 bits of a transaction's number. */
async function takeOut(session: Session, table: string, from: string): Promise<void> {
  await session.query(
    `delete from ${table} where (xmin::text::bigint - $1::numeric % ${XIDS} + ${XIDS}) % ${XIDS} < ${XIDS / 2}`,
    [from],
  )
}
