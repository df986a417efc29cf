import type { JobError } from '@terrane/contracts'
import { uuidv7 } from '@terrane/core'
import type { Capabilities, Database, Queryable } from '@terrane/database'
import type { PgBoss } from 'pg-boss'
import type { Sealer } from '@terrane/service'
import { cancelled, toJobError } from '../errors.ts'
import type { JobContext, Shard, Task } from '../jobs/task.ts'
import { redactInput } from '../projects/redact.ts'
import { WORK_CHANNEL, inTransaction } from './boss.ts'
import { MAX_ATTEMPTS } from './job-life.ts'
import { writeLines } from './job-log.ts'
import { scopeKey, scopeOf, type JobRow, type NewJob } from './job-row.ts'
import { makeDue } from './queue-tables.ts'
import { takeTurn } from './fair-queue.ts'

/**
 * Dependencies for shards. Shards are jobs of the same task that have a parent: they take their turns in its queue,
 * count within the limits of its project, and are retried and handed over like any job. Their rows in `terrane.jobs`
 * are the plan. The parent waits without a worker; the end of the last shard makes it due. Locks are taken in one
 * order: shard, then parent.
 */
export interface ShardOptions {
  readonly boss: PgBoss
  readonly database: Database
  /** Inserts the row of a job. */
  readonly store: { insert(session: Queryable, job: NewJob): Promise<JobRow> }
  readonly sealer: Sealer
  /** Called when shards were queued, to fetch them at once. */
  readonly onEnqueued: (task: string) => void
}

/** Result of a run that continues in another run when its shards have ended. */
export const WAITS = Symbol('waits for shards')

/** Runs a task or a shard of it; for a job with shards, the step before or after them. */
export async function runTask(
  options: ShardOptions,
  task: Task,
  row: JobRow,
  input: Record<string, unknown>,
  context: JobContext,
): Promise<unknown> {
  const { sharding } = task
  if (row.parent_id !== null) return sharding?.run(input, context, row.parent_id)
  if (!sharding?.divides(input)) return task.run(input, context)
  let shards = await listShards(options.database, row.id)
  if (shards.length === 0) {
    const inputs = await sharding.plan(input, context)
    context.signal.throwIfAborted()
    await planShards(options, row, inputs)
    options.onEnqueued(task.name)
    shards = await listShards(options.database, row.id)
  }
  if (shards.some(({ status }) => status === 'pending' || status === 'running')) return WAITS
  return sharding.publish(input, shards, context)
}

async function listShards(database: Queryable, parent: string): Promise<Shard[]> {
  const { rows } = await database.query<Shard>(
    'select id, status, input, result, error from terrane.jobs where parent_id = $1 order by id',
    [parent],
  )
  return rows
}

/** Queues one shard for each input, all of them or none. */
async function planShards(
  { boss, database, store, sealer }: ShardOptions,
  parent: JobRow,
  inputs: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const { task } = parent
  const scope = scopeOf(parent)
  await database.transaction(async (session) => {
    const { rowCount } = await session.query(
      `select 1 from terrane.jobs where id = $1 and status = 'running' and not exists (
         select from terrane.jobs where parent_id = $1) for no key update`,
      [parent.id],
    )
    // An earlier run has planned, or the job has ended.
    if (rowCount !== 1) return
    // Shards are listed by id in the order of the plan; ids of one millisecond are not ordered, so they are sorted.
    const ids = inputs.map(() => uuidv7()).toSorted()
    for (const [i, input] of inputs.entries()) {
      const id = ids[i]!
      await store.insert(session, {
        id,
        task,
        scope,
        input: redactInput(input),
        sealedInput: sealer.seal(input, id),
        maxAttempts: MAX_ATTEMPTS,
        requestId: parent.request_id,
        traceparent: parent.traceparent,
        retryOf: null,
        schedule: null,
        parentId: parent.id,
      })
    }
    if (ids.length > 0) {
      const first = await takeTurn(session, scope, task, ids.length)
      const group = { id: scopeKey(scope) }
      const jobs = ids.map((id, i) => ({ id, data: {}, priority: -(first + i), group }))
      await boss.insert(task, jobs, inTransaction(session))
    }
    if (database.capabilities.notify) await session.query('select pg_notify($1, $2)', [WORK_CHANNEL, task])
  })
}

/** Whether shards of a job have not ended yet. */
export async function hasOpenShards(session: Queryable, parent: string): Promise<boolean> {
  const { rowCount } = await session.query(
    `select 1 from terrane.jobs where parent_id = $1 and status in ('pending', 'running') limit 1`,
    [parent],
  )
  return rowCount !== 0
}

/** Updates the progress of a job by its ended shards, and makes it due when none is left. */
export async function shardEnded(
  session: Queryable,
  { notify }: Capabilities,
  { parent, shard }: { readonly parent: string; readonly shard: string },
): Promise<void> {
  // Completions are serialised, so exactly one sees that all are done; foreign keys hold only a weaker lock.
  const { rows: parents } = await session.query<{ task: string; status: string }>(
    'select task, status from terrane.jobs where id = $1 for no key update',
    [parent],
  )
  const found = parents[0]
  if (found?.status !== 'running') return
  const { rows } = await session.query<{ total: number; done: number; failed: number }>(
    `select count(*) as total, count(*) filter (where status in ('success', 'failed')) as done,
       count(*) filter (where status = 'failed') as failed
     from terrane.jobs where parent_id = $1`,
    [parent],
  )
  const { total, done, failed } = rows[0]!
  await session.query(
    `update terrane.jobs set updated_at = clock_timestamp(), revision = revision + 1,
       progress = coalesce(progress, '{"phase": "parts", "unit": "parts", "eta_seconds": null}')
         || jsonb_build_object('done', $2::int, 'total', $3::int, 'percent', round(100.0 * $2 / $3, 1), 'message', $4::text)
     where id = $1`,
    [parent, done, total, `${done} of ${total} are done${failed > 0 ? `, ${failed} of them failed` : ''}`],
  )
  await tellOfFailure(session, parent, shard)
  if (done < total) return
  const isDue = await makeDue(session, { task: found.task, id: parent })
  if (isDue && notify) await session.query('select pg_notify($1, $2)', [WORK_CHANNEL, found.task])
}

/** Ends the waiting shards of a job that ends, and requests the cancellation of running ones. */
export async function stopShards(session: Queryable, parent: string, error: JobError): Promise<void> {
  await session.query(
    `update terrane.jobs set cancel_requested = true, updated_at = clock_timestamp(), revision = revision + 1,
       status = case when status = 'pending' then 'failed' else status end,
       error = case when status = 'pending' then $2::jsonb else error end,
       finished_at = case when status = 'pending' then clock_timestamp() else finished_at end
     where id in (select id from terrane.jobs where parent_id = $1 and status in ('pending', 'running') order by id for no key update)`,
    [parent, JSON.stringify(error.code === 'cancelled' ? error : toJobError(cancelled()))],
  )
}

async function tellOfFailure(session: Queryable, parent: string, shard: string): Promise<void> {
  const { rows } = await session.query<{ name: string | null; error: JobError | null }>(
    `select input->'shard'->>'name' as name, error from terrane.jobs where id = $1 and status = 'failed'`,
    [shard],
  )
  const failed = rows[0]
  if (!failed?.error) return
  const { code, message } = failed.error
  await writeLines(session, parent, [
    { event: 'step', level: 'warning', phase: 'parts', code, message: `${failed.name ?? shard}: ${message}` },
  ])
}
