import type { Schedule } from '@terrane/contracts'
import type { Database, Queryable } from '@terrane/database'
import { CURSOR_TIME, decodeCursor, pageOf } from '../queue/cursor.ts'
import { IN_SCOPE, ProjectRows } from '../projects/project-rows.ts'
import type { JobScope, Owner } from '../queue/job-row.ts'

/** A schedule as stored. */
export interface ScheduleRow extends Owner {
  readonly id: string
  readonly task: string
  readonly name: string
  readonly cron: string
  readonly time_zone: string
  readonly input: Record<string, unknown>
  readonly sealed_input: Buffer
  readonly next_at: Date | null
  readonly paused: boolean
  readonly last_tick_at: Date | null
  readonly last_job_id: string | null
  readonly skipped: number
  readonly last_skipped_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A schedule that is due. */
export type DueSchedule = ScheduleRow & { readonly next_at: Date }

/** Fields of a schedule. */
type ScheduleColumn = 'id' | 'task' | 'name' | 'cron' | 'time_zone' | 'input' | 'sealed_input' | 'next_at' | 'paused'

/** The queries on `terrane.schedules`. */
export class ScheduleStore extends ProjectRows<ScheduleRow, ScheduleColumn> {
  readonly #database: Database

  constructor(database: Database) {
    super(database, 'schedules')
    this.#database = database
  }

  /** A page, newest first. */
  async list(
    { projectRef, organizationId }: JobScope,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<{ rows: ScheduleRow[]; nextCursor: string | null }> {
    const cursor = options.cursor === undefined ? null : decodeCursor(options.cursor)
    const { rows } = await this.#database.query<ScheduleRow & { cursor_at: string }>(
      `select *, ${CURSOR_TIME} as cursor_at from terrane.schedules
       where ${IN_SCOPE} and ($3::timestamptz is null or (created_at, id) < ($3::timestamptz, $4::uuid))
       order by created_at desc, id desc limit $5`,
      [projectRef, organizationId, cursor?.at ?? null, cursor?.id ?? null, options.limit + 1],
    )
    return pageOf(rows, options.limit)
  }

  /** The longest overdue schedule of each project. @param except keys of projects that are left out */
  async due(limit: number, except: readonly string[]): Promise<DueSchedule[]> {
    const { rows } = await this.#database.query<DueSchedule>(
      `select * from (
         select distinct on (project_ref, organization_id) * from terrane.schedules
         where next_at <= clock_timestamp() and coalesce(organization_id || '/', '') || project_ref <> all($2)
         order by project_ref, organization_id, next_at
       ) due order by next_at limit $1`,
      [limit, except],
    )
    return rows
  }

  /** The longest overdue schedule of a project. */
  async dueOf({ project_ref: ref, organization_id: organization }: ScheduleRow): Promise<DueSchedule | null> {
    const { rows } = await this.#database.query<DueSchedule>(
      `select * from terrane.schedules where ${IN_SCOPE} and next_at <= clock_timestamp() order by next_at limit 1`,
      [ref, organization],
    )
    return rows[0] ?? null
  }

  /** The time of the database. */
  async now(session: Queryable): Promise<Date> {
    const { rows } = await session.query<{ now: Date }>('select clock_timestamp() as now')
    return rows[0]!.now
  }

  /** Whether a job of this schedule has not ended. */
  async isBusy(session: Queryable, id: string): Promise<boolean> {
    const { rowCount } = await session.query(
      `select 1 from terrane.jobs where schedule_id = $1 and status in ('pending', 'running') limit 1`,
      [id],
    )
    return (rowCount ?? 0) > 0
  }

  /** Postpones a schedule that could not be submitted by a minute. */
  async postpone(schedule: ScheduleRow): Promise<void> {
    await this.#database.query(
      `update terrane.schedules set next_at = date_trunc('second', clock_timestamp()) + interval '1 minute' where id = $1 and next_at = $2`,
      [schedule.id, schedule.next_at],
    )
  }

  /** Moves a schedule on to its next time; false when another worker was faster or the schedule was changed. */
  async take(session: Queryable, schedule: ScheduleRow, next: Date | null, jobId: string | null): Promise<boolean> {
    const { rowCount } = await session.query(
      `update terrane.schedules set next_at = $3,
         last_tick_at = case when $4::uuid is null then last_tick_at else clock_timestamp() end,
         last_job_id = coalesce($4, last_job_id),
         skipped = skipped + case when $4 is null then 1 else 0 end,
         last_skipped_at = case when $4 is null then clock_timestamp() else last_skipped_at end
       where id = $1 and next_at = $2`,
      [schedule.id, schedule.next_at, next, jobId],
    )
    return rowCount === 1
  }
}

/** The public record of a schedule. */
export function toSchedule(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    taskName: row.task,
    name: row.name,
    cron: row.cron,
    timeZone: row.time_zone,
    paused: row.paused,
    project_ref: row.project_ref,
    input: row.input,
    next_run_at: row.next_at?.toISOString() ?? null,
    last_run_at: row.last_tick_at?.toISOString() ?? null,
    last_job_id: row.last_job_id,
    skipped: row.skipped,
    last_skipped_at: row.last_skipped_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    links: { self: `/schedules/${row.id}`, jobs: `/jobs/${row.task}?schedule=${row.id}` },
  }
}
