import type { Database } from '@terrane/database'
import { bulkLoad, JsonText } from '@terrane/database/bulk-load'
import { STAGING_SCHEMA } from '@terrane/database/staging'
import type { RowSink } from '@terrane/osm'
import { Lanes } from '../lanes.ts'
import type { Target } from './targets.ts'

/** Concurrent loads on a server; the embedded database has one session only. */
const LOADS_AT_ONCE = 3

/** Loads the rows of an import into staging tables, several batches at a time; the import waits meanwhile. */
export class StagingSink implements RowSink {
  readonly #database: Database
  readonly #targets: readonly Target[]
  readonly #signal: AbortSignal
  readonly #lanes: Lanes

  constructor(database: Database, targets: readonly Target[], signal: AbortSignal) {
    this.#database = database
    this.#targets = targets
    this.#signal = signal
    this.#lanes = new Lanes(database.capabilities.parallel ? LOADS_AT_ONCE : 1)
  }

  write(table: number, rows: readonly unknown[][]): Promise<void> {
    return this.#lanes.start(() => this.#load(table, rows))
  }

  /** Runs another load in one of the lanes. */
  also(load: () => Promise<unknown>): Promise<void> {
    return this.#lanes.start(load)
  }

  /** Waits until no load is running, whether loads succeeded or not. */
  settle(): Promise<void> {
    return this.#lanes.settle()
  }

  /** Waits for the running loads; throws when any load failed. */
  finish(): Promise<void> {
    return this.#lanes.finish()
  }

  async #load(table: number, rows: readonly unknown[][]): Promise<void> {
    const { staged, table: shape } = this.#targets[table]!
    const { columns } = shape
    const texts = columns.flatMap(({ type }, i) => (type === 'jsonb' ? [i] : []))
    const target = { schema: STAGING_SCHEMA, table: staged.staging, columns }
    for (const row of rows) {
      for (const i of texts) {
        const text = row[i]
        if (typeof text === 'string') row[i] = new JsonText(text)
      }
    }
    await bulkLoad(this.#database, target, [rows], { signal: this.#signal })
  }
}
