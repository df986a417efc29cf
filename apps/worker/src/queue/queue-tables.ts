import type { Queryable } from '@terrane/database'

/** Schema of pg-boss's own tables. */
export const QUEUE_SCHEMA = 'pgboss'

/** Version of pg-boss's tables that this file is written for; it alone names them, where the API has no function. */
export const QUEUE_SCHEMA_VERSION = 40

/** A job in the queue of its task. */
export interface QueuedJob {
  readonly task: string
  readonly id: string
}

/** One run's hold on a job. */
export interface Claim extends QueuedJob {
  readonly attempt: number
  /** Larger than the number of any earlier run. Two runs of a handed-over job have the same attempt. */
  readonly run: number
}

/** A job that pg-boss has requeued or failed, but whose record has not ended. */
export interface UnsettledJob {
  readonly id: string
  /** State in the queue; null when it is not there. */
  readonly state: string | null
  readonly attempts: number
}

/** Writes worker and number of a new run into an active job; returns the number. */
export async function markRun(session: Queryable, { task, id }: QueuedJob, workerId: string): Promise<number> {
  const { rows } = await session.query<{ run: number }>(
    `update ${QUEUE_SCHEMA}.job
     set data = jsonb_build_object('worker', $3::text, 'run', nextval('terrane.run_numbers'))
     where name = $1 and id = $2 returning (data->>'run')::bigint as run`,
    [task, id, workerId],
  )
  return rows[0]!.run
}

/** Renews the heartbeats of runs that still hold their jobs; returns the numbers of these runs. */
export async function renewHeartbeats(database: Queryable, claims: readonly Claim[]): Promise<Set<number>> {
  const { rows } = await database.query<{ run: number }>(
    `update ${QUEUE_SCHEMA}.job set heartbeat_on = now()
     where state = 'active' and name = any($1) and id = any($2::uuid[]) and data->>'run' = any($3)
     returning (data->>'run')::bigint as run`,
    [[...new Set(claims.map(({ task }) => task))], claims.map(({ id }) => id), claims.map(({ run }) => String(run))],
  )
  return new Set(rows.map(({ run }) => run))
}

/** Locks a job until the transaction ends; false when the run no longer holds it. */
export async function lockRun(session: Queryable, { task, id, attempt, run }: Claim): Promise<boolean> {
  const { rowCount } = await session.query(
    `select 1 from ${QUEUE_SCHEMA}.job
     where name = $1 and id = $2 and state = 'active' and retry_count = $3 and data->>'run' = $4 for update`,
    [task, id, attempt - 1, String(run)],
  )
  return rowCount === 1
}

/** Requeues an active job after an interval; its start is cleared, or pg-boss would count another attempt. */
export async function putBack(session: Queryable, { task, id }: QueuedJob, after: string): Promise<void> {
  await session.query(
    `update ${QUEUE_SCHEMA}.job set state = 'created', started_on = null, heartbeat_on = null, data = '{}',
       start_after = now() + $3::interval
     where name = $1 and id = $2`,
    [task, id, after],
  )
}

/** Makes a postponed job due now; false when it was not waiting. */
export async function makeDue(session: Queryable, { task, id }: QueuedJob): Promise<boolean> {
  const { rowCount } = await session.query(
    `update ${QUEUE_SCHEMA}.job set start_after = now()
     where name = $1 and id = $2 and state = 'created' and start_after > now()`,
    [task, id],
  )
  return rowCount !== 0
}

/** The tasks of these that have a job to start now, by the condition of pg-boss; each reads one entry of its index. */
export async function listDueTasks(database: Queryable, tasks: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ task: string }>(
    `select task from unnest($1::text[]) task cross join lateral (
       select from ${QUEUE_SCHEMA}.job where name = task and state < 'active' and not blocked and start_after <= now() limit 1)`,
    [tasks],
  )
  return rows.map(({ task }) => task)
}

/** Jobs that a worker of this name holds. */
export async function listHeldJobs(database: Queryable, workerId: string): Promise<QueuedJob[]> {
  const { rows } = await database.query<QueuedJob>(
    `select id, name as task from ${QUEUE_SCHEMA}.job where state = 'active' and data->>'worker' = $1`,
    [workerId],
  )
  return rows
}

/** Jobs that pg-boss has requeued or failed, but whose record has not ended and is at least 5 seconds old. */
export async function listUnsettledJobs(database: Queryable): Promise<UnsettledJob[]> {
  const { rows } = await database.query<UnsettledJob>(
    `select j.id, b.state::text as state, coalesce(b.retry_count, 0) + 1 as attempts
     from terrane.jobs j left join ${QUEUE_SCHEMA}.job b on b.name = j.task and b.id = j.id
     where j.status in ('pending', 'running') and j.updated_at < clock_timestamp() - interval '5 seconds'
       and (b.state is null or b.state in ('failed', 'cancelled') or (b.state = 'retry' and j.status = 'running'))`,
  )
  return rows
}
