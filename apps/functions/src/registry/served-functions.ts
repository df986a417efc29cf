import type { Database } from '@terrane/database'
import type { Policy } from '../policy.ts'

/**
 * Records functions of a folder that the platform calls (crons and queues) in the control plane, because the platform
 * cannot read the folder.
 */
export class ServedFunctions {
  readonly #database: Database
  readonly #projectId: string
  readonly #onLost: (error: unknown) => void
  /** One write after the other, in the order of the changes. */
  #last: Promise<void> = Promise.resolve()

  /**
   * @param projectId of the project in the control plane
   * @param onLost called when the database cannot be written to
   */
  constructor(database: Database, projectId: string, onLost: (error: unknown) => void) {
    this.#database = database
    this.#projectId = projectId
    this.#onLost = onLost
  }

  /** Removes the records of an earlier run, except these functions. */
  keep(names: readonly string[]): Promise<void> {
    return this.#write('delete from terrane.served_functions where project_id = $1 and name <> all($2)', [names])
  }

  put(name: string, { schedule, time_zone, tables, jobs, queue, batch, attempts }: Policy): Promise<void> {
    return this.#write(
      `insert into terrane.served_functions (project_id, name, policy) values ($1, $2, $3)
       on conflict (project_id, name) do update set policy = excluded.policy, updated_at = clock_timestamp()`,
      [name, JSON.stringify({ schedule, time_zone, tables, jobs, queue, batch, attempts })],
    )
  }

  remove(name: string): Promise<void> {
    return this.#write('delete from terrane.served_functions where project_id = $1 and name = $2', [name])
  }

  #write(text: string, values: readonly unknown[]): Promise<void> {
    this.#last = this.#writeAfter(this.#last, text, values)
    return this.#last
  }

  async #writeAfter(before: Promise<void>, text: string, values: readonly unknown[]): Promise<void> {
    await before
    await this.#database.query(text, [this.#projectId, ...values]).catch(this.#onLost)
  }
}
