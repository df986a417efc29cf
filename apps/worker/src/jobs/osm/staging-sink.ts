import { STAGING_SCHEMA, bulkLoad, JsonText, type Database, type StagedTable } from '@terrane/database'
import type { ImportTable, RowSink } from '@terrane/osm'

interface Target {
  readonly table: ImportTable
  readonly staged: StagedTable
}

/** Loads that may run at once on a server; the embedded database has one session only. */
const LOADS_AT_ONCE = 3

/** Loads the rows of an import into staging tables, some batches at once, and holds the import back meanwhile. */
export class StagingSink implements RowSink {
  readonly #database: Database
  readonly #targets: readonly Target[]
  readonly #signal: AbortSignal
  readonly #loads = new Set<Promise<void>>()
  readonly #atOnce: number
  #failure: unknown = null

  constructor(database: Database, targets: readonly Target[], signal: AbortSignal) {
    this.#database = database
    this.#targets = targets
    this.#signal = signal
    this.#atOnce = database.capabilities.copy ? LOADS_AT_ONCE : 1
  }

  async write(table: number, rows: readonly unknown[][]): Promise<void> {
    while (this.#loads.size >= this.#atOnce) await Promise.race(this.#loads)
    if (this.#failure !== null) throw this.#failure
    const load: Promise<void> = this.#load(table, rows)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#loads.delete(load))
    this.#loads.add(load)
  }

  /** Waits until nothing is under way any more, whether it went well or not. */
  async settle(): Promise<void> {
    await Promise.all(this.#loads)
  }

  /** Waits for the loads under way; throws when one of all loads failed. */
  async finish(): Promise<void> {
    await this.settle()
    if (this.#failure !== null) throw this.#failure
  }

  async #load(table: number, rows: readonly unknown[][]): Promise<void> {
    const { staged, table: shape } = this.#targets[table]!
    const { columns } = shape
    const tags = columns.findIndex(({ type }) => type === 'jsonb')
    const target = { schema: STAGING_SCHEMA, table: staged.staging, columns }
    for (const row of rows) row[tags] = new JsonText(String(row[tags]))
    await bulkLoad(this.#database, target, [rows], { signal: this.#signal })
  }
}
