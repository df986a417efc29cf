import { Ogr2ogrImport, type JobWarning } from '@terrane/contracts'
import type { Queryable } from '@terrane/database'
import { finishImportTable, isFinishedImportTable, registerImport } from '@terrane/database/imports'
import { relationExists, stagedTable, swapIn, tableExists } from '@terrane/database/staging'
import { chooseLayers, sourceSridOf, tableNamesOf, withSystems } from './file-import/choose-layers.ts'
import { checkTypes } from './file-import/column-names.ts'
import { codeOfName } from './file-import/final-type.ts'
import { fileMissing, schemaNotFound, targetMissing } from './file-import/errors.ts'
import { writeSource } from './file-import/file-source.ts'
import {
  columnNames,
  describeOrigin,
  describeTable,
  explained,
  refuseEmpty,
  shapeOf,
  type FinishedTable,
  type LoadedTable,
} from './file-import/describe-import.ts'
import { LayerTable } from './file-import/layer-table.ts'
import { mostBytesOf } from './file-import/most-bytes.ts'
import type { PackNote } from './file-import/row-packer.ts'
import {
  conversionFailed,
  type Engine,
  type LayerSchema,
  type OpenedFile,
  openFile,
  readerProcesses,
  sridOf,
  type StartReader,
} from '@terrane/files'
import { identityOf } from './identity.ts'
import { checkStoredObject } from './stored-object.ts'
import { requireWritable } from './open-schemas.ts'
import { LOADED, type Identity, type JobContext, type Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

const DEFAULT_SRS = 'EPSG:4326'
/** Starts processes without privileges that read files and encode rows for COPY. */
const startPackingReader = readerProcesses({ program: new URL('./file-import/read.worker.ts', import.meta.url) })

export interface OgrSettings {
  readonly engine: Engine
  /** Starts the reader of a file, which packs its rows; by default a confined process. */
  readonly startReader?: StartReader
  /** Maximum size of a file; an archive may contain four times as much. */
  readonly maxBytes: number
  /** Schemas besides `public` that tables may go into. */
  readonly openSchemas?: readonly string[]
}

/** Imports the layers of a file into tables. */
export function ogr2ogrImport(settings: OgrSettings): Task {
  return {
    name: 'ogr2ogrImport',
    summary: 'Import a file of features',
    description:
      'Puts the layers of a file into tables: of GeoJSON, TopoJSON, GeoPackage, FlatGeobuf, GeoParquet, Arrow, CSV, XLSX, KML, ' +
      'GML, GPX, GeoRSS, OpenStreetMap XML, Esri JSON, SpatiaLite, DXF, DGN and others, plain, in gzip, zip or tar, and of archives of a ' +
      'Shapefile, of MapInfo files or of a file geodatabase. The format is found from the content, not from the name. A file with one layer becomes tableName, one with several a ' +
      'table {tableName}_{layer} for each that is not empty. Tables appear together or not at all; what cannot be kept is ' +
      'counted in warnings.',
    body: Ogr2ogrImport,
    expireSeconds: 6 * 3600,
    version: 2,
    async checkSubmit(raw, { project, checkUrl }) {
      const input = raw as Ogr2ogrImport
      const { fileUrl, url, storagePath } = input
      if ([fileUrl, url, storagePath].filter((source) => source !== undefined).length !== 1) throw fileMissing()
      if (fileUrl !== undefined) checkUrl(fileUrl, '/fileUrl')
      if (url !== undefined) checkUrl(url, '/url')
      requireWritable(input.schema ?? 'public', settings.openSchemas ?? [])
      await checkTarget(project.database, input)
      if (storagePath) await checkStoredObject(project.store, storagePath, settings.maxBytes)
    },
    run: (raw, context) => new Import(raw as Ogr2ogrImport, settings, context).run(),
  }
}

/** @throws SCHEMA_NOT_FOUND, TABLE_EXISTS, TABLE_NOT_FOUND */
async function checkTarget(database: Queryable, input: Ogr2ogrImport): Promise<void> {
  const { schema = 'public', tableName, mode = 'create' } = input
  const { rowCount } = await database.query('select 1 from pg_namespace where nspname = $1', [schema])
  if (!rowCount) throw schemaNotFound({ schema })
  const exists = await relationExists(database, schema, tableName)
  if (mode === 'create' && exists) throw tableExists({ schema, table: tableName, field: 'tableName' })
  if (mode === 'append' && !exists) throw targetMissing({ schema, table: tableName })
}

/** Checkpoint after all rows are in the staging tables, as JSON. */
interface Loaded {
  readonly tables: readonly LoadedTable[]
  readonly layerNames: readonly string[]
  /** Warnings that do not concern a single table. */
  readonly warnings: readonly JobWarning[]
}

/** Layers that an import reads, and their target tables. */
interface Loading {
  /** Numbers of the layers. */
  readonly chosen: readonly number[]
  readonly tables: readonly LayerTable[]
  readonly identity: Identity
}

/** One run of the task. */
class Import {
  readonly #input: Ogr2ogrImport
  readonly #settings: OgrSettings
  readonly #context: JobContext

  constructor(input: Ogr2ogrImport, settings: OgrSettings, context: JobContext) {
    this.#input = input
    this.#settings = settings
    this.#context = context
  }

  async run(): Promise<Readonly<Record<string, unknown>>> {
    const kept = await this.#context.checkpoint.take<Loaded>(LOADED)
    if (kept) this.#goesOn(sum(kept.tables.map(({ rows }) => rows)))
    const loaded = kept ?? (await this.#loadAll())
    const tables = await this.#openTables(loaded.tables.map(({ layer }) => layer))
    const finished = await this.#finishTables(loaded, tables)
    const warnings = [...loaded.warnings, ...finished.flatMap((table) => table.warnings)]
    refuseEmpty(finished, loaded.layerNames, warnings)
    return this.#publish(finished, acceptWarnings(this.#input.strict, warnings))
  }

  /** Reads the file and loads its layers. Rows of the same file that an earlier run has loaded are not loaded again. */
  async #loadAll(): Promise<Loaded> {
    const { checkpoint } = this.#context
    await using file = await this.#openFile()
    const wanted = chooseLayers(file.layers, this.#input.layer)
    const chosen = withSystems(file.layers, wanted, this.#input, file.notes)
    const layers = chosen.map((index) => file.layers[index]!)
    checkTypes(this.#input.types, layers)
    const identity = identityOf(file.files, layers)
    const kept = await checkpoint.take<readonly number[]>(identity)
    if (kept) this.#goesOn(sum(kept))
    else await checkpoint.clear()
    const tables = await this.#openTables(layers, kept ?? [])
    if (!kept) for (const table of tables) await table.create()
    try {
      await this.#load(file, { chosen, tables, identity })
    } finally {
      // The staging tables can be dropped only when no load is running.
      await Promise.all(tables.map((table) => table.settle()))
    }
    const loaded: Loaded = {
      tables: tables.map((table, i) => {
        const { layer, rows } = table
        const lost = file.lostOf(chosen[i]!, this.#input.limit ?? Infinity, table.warnings)
        const rejected = table.rejected + lost
        return { layer, rows, rejected, warnings: table.warnings.take(layer.name), contents: null }
      }),
      layerNames: file.layerNames,
      warnings: [...file.warnings],
    }
    if (checkpoint.isThere || checkpoint.isDue) await checkpoint.keep(LOADED, loaded)
    return loaded
  }

  #openFile(): Promise<OpenedFile> {
    const { engine, startReader = startPackingReader, maxBytes } = this.#settings
    const { workdir, signal, fetch, project } = this.#context
    const onBytes = (done: number, total: number | null) =>
      this.#context.progress({ phase: 'download', done, total, unit: 'bytes' })
    const deps = { fetch, store: project.store, signal, onBytes }
    const source = (path: string) => writeSource(this.#input, maxBytes, deps, path)
    return openFile(source, { ...this.#input, workdir, signal, maxBytes, engine, startReader })
  }

  #goesOn(rows: number): void {
    const message = `going on after ${rows} rows of an earlier run`
    this.#context.progress({ phase: 'import', done: rows, total: null, unit: 'features', message })
  }

  /** The staging tables of layers. @param loaded rows that each has already */
  async #openTables(layers: readonly LayerSchema[], loaded: readonly number[] = []): Promise<LayerTable[]> {
    const { run, project } = this.#context
    const { schema = 'public', mode = 'create', geometryType = 'auto', promoteToMulti = true } = this.#input
    const names = tableNamesOf(this.#input, layers)
    const tables: LayerTable[] = []
    for (const [i, layer] of layers.entries()) {
      const name = names[i]!
      const exists = await relationExists(project.database, schema, name)
      if (mode === 'create' && exists) throw tableExists({ schema, table: name })
      if (mode === 'append' && !exists) throw targetMissing({ schema, table: name })
      const staged = { ...stagedTable(run, i, schema, name), replaces: mode === 'replace' }
      const options = {
        promoteToMulti,
        onlyCode: codeOfName(geometryType),
        sourceSrid: sourceSridOf(layer, this.#input.sourceSrs, layers),
        targetSrid: sridOf(this.#input.targetSrs ?? DEFAULT_SRS),
        fields: this.#input.fields ?? null,
        limit: this.#input.limit ?? Infinity,
        loaded: loaded[i] ?? 0,
      }
      tables.push(new LayerTable(project.database, staged, layer, options))
    }
    return tables
  }

  async #load(file: OpenedFile, { chosen, tables, identity }: Loading): Promise<void> {
    const { signal, checkpoint } = this.#context
    const mostBytes = mostBytesOf(file.bytes, this.#settings.maxBytes)
    const total = sum(tables.map(({ layer }) => layer.rows))
    let bytes = 0
    for await (const packed of file.encode(chosen.map((layer, i) => ({ layer, plan: tables[i]!.plan })))) {
      signal.throwIfAborted()
      bytes += (packed.note as PackNote | null)?.weight ?? 0
      if (bytes > mostBytes) throw conversionFailed({ reason: `its rows take more than ${mostBytes} bytes` })
      await tables[chosen.indexOf(packed.layer)]!.load(packed, signal)
      this.#context.progress({ phase: 'import', done: sum(tables.map(({ rows }) => rows)), total, unit: 'features' })
      if (!checkpoint.isDue || tables.some((one) => one.isBehind)) continue
      for (const one of tables) await one.flush()
      const rows = tables.map((one) => one.rows)
      await checkpoint.keep(identity, rows, { rowsFollow: true })
    }
    for (const table of tables) await table.flush()
  }

  /** Converts each table to its final types, in one transaction with the checkpoint that records it. */
  async #finishTables(loaded: Loaded, tables: readonly LayerTable[]): Promise<FinishedTable[]> {
    const { project, signal, checkpoint } = this.#context
    const states = [...loaded.tables]
    const finished: FinishedTable[] = []
    for (const [i, table] of tables.entries()) {
      signal.throwIfAborted()
      this.#context.progress({ phase: 'indexes', done: i, total: tables.length, unit: 'tables' })
      const state = states[i]!
      table.rows = state.rows
      table.rejected = state.rejected
      const contents =
        state.contents ??
        (await project.database.transaction(async (session) => {
          const made = await table.finish(session)
          const { rows, rejected, layer } = table
          const warnings = [...state.warnings, ...table.warnings.take(layer.name)]
          states[i] = { layer, rows, rejected, warnings, contents: made }
          if (checkpoint.isThere) await checkpoint.keep(LOADED, { ...loaded, tables: states }, { session })
          return made
        }))
      finished.push({ ...states[i]!, table, contents })
    }
    return finished
  }

  /** Indexes the tables and swaps them in. */
  async #publish(
    finished: readonly FinishedTable[],
    warnings: readonly JobWarning[],
  ): Promise<Readonly<Record<string, unknown>>> {
    const { run, project } = this.#context
    const { database } = project
    const isAppend = this.#input.mode === 'append'
    const origin = describeOrigin(this.#input)
    const tables = finished.map(describeTable)
    const rows = sum(tables.map((table) => table.rows))
    const result = { ...(tables.length === 1 && tables[0]), tables, rows, warnings }
    const appends: string[] = []
    for (const { table } of finished) {
      const { schema, table: name } = table.staged
      const comment = `Imported from ${origin.name}, layer ${table.layer.name}.`
      if (isAppend) appends.push(table.appendSql(schema, name, await columnNames(database, schema, name)))
      else if (!(await isFinishedImportTable(database, table.staged))) {
        await finishImportTable(database, table.staged, shapeOf(table), comment)
      }
    }
    const staged = finished.map(({ table }) => table.staged)
    try {
      await swapIn(database, run, isAppend ? [] : staged, result, async (session) => {
        for (const sql of appends) await session.query(sql)
        for (const { table, contents } of finished) {
          const about = { jobId: run.jobId, task: 'ogr2ogrImport', source: origin, attribution: '', licence: '' }
          await registerImport(session, table.staged, { ...about, rows: table.rows, bbox: contents.bbox })
        }
      })
    } catch (cause) {
      throw explained(cause, tables.map(({ table }) => table).join(', '))
    }
    return result
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0)
}
