import type { Queryable, Session } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { CALL_EXPIRES_S, type Attempt, type Caller } from '../events/caller.ts'
import { openTarget } from '../events/declared.ts'
import { inTransaction } from '../queue/boss.ts'
import { openQueue } from '../queue/open-queue.ts'
import { toRecord } from '../queue/job-record.ts'
import { scopeOf } from '../queue/job-row.ts'
import { messageId, type DeliveryRow, type WebhookStore } from './webhook-store.ts'

const QUEUE = 'webhooks'
/** Retries of a delivery: after 5, 10, 20 … seconds, at most two hours; about half a day in all. */
const RETRIES = 15
const QUEUE_SETTINGS = {
  retryLimit: RETRIES,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 7200,
  expireInSeconds: CALL_EXPIRES_S,
  retentionSeconds: 2 * 86_400,
  deleteAfterSeconds: 86_400,
}
const POLL_SECONDS = 1
/** Maximum concurrent deliveries of this process, and of one project, whose receivers may be slow. */
const AT_ONCE = 4
const AT_ONCE_PER_PROJECT = 2
/** Status with which a receiver ends its subscription. */
const GONE = 410

interface Queued {
  readonly delivery: string
}

export interface WebhooksOptions {
  readonly boss: PgBoss
  readonly store: WebhookStore
  readonly caller: Caller
  readonly sealer: Sealer
  readonly logger: Logger
  /** Called after each message, with its success. */
  readonly onAttempt: (isDelivered: boolean) => void
}

/** Delivers the ends of jobs to webhooks, at least once each, by the Standard Webhooks specification. */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #stopping = new AbortController()

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  /** Creates the queue, which must exist before a job ends. */
  async open(): Promise<void> {
    await openQueue(this.#options.boss, QUEUE, QUEUE_SETTINGS)
  }

  /** Queues the deliveries for the end of a job, in the transaction that ends it. */
  async jobEnded(session: Queryable, jobId: string): Promise<void> {
    const { boss, store } = this.#options
    for (const { id, project } of await store.addDeliveries(session, jobId)) {
      await boss.send(QUEUE, { delivery: id }, { id, group: { id: project }, ...inTransaction(session as Session) })
    }
  }

  /** Delivers until {@link stop}. */
  async start(): Promise<void> {
    const options = {
      pollingIntervalSeconds: POLL_SECONDS,
      localConcurrency: AT_ONCE,
      // The limit counts in memory, because concurrent fetches could exceed a limit that is counted in the database.
      localGroupConcurrency: AT_ONCE_PER_PROJECT,
      includeMetadata: true as const,
    }
    await this.#options.boss.work(QUEUE, options, async ([job]: JobWithMetadata<Queued>[]) => {
      if (job) await this.#deliver(job, job.retryCount >= RETRIES)
    })
  }

  /** Aborts running deliveries, which another worker repeats. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the worker stops'))
    await this.#options.boss.offWork(QUEUE, { wait: true })
  }

  /** Makes an attempt. Throws when it is to be repeated: the queue then waits and tries again. */
  async #deliver(job: JobWithMetadata<Queued>, isLast: boolean): Promise<void> {
    const { store, logger } = this.#options
    const delivery = await store.delivery(job.data.delivery)
    if (!delivery || delivery.status !== 'pending') return
    const attempt = await this.#post(delivery, job.signal)
    const isDelivered = attempt.error === null
    const isGone = attempt.statusCode === GONE
    const isOver = isDelivered || isGone || isLast
    this.#options.onAttempt(isDelivered)
    await store.addAttempt(delivery.id, attempt, isDelivered ? 'delivered' : isOver ? 'failed' : 'pending')
    if (isGone) await store.update(delivery.webhook_id, { paused: true })
    if (isDelivered) return
    const { id, webhook_id: webhookId } = delivery
    logger.info({ webhookId, deliveryId: id, isOver, reason: attempt.error }, 'a webhook did not take its message')
    if (!isOver) throw new Error('the webhook did not take its message')
  }

  #post(delivery: DeliveryRow, jobSignal: AbortSignal): Promise<Attempt> {
    const { caller, sealer } = this.#options
    return caller.post({
      scope: scopeOf(delivery.job),
      target: () => openTarget(sealer, { ...delivery, id: delivery.webhook_id }),
      id: messageId(delivery.id),
      body: JSON.stringify(messageOf(delivery)),
      signal: AbortSignal.any([this.#stopping.signal, jobSignal]),
    })
  }
}

/** The message: the record of the job without its request, which may be long. */
function messageOf({ type, job }: DeliveryRow) {
  const { input: _, ...record } = toRecord(job)
  return { type, timestamp: record.finished_at, data: record }
}
