import { readJobEntry, readTableEntry } from '@terrane/contracts/events'
import { uuidv7 } from '@terrane/core'
import type { Database } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { scopeOf } from '../queue/job-row.ts'
import { makeSecret } from '../webhooks/sign.ts'
import type { WebhookStore } from '../webhooks/webhook-store.ts'
import { tableHooksFull, webhooksFull } from '../errors.ts'
import type { Target } from './caller.ts'
import { FUNCTIONS, MOST_HOOKS, MOST_WEBHOOKS, type Declared } from './declared.ts'
import { LIVE_FUNCTIONS } from './function-limits.ts'
import type { HookRow, TableHookStore } from './table-hook-store.ts'
import { dropHook } from './table-triggers.ts'

/** Pause after a hook that could not be made or deleted. */
const RETRY_MS = 30_000
const ATTEMPTS = 15

type Wanted = { readonly [Name in keyof Declared]: string }

export interface DeclaredHooksOptions {
  readonly database: Database
  readonly hooks: TableHookStore
  readonly webhooks: WebhookStore
  readonly sealer: Sealer
  readonly projects: Pick<ProjectDirectory, 'scopeById' | 'openForSubmit'>
  readonly logger: Logger
}

/** Makes and deletes the table hooks and webhooks that functions declare in function.json. */
export class DeclaredHooks {
  readonly #options: DeclaredHooksOptions
  /** Times of `performance.now` before which a hook is not tried again, by hook. */
  readonly #later = new Map<string, number>()

  constructor(options: DeclaredHooksOptions) {
    this.#options = options
  }

  /** Compares the hooks that functions declare with the stored ones; any number of workers may run it. */
  async follow(): Promise<void> {
    const { database, hooks, webhooks, projects } = this.#options
    const [tables, jobs] = [declared('table_hooks', 'tables'), declared('webhooks', 'jobs')]
    const drop = async (hook: HookRow) => {
      await using project = await projects.openForSubmit(scopeOf(hook), undefined)
      await dropHook(project.database, hooks, hook)
    }
    // Concurrently, so that an unresponsive database of one project does not delay other projects.
    const gone = (await database.query<HookRow>(tables.gone)).rows
    await Promise.all(gone.map((hook) => this.#try(hook, () => drop(hook))))
    for (const { id } of (await database.query<{ id: string }>(jobs.gone)).rows) await webhooks.delete(id)
    for (const wanted of (await database.query<Wanted>(tables.missing)).rows)
      await this.#try(wanted, () => this.#addTable(wanted))
    for (const wanted of (await database.query<Wanted>(jobs.missing)).rows)
      await this.#try(wanted, () => this.#addJobs(wanted))
  }

  async #addTable(wanted: Wanted): Promise<void> {
    const { hooks, projects } = this.#options
    const scope = await projects.scopeById(wanted.declared_by)
    if (!scope) return
    const { table, ...changes } = readTableEntry(wanted.entry)
    const of = { table_schema: 'public', table_name: table, ...changes, condition: null, attempts: ATTEMPTS }
    const made = await hooks.insert(scope, MOST_HOOKS, { ...this.#facts(wanted), ...of })
    // If the table is not full, another worker has inserted the hook.
    if (!made && (await hooks.all(scope)).length >= MOST_HOOKS) throw tableHooksFull({ most: MOST_HOOKS })
  }

  async #addJobs(wanted: Wanted): Promise<void> {
    const { webhooks, projects } = this.#options
    const scope = await projects.scopeById(wanted.declared_by)
    if (!scope) return
    const made = await webhooks.insert(scope, MOST_WEBHOOKS, { ...this.#facts(wanted), ...readJobEntry(wanted.entry) })
    if (!made && (await webhooks.all(scope)).length >= MOST_WEBHOOKS) throw webhooksFull({ most: MOST_WEBHOOKS })
  }

  #facts(wanted: Wanted) {
    const id = uuidv7()
    const target: Target = { function: wanted.function_name, secret: makeSecret() }
    return {
      ...wanted,
      id,
      shown_url: FUNCTIONS + wanted.function_name,
      sealed: this.#options.sealer.seal({ ...target }, id),
      description: `declared in function.json: ${wanted.entry}`.slice(0, 200),
      paused: false,
    }
  }

  async #try({ declared_by: project, function_name: name, entry }: Declared, work: () => Promise<void>): Promise<void> {
    const key = `${project}/${name}/${entry}`
    if (performance.now() < (this.#later.get(key) ?? 0)) return
    try {
      await work()
      this.#later.delete(key)
    } catch (error) {
      this.#later.set(key, performance.now() + RETRY_MS)
      this.#options.logger.warn(
        { err: error, project, function: name, entry },
        'a hook of a function is not as declared',
      )
    }
  }
}

/** Statements for the hooks of a table that are no longer declared, and for declared entries without a hook. */
function declared(table: string, field: string) {
  const wanted = `select distinct p.project_id as declared_by, p.name as function_name, e.value as entry
    from ${LIVE_FUNCTIONS} p cross join jsonb_array_elements_text(p.policy->'${field}') e (value)`
  const same = 'h.declared_by = w.declared_by and h.function_name = w.function_name and h.entry = w.entry'
  return {
    gone: `select h.* from terrane.${table} h where h.entry is not null and not exists (select from (${wanted}) w where ${same})`,
    missing: `select w.* from (${wanted}) w where not exists (select from terrane.${table} h where ${same})`,
  }
}
