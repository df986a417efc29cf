import type { Queryable } from '@terrane/database'

/** SQL for the functions of all projects with their policies; a served folder hides deployed ones of its names. */
export const LIVE_FUNCTIONS = `(
    select project_id, name, policy from terrane.served_functions
    union all
    select l.project_id, l.name, v.policy from terrane.function_live l
    join terrane.function_versions v using (project_id, name, version)
    where not exists (select from terrane.served_functions s where s.project_id = l.project_id and s.name = l.name)
  )`

/** The host ends a call by the function's own timeout_ms, which is at most 400 s unless an operator raises it. */
const UNKNOWN_MS = 405_000
/** Time that is added to the function's own limit for the transfer of request and answer. */
const GRACE_MS = 5000

/** Timeouts of calls of functions: their own `timeout_ms` plus 5 s; 405 s where that is not known. */
export class FunctionLimits {
  readonly #database: Queryable

  constructor(database: Queryable) {
    this.#database = database
  }

  /** Timeout in milliseconds, by the current policy. @param projectId of the control plane; null if unknown */
  async waitMs(projectId: string | null, name: string): Promise<number> {
    return projectId === null ? UNKNOWN_MS : this.#look(projectId, name).catch(() => UNKNOWN_MS)
  }

  async #look(projectId: string, name: string): Promise<number> {
    const { rows } = await this.#database.query<{ ms: number | null }>(
      `select (policy->>'timeout_ms')::float8 as ms from ${LIVE_FUNCTIONS} f where project_id = $1 and name = $2`,
      [projectId, name],
    )
    const ms = rows[0]?.ms ?? null
    return ms === null ? UNKNOWN_MS : Math.min(UNKNOWN_MS, ms + GRACE_MS)
  }
}
