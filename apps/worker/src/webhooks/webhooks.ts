import type { Queryable, Session } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { CALL_EXPIRES_S, type Attempt, type Caller } from '../events/caller.ts'
import { openTarget } from '../events/declared.ts'
import { inTransaction } from '../queue/boss.ts'
import { openQueue } from '../queue/queues.ts'
import { toRecord } from '../queue/job-record.ts'
import { scopeOf } from '../queue/job-row.ts'
import { messageId, type DeliveryRow, type WebhookStore } from './webhook-store.ts'

const QUEUE = 'webhooks'
/** Tries after the first: after 5, 10, 20 … seconds, at most two hours; about half a day in all. */
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
/** Deliveries that this process makes at once, and those of one project: its receivers may keep others waiting. */
const AT_ONCE = 4
const AT_ONCE_PER_PROJECT = 2
/** The receiver says that it wants no more. */
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
  /** Told of each message that was sent. */
  readonly onAttempt: (isDelivered: boolean) => void
}

/** Tells webhooks of the ends of jobs, at least once each, by the Standard Webhooks specification. */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #stopping = new AbortController()

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  /** Makes the queue, which must be there before a job ends. */
  async open(): Promise<void> {
    await openQueue(this.#options.boss, QUEUE, QUEUE_SETTINGS)
  }

  /** Queues what webhooks are to hear of a job that ends, in the transaction that ends it. */
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
      // Counted in memory: counts in the database are taken by several fetches at once.
      localGroupConcurrency: AT_ONCE_PER_PROJECT,
      includeMetadata: true as const,
    }
    await this.#options.boss.work(QUEUE, options, async ([job]: JobWithMetadata<Queued>[]) => {
      if (job) await this.#deliver(job, job.retryCount >= RETRIES)
    })
  }

  /** Ends what is under way, which is tried again by another worker. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the worker stops'))
    await this.#options.boss.offWork(QUEUE, { wait: true })
  }

  /** Makes an attempt. Throws when there is to be another one: the queue then waits and tries again. */
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
