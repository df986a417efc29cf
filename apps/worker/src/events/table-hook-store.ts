import type { TableHook } from '@terrane/contracts/events'
import { hookLane } from '@terrane/control/hooks'
import type { Database } from '@terrane/database'
import type { JobScope } from '../queue/job-row.ts'
import type { LaneLoad } from './outbox.ts'

/** A table hook as stored. */
export interface HookRow {
  readonly id: string
  readonly project_ref: string
  readonly organization_id: string | null
  readonly project_id: string | null
  readonly table_schema: string
  readonly table_name: string
  readonly events: TableHook['events']
  readonly columns: string[] | null
  readonly condition: Record<string, unknown> | null
  /** Without what could be a credential. */
  readonly shown_url: string
  /** The target, sealed for the id. */
  readonly sealed: Buffer
  readonly description: string
  readonly attempts: number
  readonly paused: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

/** A table hook to be stored; `most`: those of a project at most. */
export type NewHook = Omit<HookRow, 'project_ref' | 'organization_id' | 'project_id' | 'created_at' | 'updated_at'> & {
  readonly scope: JobScope
  readonly most: number
}

const IN_SCOPE = 'project_ref = $1 and organization_id is not distinct from $2::uuid'

/** The queries on `terrane.table_hooks`. */
export class TableHookStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Null when the project has as many as it may have. */
  async insert({ scope, most, ...given }: NewHook): Promise<HookRow | null> {
    const { rows } = await this.#database.query<HookRow>(
      `insert into terrane.table_hooks (project_ref, organization_id, id, project_id, table_schema, table_name, events, columns,
         condition, shown_url, sealed, description, attempts, paused)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
       where (select count(*) from terrane.table_hooks where ${IN_SCOPE}) < $15 returning *`,
      [
        scope.projectRef,
        scope.organizationId,
        given.id,
        scope.projectId,
        given.table_schema,
        given.table_name,
        given.events,
        given.columns,
        given.condition && JSON.stringify(given.condition),
        given.shown_url,
        given.sealed,
        given.description,
        given.attempts,
        given.paused,
        most,
      ],
    )
    return rows[0] ?? null
  }

  async find({ projectRef, organizationId }: JobScope, id: string): Promise<HookRow | null> {
    const { rows } = await this.#database.query<HookRow>(
      `select * from terrane.table_hooks where ${IN_SCOPE} and id = $3`,
      [projectRef, organizationId, id],
    )
    return rows[0] ?? null
  }

  /** All of a project, newest first. */
  async list({ projectRef, organizationId }: JobScope): Promise<HookRow[]> {
    const { rows } = await this.#database.query<HookRow>(
      `select * from terrane.table_hooks where ${IN_SCOPE} order by created_at desc, id desc`,
      [projectRef, organizationId],
    )
    return rows
  }

  /** All of all projects that are not paused. */
  async active(): Promise<HookRow[]> {
    const { rows } = await this.#database.query<HookRow>('select * from terrane.table_hooks where not paused')
    return rows
  }

  /** Whether a hook is there and not paused. */
  async isActive(id: string): Promise<boolean> {
    const { rowCount } = await this.#database.query('select from terrane.table_hooks where id = $1 and not paused', [
      id,
    ])
    return rowCount !== 0
  }

  async pause(id: string, paused: boolean): Promise<HookRow | null> {
    const { rows } = await this.#database.query<HookRow>(
      'update terrane.table_hooks set paused = $2, updated_at = clock_timestamp() where id = $1 returning *',
      [id, paused],
    )
    return rows[0] ?? null
  }

  async delete(id: string): Promise<void> {
    await this.#database.query('delete from terrane.table_hooks where id = $1', [id])
  }
}

/** Whose hook it is. */
export function scopeOfHook(row: HookRow): JobScope {
  return { projectRef: row.project_ref, organizationId: row.organization_id, projectId: row.project_id }
}

/** The public record of a table hook. */
export function toTableHook(row: HookRow, load: Pick<LaneLoad, 'waiting' | 'dead'>): TableHook {
  const { waiting, dead } = load
  return {
    id: row.id,
    schema: row.table_schema,
    table: row.table_name,
    events: row.events,
    columns: row.columns,
    where: row.condition,
    url: row.shown_url,
    description: row.description,
    attempts: row.attempts,
    paused: row.paused,
    waiting,
    dead,
    project_ref: row.project_ref,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    links: { self: `/table-hooks/${row.id}`, deadLetters: `/dead-letters?lane=${hookLane(row.id)}` },
  }
}
