import type { Webhook, WebhookDelivery } from '@terrane/contracts'
import type { Database, Queryable } from '@terrane/database'
import type { Attempt } from '../events/caller.ts'
import type { Declared } from '../events/declared.ts'
import { CURSOR_TIME, decodeCursor, pageOf } from '../queue/cursor.ts'
import type { JobRow } from '../queue/job-row.ts'
import { ProjectRows } from '../projects/project-rows.ts'

/** A webhook as stored. */
export interface WebhookRow extends Declared {
  readonly id: string
  readonly project_ref: string
  /** The address without possible credentials. */
  readonly shown_url: string
  /** The target, sealed for the id. */
  readonly sealed: Buffer
  readonly description: string
  readonly tasks: string[] | null
  readonly statuses: Webhook['statuses']
  readonly paused: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

/** Input of one delivery. */
export interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly type: string
  readonly status: WebhookDelivery['status']
  readonly sealed: Buffer
  readonly shown_url: string
  readonly job: JobRow
}

/** Fields of a webhook. */
type WebhookColumn = Exclude<keyof WebhookRow, 'project_ref' | 'created_at' | 'updated_at'>

/** The queries on `terrane.webhooks` and their deliveries. */
export class WebhookStore extends ProjectRows<WebhookRow, WebhookColumn> {
  readonly #database: Database

  constructor(database: Database) {
    super(database, 'webhooks')
    this.#database = database
  }

  /** Records a delivery for each webhook that listens to the end of a job, once. `project` is a key of the project. */
  async addDeliveries(session: Queryable, jobId: string): Promise<{ id: string; project: string }[]> {
    const { rows } = await session.query<{ id: string; project: string }>(
      `insert into terrane.webhook_deliveries (id, webhook_id, job_id, type)
       select gen_random_uuid(), w.id, j.id, case j.status when 'success' then 'job.succeeded' else 'job.failed' end
       from terrane.jobs j join terrane.webhooks w
         on w.project_ref = j.project_ref and w.organization_id is not distinct from j.organization_id
       where j.id = $1 and j.finished_at is not null and not w.paused and j.status = any(w.statuses)
         and (w.tasks is null or j.task = any(w.tasks))
       on conflict (webhook_id, job_id) do nothing returning id,
         (select concat(organization_id, '/', project_ref) from terrane.jobs where id = $1) as project`,
      [jobId],
    )
    return rows
  }

  /** A delivery with its job; null when its webhook or the record of the job was deleted. */
  async delivery(id: string): Promise<DeliveryRow | null> {
    const { rows } = await this.#database.query<Omit<DeliveryRow, 'job'> & { job_id: string }>(
      `select d.id, d.webhook_id, d.type, d.status, d.job_id, w.sealed, w.shown_url
       from terrane.webhook_deliveries d join terrane.webhooks w on w.id = d.webhook_id where d.id = $1`,
      [id],
    )
    const found = rows[0]
    if (!found) return null
    const jobs = await this.#database.query<JobRow>('select * from terrane.jobs where id = $1', [found.job_id])
    return jobs.rows[0] ? { ...found, job: jobs.rows[0] } : null
  }

  /** Records an attempt and the new state of its delivery. */
  async addAttempt(id: string, attempt: Attempt, status: WebhookDelivery['status']): Promise<void> {
    await this.#database.query(
      `with told as (
         update terrane.webhook_deliveries set attempts = attempts + 1, status = $5,
           settled_at = case when $5 = 'pending' then null else clock_timestamp() end
         where id = $1 returning id, attempts
       )
       insert into terrane.webhook_attempts (delivery_id, number, status_code, error, ms)
       select id, attempts, $2, $3, $4 from told`,
      [id, attempt.statusCode, attempt.error, attempt.ms, status],
    )
  }

  /** A page of a webhook's deliveries, newest first, with each attempt. */
  async deliveries(
    webhookId: string,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<{ data: WebhookDelivery[]; nextCursor: string | null }> {
    const cursor = options.cursor === undefined ? null : decodeCursor(options.cursor)
    const { rows } = await this.#database.query<{
      id: string
      job_id: string
      task: string
      type: WebhookDelivery['type']
      status: WebhookDelivery['status']
      created_at: Date
      cursor_at: string
      tried: { at: string; status_code: number | null; error: string | null; ms: number }[]
    }>(
      `select d.id, d.job_id, (select task from terrane.jobs j where j.id = d.job_id) as task, d.type, d.status, d.created_at,
         ${CURSOR_TIME} as cursor_at,
         (select coalesce(jsonb_agg(jsonb_build_object('at', a.at, 'status_code', a.status_code, 'error', a.error, 'ms', a.ms)
            order by a.number), '[]') from terrane.webhook_attempts a where a.delivery_id = d.id) as tried
       from terrane.webhook_deliveries d
       where d.webhook_id = $1 and ($2::timestamptz is null or (d.created_at, d.id) < ($2::timestamptz, $3::uuid))
       order by d.created_at desc, d.id desc limit $4`,
      [webhookId, cursor?.at ?? null, cursor?.id ?? null, options.limit + 1],
    )
    const page = pageOf(rows, options.limit)
    const data = page.rows.map((row) => ({
      id: messageId(row.id),
      type: row.type,
      job_id: row.job_id,
      taskName: row.task,
      status: row.status,
      attempts: row.tried.map((attempt) => ({ ...attempt, at: new Date(attempt.at).toISOString() })),
      created_at: row.created_at.toISOString(),
    }))
    return { data, nextCursor: page.nextCursor }
  }
}

/** `webhook-id` of a delivery: the same at each attempt. */
export function messageId(deliveryId: string): string {
  return `msg_${deliveryId.replaceAll('-', '')}`
}

/** The public record of a webhook. */
export function toWebhook(row: WebhookRow): Webhook {
  const self = `/webhooks/${row.id}`
  return {
    id: row.id,
    url: row.shown_url,
    description: row.description,
    tasks: row.tasks as Webhook['tasks'],
    statuses: row.statuses,
    paused: row.paused,
    project_ref: row.project_ref,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    links: { self, deliveries: `${self}/deliveries` },
  }
}
