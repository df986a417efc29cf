import type { OvertureImportArea } from '@terrane/contracts'
import { readAoi, type Aoi } from '@terrane/core'
import { JsonText, bulkLoad } from '@terrane/database/bulk-load'
import { createImportTables, type ImportShape } from '@terrane/database/imports'
import { STAGING_SCHEMA, stagedTable, type StagedTable } from '@terrane/database/staging'
import {
  DecodeThread,
  columnsOf,
  findRelease,
  planType,
  readRuns,
  type DecodedRows,
  type OvertureColumn,
  type Run,
  type Traffic,
  type TypePlan,
} from '@terrane/overture'
import { identityOf } from '../identity.ts'
import { Lanes } from '../lanes.ts'
import { LOADED, type Identity, type JobContext } from '../task.ts'
import { SCHEMA } from '../import-names.ts'
import { multiFamilies, nameOf, requestedTypes, shapeOf, tableOf, tablesOf, type TablePlan } from './targets.ts'

const LOADS_AT_ONCE = 3
const BATCH_ROWS = 4000

export interface OvertureSettings {
  /** STAC catalogue that names the latest release. */
  readonly catalogueUrl: string
  readonly maxAreaKm2: number
  readonly maxVertices: number
}

/** A table of the import: its columns and its staging table. */
export interface Target {
  readonly table: TablePlan
  readonly staged: StagedTable
  readonly shape: ImportShape
}

/** Checkpoint: contents of the staging tables, as JSON. */
interface Loaded {
  readonly targets: readonly Omit<Target, 'staged'>[]
  readonly rows: number
  readonly traffic: Traffic
  /** Number of runs of row groups that are loaded, in the order of the plan. */
  readonly runs: number
  /** The source's entry in the record, once all is loaded. */
  readonly source: Readonly<Record<string, unknown>> | null
}

/** Contents of the staging tables, and their source. */
interface LoadedTables {
  readonly source: Readonly<Record<string, unknown>>
  readonly targets: readonly Target[]
}

/** Loads the features that touch the area into staging tables; skips features of an earlier run. */
export class Loading {
  readonly #input: OvertureImportArea
  readonly #settings: OvertureSettings
  readonly #context: JobContext
  readonly #aoi: Aoi
  readonly #traffic: Traffic = { requests: 0, bytes: 0 }
  readonly #targets: Target[] = []
  readonly #lanes: Lanes
  #bytesRead = 0
  #rows = 0
  /** Number of loaded sequences of row groups, including those of earlier runs of the job. */
  #runs = 0

  constructor(input: OvertureImportArea, settings: OvertureSettings, context: JobContext) {
    this.#input = input
    this.#settings = settings
    this.#context = context
    this.#aoi = readAoi(input.aoiGeoJson, settings)
    this.#lanes = new Lanes(context.project.database.capabilities.parallel ? LOADS_AT_ONCE : 1)
  }

  async run(): Promise<LoadedTables> {
    const loaded = await this.#context.checkpoint.take<Loaded>(LOADED)
    if (loaded) this.#goOn(loaded)
    const source = loaded?.source ?? (await this.#loadAll())
    return { source, targets: this.#targets }
  }

  /** Loads all tables; returns the source's entry in the record. */
  async #loadAll(): Promise<Readonly<Record<string, unknown>>> {
    const { fetch, signal, checkpoint } = this.#context
    const release = await findRelease(fetch, this.#settings.catalogueUrl, this.#input.release, signal)
    const source = { fetch, traffic: this.#traffic, signal }
    const plans: TypePlan[] = []
    for (const type of requestedTypes(this.#input)) {
      this.#report('plan', plans.length, null, 'types')
      plans.push(await planType(source, release, type, this.#aoi))
    }
    const runs = plans.flatMap((plan) => plan.runs)
    const places = runs.map(({ file: { file }, start, end }) => [file.url, file.version, file.size, start, end])
    const identity = identityOf([], release.release, places)
    const kept = await checkpoint.take<Loaded>(identity)
    if (kept) this.#goOn(kept)
    else await checkpoint.clear()
    this.#bytesRead = bytesOf(runs.slice(0, this.#runs))
    const total = bytesOf(runs)
    try {
      await using thread = new DecodeThread(this.#aoi)
      let first = 0
      for (const plan of plans) {
        const left = plan.runs.slice(Math.max(0, this.#runs - first))
        first += plan.runs.length
        await this.#importType({ ...plan, runs: left }, thread, { total, identity })
      }
      await this.#lanes.finish()
    } finally {
      // The staging tables can be dropped only when no load is running.
      await this.#lanes.settle()
    }
    const record = {
      provider: 'Overture Maps Foundation',
      release: release.release,
      files: sum(plans.map(({ files }) => files.length)),
      row_groups: sum(runs.map(({ groups }) => groups.length)),
      requests: this.#traffic.requests,
      bytes_read: this.#traffic.bytes,
      selected_bytes: total,
    }
    if (checkpoint.isThere || checkpoint.isDue) await checkpoint.keep(LOADED, this.#loaded(record))
    return record
  }

  #goOn({ targets, rows, runs, traffic }: Loaded): void {
    this.#rows = rows
    this.#runs = runs
    this.#traffic.requests += traffic.requests
    this.#traffic.bytes += traffic.bytes
    for (const { table, shape } of targets) this.#targets.push({ table, shape, staged: this.#nextStaged(table) })
    this.#report('import', this.#bytesRead, null, 'bytes', `going on after ${rows} rows of an earlier run`)
  }

  #loaded(source: Loaded['source'] = null): Loaded {
    const targets = this.#targets.map(({ table, shape }) => ({ table, shape }))
    return { targets, rows: this.#rows, traffic: this.#traffic, runs: this.#runs, source }
  }

  async #importType(
    { type, files, runs }: TypePlan,
    thread: DecodeThread,
    { total, identity }: { readonly total: number; readonly identity: Identity },
  ): Promise<void> {
    const { checkpoint } = this.#context
    const columns = columnsOf(files.map(({ schema }) => schema))
    for (const table of tablesOf(type)) await this.#targetOf(table, columns)
    for await (const { rows, finished } of readRuns(runs, thread, { columns, multi: multiFamilies(type) })) {
      for (const decoded of rows) await this.#load(type, columns, decoded)
      if (finished === null) continue
      this.#runs++
      this.#bytesRead += finished.end - finished.start
      this.#report('import', this.#bytesRead, total, 'bytes')
      if (!checkpoint.isDue) continue
      await this.#lanes.finish()
      await checkpoint.keep(identity, this.#loaded(), { rowsFollow: true })
    }
  }

  /** The target of a table's rows; created when missing. */
  async #targetOf(table: TablePlan, columns: readonly OvertureColumn[]): Promise<Target> {
    const known = this.#targets.find((target) => target.table.suffix === table.suffix)
    if (known) return known
    const target = { table, staged: this.#nextStaged(table), shape: shapeOf(table, columns) }
    this.#targets.push(target)
    await createImportTables(this.#context.project.database, [target])
    return target
  }

  #nextStaged(table: TablePlan): StagedTable {
    const staged = stagedTable(this.#context.run, this.#targets.length, SCHEMA, nameOf(this.#input, table))
    return { ...staged, replaces: this.#input.mode === 'replace' }
  }

  async #load(type: string, columns: readonly OvertureColumn[], { family, geometries, columns: values }: DecodedRows) {
    const { signal, project } = this.#context
    const target = await this.#targetOf(tableOf(type, family), columns)
    const rows = geometries.map((geometry, row) => [
      ...columns.map((column, i) => {
        const value = values[i]![row]
        return column.type === 'jsonb' && value !== null ? new JsonText(value as string) : value
      }),
      geometry,
    ])
    this.#rows += rows.length
    const place = { schema: STAGING_SCHEMA, table: target.staged.staging, columns: target.shape.columns }
    const batches = Array.from({ length: Math.ceil(rows.length / BATCH_ROWS) }, (_, i) =>
      rows.slice(i * BATCH_ROWS, (i + 1) * BATCH_ROWS),
    )
    await this.#lanes.start(() => bulkLoad(project.database, place, batches, { signal }))
  }

  #report(phase: string, done: number, total: number | null, unit: string, message?: string): void {
    const text = message ?? (phase === 'import' ? `${this.#rows} rows` : undefined)
    this.#context.progress({ phase, done, total, unit, ...(text === undefined ? {} : { message: text }) })
  }
}

function bytesOf(runs: readonly Run[]): number {
  return sum(runs.map(({ start, end }) => end - start))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0)
}
