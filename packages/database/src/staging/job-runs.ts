import type { Queryable, Session } from '../database.ts'
import { runSuperseded } from '../errors.ts'

/** One run of a job. Only the latest run may publish the job's effect. */
export interface JobRun {
  readonly jobId: string
  /** Larger than that of every earlier run of the job. */
  readonly number: number
  /** Numbers of earlier runs of the job, which may have left staging tables behind. */
  readonly earlier: readonly number[]
}

/** Run number of a closed job, larger than any run's. */
export const CLOSED = '9223372036854775806'
/** Time for which the number of a job's last run is stored, longer than any run can sleep. */
const REMEMBERED = `interval '30 days'`

/**
 * Makes a run the only one that may publish the job's effect. It waits for a running swap of an earlier run.
 *
 * @param number of the run; the next one when absent
 * @throws RUN_SUPERSEDED when a later run has begun, or the job was closed
 */
export async function beginRun(database: Queryable, jobId: string, number?: number): Promise<JobRun> {
  await database.query(`delete from terrane.job_runs where begun_at < now() - ${REMEMBERED}`)
  const { rows } = await database.query<{ number: number; earlier: number[] }>(
    `insert into terrane.job_runs as r (job_id, number) values ($1, coalesce($2, 1))
     on conflict (job_id) do update
       set number = coalesce($2, r.number + 1), earlier = r.earlier || r.number, begun_at = clock_timestamp()
       where r.number < coalesce($2, r.number + 1) and r.number < ${CLOSED}
     returning number, (select coalesce(array_agg(n::float8), '{}') from unnest(earlier) n) as earlier`,
    [jobId, number ?? null],
  )
  const begun = rows[0]
  if (!begun) throw runSuperseded()
  return { jobId, ...begun }
}

/** Closes a job that was given up, so that none of its runs can publish any more. */
export async function closeRuns(database: Queryable, jobId: string): Promise<void> {
  await database.query(
    `insert into terrane.job_runs as r (job_id, number) values ($1, ${CLOSED})
     on conflict (job_id) do update set number = excluded.number, begun_at = clock_timestamp()`,
    [jobId],
  )
}

/** Locks the latest run until the transaction ends, so that no later one begins. @throws RUN_SUPERSEDED */
export async function holdRun(session: Session, { jobId, number }: JobRun): Promise<void> {
  const { rowCount } = await session.query(
    'select 1 from terrane.job_runs where job_id = $1 and number = $2 for update',
    [jobId, number],
  )
  if (rowCount !== 1) throw runSuperseded()
}
