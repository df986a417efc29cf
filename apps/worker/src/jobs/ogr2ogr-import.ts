import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Ogr2ogrImport, type JobWarning } from '@terrane/contracts'
import {
  finishImportTable,
  registerImport,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  type Queryable,
} from '@terrane/database'
import { chooseLayers, sourceSridOf, sridOf, tableNamesOf } from './ogr/choose-layers.ts'
import type { Engine } from './ogr/engine.ts'
import {
  appendFailed,
  conversionFailed,
  fileMissing,
  nothingImported,
  schemaNotFound,
  targetMissing,
} from './ogr/errors.ts'
import { codeOfName } from './ogr/final-type.ts'
import { LayerTable, type Contents } from './ogr/layer-table.ts'
import { obtainDatasets } from './ogr/obtain/obtain-file.ts'
import { DEFAULT_SRS } from './ogr/open-dataset.ts'
import { openDatasets } from './ogr/open-datasets.ts'
import type { LayerSource } from './ogr/feature-stream.ts'
import { checkStoredObject } from './stored-object.ts'
import { requireWritable } from './open-schemas.ts'
import type { JobContext, Task } from './task.ts'
import { Warnings, acceptWarnings } from './warnings.ts'

/** A view in a file can make rows without end. */
const MOST_GROWTH = 100
const MOST_OF_LIMIT = 16
const ALWAYS_ALLOWED_BYTES = 2 ** 28

export interface OgrSettings {
  readonly engine: Engine
  /** Largest file; an archive may hold four times as much. */
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
      'GML, GPX, DXF and others, plain, in gzip, zip or tar, and of archives of a Shapefile, of MapInfo files or of a file ' +
      'geodatabase. What a file is, its content decides. A file with one layer becomes tableName, one with several a ' +
      'table {tableName}_{layer} for each that is not empty. Tables appear together or not at all; what cannot be kept is ' +
      'counted in warnings.',
    body: Ogr2ogrImport,
    expireSeconds: 6 * 3600,
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
  if (mode === 'create' && exists) throw tableExists({ schema, table: tableName })
  if (mode === 'append' && !exists) throw targetMissing({ schema, table: tableName })
}

interface FinishedTable {
  readonly table: LayerTable
  readonly contents: Contents
  readonly rejected: number
}

/** One run of the task. */
class Import {
  readonly #input: Ogr2ogrImport
  readonly #settings: OgrSettings
  readonly #context: JobContext
  readonly #warnings = new Warnings()

  constructor(input: Ogr2ogrImport, settings: OgrSettings, context: JobContext) {
    this.#input = input
    this.#settings = settings
    this.#context = context
  }

  async run(): Promise<Readonly<Record<string, unknown>>> {
    const { engine, maxBytes } = this.#settings
    const { datasets, skipped } = await obtainDatasets(this.#input, maxBytes, this.#context)
    if (skipped.length > 0) {
      const message = 'Files of the archive are no data of a format that is known, and were left out.'
      this.#warnings.add('FILES_SKIPPED', message, skipped.length, skipped)
    }
    const mostBytes = await this.#mostBytes()
    await using opened = await openDatasets(datasets, engine, this.#input, this.#context)
    const { reading } = opened
    const chosen = chooseLayers(reading.layers, this.#input.layer)
    const tables = await this.#makeTables(reading, chosen)
    try {
      await this.#load(reading, chosen, tables, mostBytes)
      const finished: FinishedTable[] = []
      for (const [i, table] of tables.entries()) {
        this.#context.progress({ phase: 'indexes', done: i, total: tables.length, unit: 'tables' })
        const contents = await table.finish()
        const lost = opened.lostOf(chosen[i]!, this.#input.limit ?? Infinity, table.warnings)
        finished.push({ table, contents, rejected: table.rejected + lost })
      }
      const ofLayers = tables.flatMap(({ warnings, layer }) => warnings.list(layer.name))
      const warnings = [...this.#warnings.list(), ...opened.notes, ...reading.warnings, ...ofLayers]
      refuseEmpty(finished, opened.layerNames, warnings)
      return await this.#finish(finished, acceptWarnings(this.#input.strict, warnings))
    } catch (error) {
      // The staging tables can be dropped only when nothing writes into them any more.
      await Promise.all(tables.map((table) => table.settle()))
      throw error
    }
  }

  /** Makes the staging tables of the layers. */
  async #makeTables(reading: LayerSource, chosen: readonly number[]): Promise<LayerTable[]> {
    const { run, project } = this.#context
    const { schema = 'public', mode = 'create', geometryType = 'auto', promoteToMulti = true } = this.#input
    const layers = chosen.map((index) => reading.layers[index]!)
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
        sourceSrid: sourceSridOf(layer, this.#input.sourceSrs),
        targetSrid: sridOf(this.#input.targetSrs ?? DEFAULT_SRS),
        fields: this.#input.fields ?? null,
        limit: this.#input.limit ?? Infinity,
      }
      const table = new LayerTable(project.database, staged, layer, options)
      await table.create()
      tables.push(table)
    }
    return tables
  }

  async #load(
    reading: LayerSource,
    chosen: readonly number[],
    tables: readonly LayerTable[],
    mostBytes: number,
  ): Promise<void> {
    const { signal } = this.#context
    const total = sum(tables.map(({ layer }) => layer.rows))
    let bytes = 0
    for await (const { layer, batch } of reading.read(chosen)) {
      signal.throwIfAborted()
      bytes += batch.geometry.length + batch.rows * 8
      if (bytes > mostBytes) throw conversionFailed({ reason: `its rows take more than ${mostBytes} bytes` })
      const table = tables[chosen.indexOf(layer)]!
      if (!table.isComplete) await table.write(batch, signal)
      else if (tables.every(({ isComplete }) => isComplete)) break
      this.#context.progress({ phase: 'import', done: sum(tables.map(({ rows }) => rows)), total, unit: 'features' })
    }
  }

  /** Most bytes that the rows may take. */
  async #mostBytes(): Promise<number> {
    const folder = join(this.#context.workdir, 'data')
    let size = 0
    for (const name of await readdir(folder, { recursive: true })) size += (await stat(join(folder, name))).size
    return Math.max(ALWAYS_ALLOWED_BYTES, Math.min(size * MOST_GROWTH, this.#settings.maxBytes * MOST_OF_LIMIT))
  }

  async #finish(
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
      else await finishImportTable(database, table.staged, shapeOf(table), comment)
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

function describeTable({ table, contents, rejected }: FinishedTable) {
  return {
    table: `${table.staged.schema}.${table.staged.table}`,
    rows: table.rows,
    rejected,
    geometry_type: contents.geometryType,
    srid: contents.srid,
    bbox: contents.bbox,
    columns: table.columns,
    layer: table.layer.name,
  }
}

/** @throws NOTHING_IMPORTED */
function refuseEmpty(
  finished: readonly FinishedTable[],
  layers: readonly string[],
  warnings: readonly JobWarning[],
): void {
  if (finished.some(({ table }) => table.rows > 0)) return
  throw nothingImported({
    layer: finished.map(({ table }) => table.layer.name).join(', '),
    rejected: sum(finished.map(({ rejected }) => rejected)),
    reasons: warnings.map(({ message }) => message),
    layers,
  })
}

function shapeOf({ key, hasGeometry }: LayerTable) {
  const geometry = hasGeometry ? [{ name: 'geom', type: 'geometry' as const }] : []
  return { primaryKey: key, columns: [{ name: key, type: 'int8' as const }, ...geometry] }
}

/** Where the data come from, without what an address may carry of secrets. */
function describeOrigin(input: Ogr2ogrImport): { readonly kind: string; readonly name: string } {
  const address = input.fileUrl ?? input.url
  if (address === undefined) return { kind: 'storage', name: `${input.storagePath!.bucket}/${input.storagePath!.path}` }
  const { origin, pathname } = new URL(address)
  return { kind: 'url', name: `${origin}${pathname}` }
}

async function columnNames(database: Queryable, schema: string, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = format('%I.%I', $1::text, $2::text)::regclass
     and attnum > 0 and not attisdropped`,
    [schema, table],
  )
  return new Set(rows.map(({ name }) => name))
}

/** What the server says against the rows of a table that exists, or against its replacement. */
function explained(cause: unknown, table: string): unknown {
  const { code } = cause as { code?: unknown }
  const isAboutRows = typeof code === 'string' && /^(22|23|42|2B)\w{3}$/.test(code)
  return isAboutRows ? appendFailed({ table, reason: (cause as Error).message }, { cause }) : cause
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0)
}
