import type { TableHook } from '@terrane/contracts/events'
import { hookLane } from '@terrane/control/hooks'
import type { Database } from '@terrane/database'
import { ProjectRows } from '../projects/project-rows.ts'
import type { Owner } from '../queue/job-row.ts'
import type { Declared } from './declared.ts'
import type { LaneLoad } from './outbox.ts'

/** A table hook as stored. */
export interface HookRow extends Declared, Owner {
  readonly id: string
  readonly table_schema: string
  readonly table_name: string
  readonly events: TableHook['events']
  readonly columns: string[] | null
  readonly condition: Record<string, unknown> | null
  /** The address without possible credentials. */
  readonly shown_url: string
  /** The target, sealed for the id. */
  readonly sealed: Buffer
  readonly description: string
  readonly attempts: number
  readonly paused: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

/** Fields of a table hook. */
type HookColumn = Exclude<keyof HookRow, 'project_ref' | 'organization_id' | 'project_id' | 'created_at' | 'updated_at'>

/** The queries on `terrane.table_hooks`. */
export class TableHookStore extends ProjectRows<HookRow, HookColumn> {
  readonly #database: Database

  constructor(database: Database) {
    super(database, 'table_hooks')
    this.#database = database
  }

  /** All hooks of all projects that are not paused. */
  async active(): Promise<HookRow[]> {
    const { rows } = await this.#database.query<HookRow>('select * from terrane.table_hooks where not paused')
    return rows
  }

  /** Whether a hook exists and is not paused. */
  async isActive(id: string): Promise<boolean> {
    const { rowCount } = await this.#database.query('select from terrane.table_hooks where id = $1 and not paused', [
      id,
    ])
    return rowCount !== 0
  }
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
