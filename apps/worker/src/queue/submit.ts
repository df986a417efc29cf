import { createHash } from 'node:crypto'
import { IDEMPOTENCY_HOURS } from '@terrane/contracts'
import { uuidv7, type TerraneError } from '@terrane/core'
import type { Database, Session } from '@terrane/database'
import type { PgBoss } from 'pg-boss'
import { cancelled, idempotencyMismatch, toJobError } from '../errors.ts'
import type { Task } from '../jobs/task.ts'
import { redactInput } from '../projects/redact.ts'
import { inSpan, traceparent, type Sealer } from '@terrane/service'
import { WORK_CHANNEL, inTransaction } from './boss.ts'
import { MAX_ATTEMPTS } from './job-life.ts'
import { scopeKey, type JobRow, type JobScope } from './job-row.ts'
import type { JobStore } from './job-store.ts'
import { CANCEL_CHANNEL } from './runner.ts'
import { takeTurn } from './fair-queue.ts'

export interface SubmitterOptions {
  readonly boss: PgBoss
  readonly database: Database
  readonly store: JobStore
  readonly sealer: Sealer
  /** Called when a job was enqueued, to fetch it at once. */
  readonly onEnqueued: (task: string) => void
}

export interface Submission {
  readonly task: Task
  readonly scope: JobScope
  readonly input: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | undefined
  /** Id of the request that submits the job. */
  readonly requestId: string | null
  /** The failed job that is tried again. */
  readonly retryOf?: string
  /** The schedule that submits it, and the time of that schedule. */
  readonly schedule?: { readonly id: string; readonly at: Date }
}

/** Queues and cancels jobs. The record and the queue's job are written in one transaction. */
export class Submitter {
  readonly #options: SubmitterOptions

  constructor(options: SubmitterOptions) {
    this.#options = options
  }

  /** The stored job of an Idempotency-Key, or null. @throws IDEMPOTENCY_KEY_REUSED when it came with another body */
  async replay(submission: Submission): Promise<JobRow | null> {
    const { idempotencyKey, scope, task } = submission
    if (idempotencyKey === undefined) return null
    const { rows } = await this.#options.database.query<JobRow & { body_sha256: string }>(
      `select k.body_sha256, j.* from terrane.idempotency_keys k join terrane.jobs j on j.id = k.job_id
       where k.project_ref = $1 and k.task = $2 and k.key = $3 and k.created_at > clock_timestamp() - interval '${IDEMPOTENCY_HOURS} hours'`,
      [scopeKey(scope), task.name, idempotencyKey],
    )
    const found = rows[0]
    if (!found) return null
    if (found.body_sha256 !== hashBody(submission.input)) throw idempotencyMismatch({ hours: IDEMPOTENCY_HOURS })
    return found
  }

  /** Enqueues a job. A second request with the same Idempotency-Key at the same moment gets the first one's job. */
  async submit(submission: Submission): Promise<{ row: JobRow; replayed: boolean }> {
    const id = uuidv7()
    const outcome = await inSpan('submit', () =>
      this.#options.database.transaction((session) => this.enqueue(session, submission, id)),
    ).catch((error: unknown) => {
      if (error instanceof KeyTaken) return null
      throw error
    })
    if (outcome) {
      this.announce(submission.task.name)
      return { row: outcome, replayed: false }
    }
    const row = await this.replay(submission)
    return row ? { row, replayed: true } : this.submit(submission)
  }

  /** Queues a job in the transaction of a caller, who then calls {@link announce}. @param refusal ends it at once */
  async enqueue(
    session: Session,
    submission: Submission,
    id: string,
    refusal: TerraneError | null = null,
  ): Promise<JobRow> {
    const { boss, database, store, sealer } = this.#options
    const { task, scope, input } = submission
    const row = await store.insert(session, {
      id,
      task: task.name,
      scope,
      input: redactInput(input),
      sealedInput: sealer.seal(input, id),
      maxAttempts: MAX_ATTEMPTS,
      requestId: submission.requestId,
      traceparent: traceparent(),
      retryOf: submission.retryOf ?? null,
      schedule: submission.schedule ?? null,
    })
    if (refusal) {
      await store.fail(session, id, toJobError(refusal))
      return row
    }
    if (!(await this.#reserveKey(session, submission, id))) throw new KeyTaken()
    const priority = -(await takeTurn(session, scope, task.name))
    await boss.send(task.name, {}, { id, priority, group: { id: scopeKey(scope) }, ...inTransaction(session) })
    if (database.capabilities.notify) await session.query('select pg_notify($1, $2)', [WORK_CHANNEL, task.name])
    return row
  }

  /** Lets the runner of this process look for jobs at once. */
  announce(task: string): void {
    this.#options.onEnqueued(task)
  }

  /** Cancels a job: a pending one ends at once, a running one is marked, an ended one is not changed. */
  async cancel(row: JobRow, requestId: string): Promise<JobRow> {
    const { boss, database, store } = this.#options
    const changed = await database.transaction(async (session) => {
      const now = await store.requestCancel(session, row.id, toJobError(cancelled()), requestId)
      if (now?.status === 'failed') await boss.cancel(row.task, row.id, inTransaction(session))
      if (now && database.capabilities.notify) await session.query('select pg_notify($1, $2)', [CANCEL_CHANNEL, row.id])
      return now
    })
    return changed ?? (await store.get(row.id)) ?? row
  }

  async #reserveKey(session: Session, submission: Submission, jobId: string): Promise<boolean> {
    const { idempotencyKey, scope, task, input } = submission
    if (idempotencyKey === undefined) return true
    const { rowCount } = await session.query(
      `insert into terrane.idempotency_keys as k (project_ref, task, key, body_sha256, job_id) values ($1, $2, $3, $4, $5)
       on conflict (project_ref, task, key) do update
         set body_sha256 = excluded.body_sha256, job_id = excluded.job_id, created_at = excluded.created_at
         where k.created_at <= clock_timestamp() - interval '${IDEMPOTENCY_HOURS} hours'`,
      [scopeKey(scope), task.name, idempotencyKey, hashBody(input), jobId],
    )
    return rowCount === 1
  }
}

class KeyTaken extends Error {}

/** SHA-256 of a body, independent of the order of its fields. */
function hashBody(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  )
}
