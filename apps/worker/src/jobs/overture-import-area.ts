import { OvertureImportArea } from '@terrane/contracts'
import { readAoi, type Aoi } from '@terrane/core'
import {
  JsonText,
  STAGING_SCHEMA,
  bulkLoad,
  createImportTables,
  finishImportTable,
  measureImport,
  registerImport,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  type ImportShape,
  type StagedTable,
} from '@terrane/database'
import { Lanes } from './lanes.ts'
import { tableNameTooLong } from './osm/errors.ts'
import { slug } from './osm/names.ts'
import { columnsOf, type OvertureColumn } from './overture/columns.ts'
import type { DecodedRows } from './overture/decode-group.ts'
import { DecodeThread } from './overture/decode-thread.ts'
import { noTypes } from './overture/errors.ts'
import { planType, type Run, type TypePlan } from './overture/plan.ts'
import { findRelease } from './overture/releases.ts'
import type { Traffic } from './overture/remote-file.ts'
import { multiFamilies, shapeOf, tableOf, tablesOf, type TablePlan } from './overture/targets.ts'
import { OVERTURE_TYPES, typesOf } from './overture/types.ts'
import { emptyTables } from './empty-tables.ts'
import type { JobContext, Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

const SCHEMA = 'public'
const TERMS = 'https://docs.overturemaps.org/attribution/'
/** Range reads on their way while earlier ones are decoded and loaded. */
const READS_AHEAD = 3
const LOADS_AT_ONCE = 3
const BATCH_ROWS = 4000

export interface OvertureSettings {
  /** STAC catalogue that names the latest release. */
  readonly catalogueUrl: string
  readonly maxAreaKm2: number
  readonly maxVertices: number
}

/** Imports the Overture features of an area into one table per type and geometry family. */
export function overtureImportArea(settings: OvertureSettings): Task {
  return {
    name: 'overtureImportArea',
    summary: 'Import Overture Maps data of an area',
    description:
      'Puts the Overture features that touch an area into tables `{tablePrefix}_{type}`: scalar columns, nested ones as ' +
      'jsonb, the GERS id as primary key and a geometry in EPSG:4326. Types that mix geometries get one table per family. ' +
      'The tables must not exist; they appear together or not at all.',
    body: OvertureImportArea,
    expireSeconds: 6 * 3600,
    async checkSubmit(raw, { project }) {
      const input = raw as OvertureImportArea
      readAoi(input.aoiGeoJson, settings)
      for (const table of requestedTypes(input).flatMap(tablesOf)) {
        const name = nameOf(input, table)
        if (await relationExists(project.database, SCHEMA, name)) throw tableExists({ schema: SCHEMA, table: name })
      }
    },
    run: (raw, context) => new Import(raw as OvertureImportArea, settings, context).run(),
  }
}

/** @throws NO_TYPES */
function requestedTypes(input: OvertureImportArea): string[] {
  const types = typesOf(input.topics ?? [], input.types ?? [])
  if (types.length === 0) throw noTypes()
  return types
}

/** @throws TABLE_NAME_TOO_LONG */
function nameOf(input: OvertureImportArea, { suffix }: TablePlan): string {
  const name = `${input.tablePrefix ?? slug(input.areaName)}_${suffix}`
  if (name.length > 63) throw tableNameTooLong({ name })
  return name
}

/** One table that was made, as the job's result shows it. */
interface TableResult {
  readonly schema: string
  readonly name: string
  readonly type: string
  readonly rows: number
  readonly geometry_type: string
  readonly srid: number
  readonly bbox: readonly number[] | null
}

/** A table on its way from the staging schema to its place. */
interface Target {
  readonly table: TablePlan
  readonly staged: StagedTable
  readonly shape: ImportShape
}

/** One run of the task. */
class Import {
  readonly #input: OvertureImportArea
  readonly #settings: OvertureSettings
  readonly #context: JobContext
  readonly #aoi: Aoi
  readonly #started = performance.now()
  readonly #traffic: Traffic = { requests: 0, bytes: 0 }
  readonly #targets: Target[] = []
  readonly #lanes: Lanes
  #bytesRead = 0
  #rows = 0

  constructor(input: OvertureImportArea, settings: OvertureSettings, context: JobContext) {
    this.#input = input
    this.#settings = settings
    this.#context = context
    this.#aoi = readAoi(input.aoiGeoJson, settings)
    this.#lanes = new Lanes(context.project.database.capabilities.parallel ? LOADS_AT_ONCE : 1)
  }

  async run(): Promise<Readonly<Record<string, unknown>>> {
    const { fetch, signal } = this.#context
    const release = await findRelease(fetch, this.#settings.catalogueUrl, this.#input.release, signal)
    const plans: TypePlan[] = []
    for (const type of requestedTypes(this.#input)) {
      this.#report('plan', plans.length, null, 'types')
      plans.push(await planType(fetch, release, type, this.#aoi, this.#traffic, signal))
    }
    const total = sum(plans.flatMap(({ runs }) => runs.map(({ start, end }) => end - start)))
    try {
      await using thread = new DecodeThread(this.#aoi)
      for (const plan of plans) await this.#importType(plan, thread, total)
      await this.#lanes.finish()
    } finally {
      // The staging tables can be dropped only when nothing writes into them any more.
      await this.#lanes.settle()
    }
    return this.#finish({
      provider: 'Overture Maps Foundation',
      release: release.release,
      files: sum(plans.map(({ files }) => files.length)),
      row_groups: sum(plans.flatMap(({ runs }) => runs.map(({ groups }) => groups.length))),
      requests: this.#traffic.requests,
      bytes_read: this.#traffic.bytes,
      selected_bytes: total,
    })
  }

  async #importType({ type, files, runs }: TypePlan, thread: DecodeThread, total: number): Promise<void> {
    const columns = columnsOf(files.map(({ schema }) => schema))
    for (const table of tablesOf(type)) await this.#addTarget(table, columns)
    for await (const { run, bytes } of this.#read(runs)) {
      for (const place of run.groups) {
        const { file, footer } = run.file
        const request = {
          url: file.url,
          footer,
          fileSize: file.size,
          place,
          bytes: bytes.slice(place.start - run.start, place.end - run.start),
          columns,
          multi: multiFamilies(type),
        }
        const name = new URL(file.url).pathname.split('/').at(-1)!
        for (const decoded of await thread.decode(request, name)) await this.#load(type, columns, decoded)
      }
      this.#bytesRead += run.end - run.start
      this.#report('import', this.#bytesRead, total, 'bytes')
    }
  }

  /** The bytes of runs in order, some of them read ahead. */
  async *#read(runs: readonly Run[]): AsyncGenerator<{ run: Run; bytes: Uint8Array<ArrayBuffer> }> {
    const { signal } = this.#context
    const ahead: Promise<Uint8Array<ArrayBuffer>>[] = []
    try {
      for (const [i, run] of runs.entries()) {
        for (let next = i + ahead.length; next < runs.length && ahead.length < READS_AHEAD; next++) {
          const { file, start, end } = runs[next]!
          ahead.push(file.file.read(start, end, signal))
        }
        yield { run, bytes: await ahead.shift()! }
      }
    } finally {
      await Promise.allSettled(ahead)
    }
  }

  async #addTarget(table: TablePlan, columns: readonly OvertureColumn[]): Promise<Target> {
    const { run, project } = this.#context
    const staged = stagedTable(run, this.#targets.length, SCHEMA, nameOf(this.#input, table))
    const target = { table, staged, shape: shapeOf(table, columns) }
    this.#targets.push(target)
    await createImportTables(project.database, [{ staged, shape: target.shape }])
    return target
  }

  async #load(type: string, columns: readonly OvertureColumn[], { family, geometries, columns: values }: DecodedRows) {
    const { signal, project } = this.#context
    const table = tableOf(type, family)
    const target =
      this.#targets.find((candidate) => candidate.table.suffix === table.suffix) ??
      (await this.#addTarget(table, columns))
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

  /** Indexes the tables and swaps them in. */
  async #finish(source: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const { run, project, signal } = this.#context
    const { database } = project
    const tables: TableResult[] = []
    for (const [i, { table, staged, shape }] of this.#targets.entries()) {
      signal.throwIfAborted()
      this.#report('indexes', i, this.#targets.length, 'tables', `indexing ${staged.table}`)
      const { attribution, licence } = OVERTURE_TYPES[table.type]!
      const comment = `Overture Maps ${table.type} of ${this.#input.areaName}, release ${String(source['release'])}. ${attribution}, ${licence}: ${TERMS}`
      await finishImportTable(database, staged, shape, comment)
      const measured = await measureImport(database, staged)
      tables.push({
        schema: SCHEMA,
        name: staged.table,
        type: table.type,
        ...measured,
        geometry_type: table.geometryType,
        srid: 4326,
      })
    }
    const warnings = acceptWarnings(this.#input.strict, emptyTables(tables))
    const attributions = [...new Set(this.#targets.map(({ table }) => OVERTURE_TYPES[table.type]!.attribution))]
    const result = {
      tables,
      source,
      attribution: attributions.join('; '),
      seconds: Math.round((performance.now() - this.#started) / 100) / 10,
      warnings,
    }
    const staged = this.#targets.map((target) => target.staged)
    await swapIn(database, run, staged, result, async (session) => {
      for (const [i, { rows, bbox, type }] of tables.entries()) {
        const { attribution, licence } = OVERTURE_TYPES[type]!
        const record = { jobId: run.jobId, task: 'overtureImportArea', source, attribution, licence, rows, bbox }
        await registerImport(session, staged[i]!, record)
      }
    })
    return result
  }

  #report(phase: string, done: number, total: number | null, unit: string, message?: string): void {
    const text = message ?? (phase === 'import' ? `${this.#rows} rows` : undefined)
    this.#context.progress({ phase, done, total, unit, ...(text === undefined ? {} : { message: text }) })
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0)
}
