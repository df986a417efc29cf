import { IDEMPOTENCY_HOURS, type JobError, type JobProgress, type JobStatus, type JobWarning } from '@terrane/contracts'
import type { Database, Queryable } from '@terrane/database'
import { CURSOR_TIME, decodeCursor, pageOf } from './cursor.ts'
import { endLine, readLines, submittedLine, warningLine, writeLines, type NewLine } from './job-log.ts'
import type { JobRow, JobScope, NewJob } from './job-row.ts'
import type { JobObserver } from './job-metrics.ts'
import { hasOpenShards, shardEnded, stopShards } from './shards.ts'

export interface ListOptions {
  readonly status?: JobStatus | undefined
  readonly limit: number
  readonly cursor?: string | undefined
  readonly schedule?: string | undefined
  /** Lists the shards of this job; when absent, jobs that are not shards. */
  readonly parent?: string | undefined
  readonly ascending: boolean
}

/** Listener for the ends of jobs. */
export interface JobEnds {
  jobEnded(session: Queryable, id: string): Promise<void>
}

const NO_LISTENER: JobEnds = { jobEnded: () => Promise.resolve() }
const UNOBSERVED: JobObserver = { ended: () => {}, again: () => {} }

interface EndedRow {
  readonly parent_id: string | null
  readonly task: string
  readonly code: string
  readonly waited: number | null
  readonly ran: number | null
}

/** The queries on `terrane.jobs`. Every change raises the revision, which is also the id of the event for it. */
export class JobStore {
  readonly #database: Database
  readonly #ends: JobEnds
  readonly #observer: JobObserver

  /**
   * @param ends called for each end of a job, in the transaction that records it
   * @param observer counts the ends
   */
  constructor(database: Database, ends: JobEnds = NO_LISTENER, observer: JobObserver = UNOBSERVED) {
    this.#database = database
    this.#ends = ends
    this.#observer = observer
  }

  async insert(session: Queryable, job: NewJob): Promise<JobRow> {
    const { rows } = await session.query<JobRow>(
      `insert into terrane.jobs (id, task, project_ref, organization_id, project_id, input, sealed_input, max_attempts,
         request_id, retry_of, schedule_id, scheduled_for, traceparent, parent_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) returning *`,
      [
        job.id,
        job.task,
        job.scope.projectRef,
        job.scope.organizationId,
        job.scope.projectId,
        JSON.stringify(job.input),
        job.sealedInput,
        job.maxAttempts,
        job.requestId,
        job.retryOf,
        job.schedule?.id ?? null,
        job.schedule?.at ?? null,
        job.traceparent,
        job.parentId ?? null,
      ],
    )
    await writeLines(session, job.id, [submittedLine(job)])
    return rows[0] as JobRow
  }

  async get(id: string): Promise<JobRow | null> {
    const { rows } = await this.#database.query<JobRow>('select * from terrane.jobs where id = $1', [id])
    return rows[0] ?? null
  }

  async find(scope: JobScope, task: string, id: string): Promise<JobRow | null> {
    const { rows } = await this.#database.query<JobRow>(
      `select * from terrane.jobs where id = $1 and task = $2 and project_ref = $3 and organization_id is not distinct from $4`,
      [id, task, scope.projectRef, scope.organizationId],
    )
    return rows[0] ?? null
  }

  async latest(scope: JobScope, task: string, status?: JobStatus): Promise<JobRow | null> {
    const { rows } = await this.list(scope, task, { status, limit: 1, ascending: false })
    return rows[0] ?? null
  }

  /** A page by keyset on (created_at, id), so that new jobs do not shift it. */
  async list(
    scope: JobScope,
    task: string,
    options: ListOptions,
  ): Promise<{ rows: JobRow[]; nextCursor: string | null }> {
    const cursor = options.cursor === undefined ? null : decodeCursor(options.cursor)
    const [compare, direction] = options.ascending ? ['>', 'asc'] : ['<', 'desc']
    const { rows } = await this.#database.query<JobRow & { cursor_at: string }>(
      `select *, ${CURSOR_TIME} as cursor_at from terrane.jobs
       where project_ref = $1 and organization_id is not distinct from $2 and task = $3
         and ($4::text is null or status = $4)
         and ($5::timestamptz is null or (created_at, id) ${compare} ($5::timestamptz, $6::uuid))
         and ($7::uuid is null or schedule_id = $7) and parent_id is not distinct from $8
       order by created_at ${direction}, id ${direction} limit $9`,
      [
        scope.projectRef,
        scope.organizationId,
        task,
        options.status ?? null,
        cursor?.at ?? null,
        cursor?.id ?? null,
        options.schedule ?? null,
        options.parent ?? null,
        options.limit + 1,
      ],
    )
    return pageOf(rows, options.limit)
  }

  /** Marks a job as running; null when it has ended. */
  async start(id: string, attempt: number): Promise<JobRow | null> {
    const { rows } = await this.#database.query<JobRow>(
      `update terrane.jobs set status = 'running', attempt = $2, waits = false,
         progress = case when waits then progress end,
         started_at = coalesce(started_at, clock_timestamp()), updated_at = clock_timestamp(), revision = revision + 1
       where id = $1 and status in ('pending', 'running') returning *`,
      [id, attempt],
    )
    const row = rows[0]
    if (!row) return null
    const message = `Started, attempt ${attempt} of ${row.max_attempts}`
    await writeLines(this.#database, id, [{ event: 'started', message }], { attempt })
    return row
  }

  /** Writes progress and log lines of a run; false when it is no longer the current one, or the job has ended. */
  async progress(
    id: string,
    attempt: number,
    progress: JobProgress | null,
    lines: readonly NewLine[],
  ): Promise<boolean> {
    const { rowCount } = await this.#database.query(
      `update terrane.jobs set progress = coalesce($3, progress), updated_at = clock_timestamp(), revision = revision + 1
       where id = $1 and attempt = $2 and status = 'running'`,
      [id, attempt, progress === null ? null : JSON.stringify(progress)],
    )
    if (rowCount === 1) await writeLines(this.#database, id, lines, { attempt })
    return rowCount === 1
  }

  async succeed(session: Queryable, id: string, result: unknown): Promise<void> {
    await session.query(
      `update terrane.jobs set status = 'success', result = $2, error = null, finished_at = clock_timestamp(), leftovers = false,
         progress = case when progress is null then null else progress || '{"percent": 100, "eta_seconds": 0}' end,
         updated_at = clock_timestamp(), revision = revision + 1
       where id = $1 and status in ('pending', 'running')`,
      [id, JSON.stringify(result)],
    )
    const warnings = (result as { warnings?: readonly JobWarning[] } | null)?.warnings ?? []
    await writeLines(session, id, [...warnings.map(warningLine), { event: 'succeeded', message: 'Done' }])
    await this.#ended(session, id)
  }

  async fail(
    session: Queryable,
    id: string,
    error: JobError,
    { leavesTables = false }: { readonly leavesTables?: boolean } = {},
  ): Promise<void> {
    await stopShards(session, id, error)
    await session.query(
      `update terrane.jobs set status = 'failed', error = $2, finished_at = clock_timestamp(), leftovers = $3,
         updated_at = clock_timestamp(), revision = revision + 1
       where id = $1 and status in ('pending', 'running')`,
      [id, JSON.stringify(error), leavesTables],
    )
    await writeLines(session, id, [endLine(error)])
    await this.#ended(session, id)
  }

  /** Marks a job that will run again as pending. */
  async requeue(session: Queryable, id: string, message: string, why: NewLine['event'], code?: string): Promise<void> {
    const { rows } = await session.query<{ task: string }>(
      `update terrane.jobs set status = 'pending', leftovers = true, updated_at = clock_timestamp(), revision = revision + 1,
         progress = jsonb_build_object('percent', null, 'phase', 'waiting', 'message', $2::text, 'done', 0, 'total', null, 'unit', '', 'eta_seconds', null)
       where id = $1 and status = 'running' returning task`,
      [id, message],
    )
    for (const { task } of rows) this.#observer.again(task, why)
    const level = why === 'handed_over' ? 'info' : 'warning'
    await writeLines(session, id, [{ event: why, level, message, ...(code !== undefined && { code }) }])
  }

  /** Lets a job wait for its shards: `waits`, `on` if they have ended already, `ended` if it was cancelled. */
  async setAside(session: Queryable, id: string, error: JobError): Promise<'waits' | 'on' | 'ended'> {
    const { rows } = await session.query<{ cancel_requested: boolean }>(
      `update terrane.jobs set waits = true, leftovers = true, updated_at = clock_timestamp(), revision = revision + 1
       where id = $1 and status = 'running' returning cancel_requested`,
      [id],
    )
    if (rows[0]?.cancel_requested !== false) {
      await this.fail(session, id, error, { leavesTables: true })
      return 'ended'
    }
    return (await hasOpenShards(session, id)) ? 'waits' : 'on'
  }

  /** Marks a job for cancellation, and ends it at once if it is pending or waits for shards. Returns the current row. */
  async requestCancel(session: Queryable, id: string, error: JobError, requestId: string): Promise<JobRow | null> {
    await stopShards(session, id, error)
    const { rows } = await session.query<JobRow>(
      `update terrane.jobs set cancel_requested = true, updated_at = clock_timestamp(), revision = revision + 1,
         status = case when status = 'pending' or waits then 'failed' else status end,
         error = case when status = 'pending' or waits then $2::jsonb else error end,
         finished_at = case when status = 'pending' or waits then clock_timestamp() else finished_at end
       where id = $1 and status in ('pending', 'running') returning *`,
      [id, JSON.stringify(error)],
    )
    const row = rows[0]
    if (!row) return null
    const asked: NewLine = { event: 'cancel_requested', message: 'Cancellation was asked for', requestId }
    await writeLines(session, id, row.status === 'failed' ? [asked, endLine(error)] : [asked])
    if (row.status === 'failed') await this.#ended(session, id)
    return row
  }

  /** Lines of the log of a job, in order. */
  log(id: string, options: { readonly after: number; readonly limit: number }) {
    return readLines(this.#database, id, options)
  }

  /** The ids of jobs whose cancellation was requested. */
  async cancelRequested(ids: readonly string[]): Promise<string[]> {
    const { rows } = await this.#database.query<{ id: string }>(
      'select id from terrane.jobs where id = any($1::uuid[]) and cancel_requested',
      [ids],
    )
    return rows.map((row) => row.id)
  }

  /** Rows of the jobs whose revision is newer than the given one. */
  async changedSince(known: ReadonlyMap<string, number>): Promise<JobRow[]> {
    const { rows } = await this.#database.query<JobRow>(
      `select j.* from terrane.jobs j join unnest($1::uuid[], $2::bigint[]) as k(id, revision) on k.id = j.id
       where j.revision > k.revision`,
      [[...known.keys()], [...known.values()]],
    )
    return rows
  }

  /** Pending and running jobs of each task, over all workers; a job that waits for its shards is neither. */
  async load(): Promise<{ task: string; status: 'pending' | 'running'; jobs: number }[]> {
    const { rows } = await this.#database.query<{ task: string; status: 'pending' | 'running'; jobs: number }>(
      `select task, status, count(*) as jobs from terrane.jobs where status in ('pending', 'running') and not waits group by task, status`,
    )
    return rows
  }

  /** Deletes jobs that ended long ago, and old idempotency keys. */
  async prune(retentionDays: number): Promise<void> {
    await this.#database.query(
      `delete from terrane.jobs where finished_at < clock_timestamp() - make_interval(days => $1)`,
      [retentionDays],
    )
    await this.#database.query(
      `delete from terrane.idempotency_keys where created_at < clock_timestamp() - interval '${IDEMPOTENCY_HOURS} hours'`,
    )
  }

  /** Notifies the webhooks of a job that ended, or the parent of a shard. */
  async #ended(session: Queryable, id: string): Promise<void> {
    const { rows } = await session.query<EndedRow>(
      `select parent_id, task, case status when 'success' then 'success' else coalesce(error->>'code', 'INTERNAL') end as code,
         extract(epoch from started_at - created_at)::float8 as waited, extract(epoch from finished_at - started_at)::float8 as ran
       from terrane.jobs where id = $1`,
      [id],
    )
    const [row] = rows
    const parent = row?.parent_id ?? null
    if (row) this.#observer.ended({ task: row.task, code: row.code, waitSeconds: row.waited, runSeconds: row.ran })
    if (parent === null) await this.#ends.jobEnded(session, id)
    else await shardEnded(session, this.#database.capabilities, { parent, shard: id })
  }
}
