import { OsmImportArea, type JobWarning } from '@terrane/contracts'
import { readAoi, type Aoi, type Bbox, type OnProgress } from '@terrane/core'
import {
  clipImport,
  createImportTables,
  finishImportTable,
  isFinishedImportTable,
  measureImport,
  registerImport,
  type ImportShape,
} from '@terrane/database/imports'
import { stagedTable, swapIn, type JobRun, type StagedTable } from '@terrane/database/staging'
import {
  TOPICS,
  importOsmArea as importRows,
  topicTables,
  type ImportResult,
  type ImportTable,
  type OsmHeader,
  type OsmReader,
  type Topics,
} from '@terrane/osm'
import { PageRecorder } from '@terrane/osm/updates'
import { OSM_ATTRIBUTION, OSM_COPYRIGHT, OSM_LICENCE } from './osm/licence.ts'
import { prefixOf, tableNames } from './osm/names.ts'
import { checkOsmSource, obtainOsm } from './osm/obtain.ts'
import { memoryBudget, limitsOf, type OsmMemoryBudget } from './osm/memory-budget.ts'
import type { OsmImportSettings } from './osm/settings.ts'
import { StagingSink } from './osm/staging-sink.ts'
import { explained } from './file-import/describe-import.ts'
import { emptyTables } from './empty-tables.ts'
import { SCHEMA, checkNames } from './import-names.ts'
import { coverageWarnings, type Coverage } from './osm/coverage.ts'
import { forgetOsmImport, registerOsmImport, tablesLeftBehind, type NewOsmImport } from './osm-update/catalogue.ts'
import { createPages, finishPages, loadPages, stagedPages } from './osm-update/pages-table.ts'
import { isAskedFor, isStyle, lossWarnings } from './osm/losses.ts'
import { checkStoredObject } from './stored-object.ts'
import { LOADED, type JobContext, type Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

const BATCH_ROWS = 2000

/** One table that was made, as the job's result shows it. */
interface TableResult {
  readonly schema: string
  readonly name: string
  readonly topic: string
  readonly rows: number
  readonly geometry_type: string
  readonly srid: number
  readonly bbox: Bbox | null
}

/** A table in the making: its staging table and its final name. */
export interface Target {
  readonly table: ImportTable
  readonly staged: StagedTable
  readonly shape: ImportShape
}

/** Checkpoint after all features are in the staging tables, as JSON. */
interface Loaded extends Pick<ImportResult, 'tables' | 'counts' | 'unsimplified'> {
  readonly coverage: Coverage
  readonly origin: Readonly<Record<string, unknown>>
  /** State of replication from which updates start. */
  readonly replication: Replication
}

interface Replication {
  readonly extent: readonly Bbox[] | null
  readonly replicationUrl: string | null
  readonly sequence: number | null
  readonly timestamp: string | null
}

/** Imports the OpenStreetMap features of an area into one table per topic and geometry type. */
export function osmImportArea(settings: OsmImportSettings): Task {
  return {
    name: 'osmImportArea',
    summary: 'Import OpenStreetMap data of an area',
    description:
      'Puts the OpenStreetMap features that touch an area into tables `{tablePrefix}_{topic}` with typed columns, all tags ' +
      'and a geometry in EPSG:4326. The tables appear together or not at all.',
    body: OsmImportArea,
    expireSeconds: 6 * 3600,
    version: 2,
    async checkSubmit(raw, { project, checkUrl }) {
      const input = raw as OsmImportArea
      const aoi = readAoi(input.aoiGeoJson, settings)
      if (input.source?.kind === 'url') checkUrl(input.source.url, '/source/url')
      if (input.source?.kind === 'storage') await checkStoredObject(project.store, input.source, settings.maxBytes)
      await checkNames(project.database, tableNames(input, topicTables(input.topics)), input.mode)
      await checkOsmSource(input.source, aoi, settings)
    },
    run: (raw, context) => runImport(raw as OsmImportArea, settings, context),
  }
}

async function runImport(
  input: OsmImportArea,
  settings: OsmImportSettings,
  context: JobContext,
): Promise<Readonly<Record<string, unknown>>> {
  const started = performance.now()
  const { run, project } = context
  const aoi = readAoi(input.aoiGeoJson, settings)
  const targets = targetsOf(input, run)
  const loaded = (await goOn(targets, context)) ?? (await loadAnew(input, aoi, targets, settings, context))
  const { counts, coverage, origin } = loaded
  const tables = await finish(input, aoi, targets, loaded, context)
  const prefix = input.tablePrefix ?? prefixOf(input.areaName)
  const names = targets.map(({ staged }) => staged.table)
  const warnings = acceptWarnings(input.strict, [
    ...noLongerUpdatable(await tablesLeftBehind(project.database, prefix, names)),
    ...coverageWarnings(coverage),
    ...emptyTables(tables, (i) => isAskedFor(input.topics, targets[i]!.table)),
    ...lossWarnings(loaded),
  ])
  const result = {
    tables,
    source: origin,
    attribution: OSM_ATTRIBUTION,
    licence: OSM_LICENCE,
    counts,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    warnings,
  }
  const staged = targets.map((target) => target.staged)
  const pages = input.updatable ? [stagedPages(run, targets.length)] : []
  const record = {
    jobId: run.jobId,
    task: 'osmImportArea',
    source: isStyle(input.topics) ? { ...origin, style: true } : origin,
    attribution: OSM_ATTRIBUTION,
    licence: OSM_LICENCE,
  }
  await swapIn(project.database, run, [...staged, ...pages], result, async (session) => {
    await forgetOsmImport(session, prefix)
    for (const { table } of pages)
      await registerOsmImport(session, { ...newImport(input, loaded, run), prefix, pagesTable: table })
    for (const [i, { rows, bbox }] of tables.entries()) {
      await registerImport(session, staged[i]!, { ...record, rows, bbox })
    }
  }).catch((cause: unknown) => {
    throw explained(cause, names.join(', '))
  })
  return result
}

/** Only one import of a prefix can be updated, so tables of an earlier one are reported. */
function noLongerUpdatable(names: readonly string[]): JobWarning[] {
  if (names.length === 0) return []
  const message = 'Tables of an earlier import with this tablePrefix stay, and can be updated no more.'
  return [{ code: 'UPDATES_END', message, count: names.length, examples: names.slice(0, 10) }]
}

type TargetsRequest = Pick<OsmImportArea, 'areaName' | 'tablePrefix' | 'mode' | 'clip'> & { readonly topics?: Topics }

/** The target tables of an import. */
export function targetsOf(input: TargetsRequest, run: JobRun): Target[] {
  const tables = topicTables(input.topics)
  const names = tableNames(input, tables)
  return tables.map((table, i) => ({
    table,
    staged: { ...stagedTable(run, i, SCHEMA, names[i]!), replaces: input.mode === 'replace' },
    shape: shapeOf(table, input.clip ?? false),
  }))
}

/**
 * Replication state and extent of a file. Without a box in the header, the extent of an Overpass answer is the area,
 * and that of other files is unknown (null).
 */
function replicationOf(
  { bbox, replicationUrl, replicationSequence, timestamp }: OsmHeader,
  source: Readonly<Record<string, unknown>>,
  { boxes }: Aoi,
): Replication {
  const extent = bbox ? [bbox, ...boxes] : source['kind'] === 'overpass' ? boxes : null
  return { extent, replicationUrl, sequence: replicationSequence, timestamp: timestamp?.toISOString() ?? null }
}

function newImport(
  input: OsmImportArea,
  { replication }: Loaded,
  { jobId }: JobRun,
): Omit<NewOsmImport, 'prefix' | 'pagesTable'> {
  const { aoiGeoJson: area, topics = TOPICS, clip = false } = input
  const { timestamp } = replication
  return { ...replication, jobId, area, topics, clip, timestamp: timestamp === null ? null : new Date(timestamp) }
}

/** Columns and key of a table. A line that is cut at the border may become several rows, which `part` distinguishes. */
function shapeOf({ columns, geometryType, unique, measured, least }: ImportTable, clip: boolean): ImportShape {
  const inParts = clip && geometryType === 'LineString'
  return {
    geometryType,
    primaryKey: 'id',
    unique: inParts ? [...unique, 'part'] : unique,
    measured,
    least,
    columns: inParts ? [...columns, { name: 'part', type: 'int2', default: '0' }] : columns,
  }
}

/** Checkpoint of an earlier run of the job; null when there is none. */
async function goOn(targets: readonly Target[], context: JobContext): Promise<Loaded | null> {
  const kept = await context.checkpoint.take<Loaded>(LOADED)
  if (kept === null) return null
  const message = 'going on with the tables of an earlier run'
  context.progress({ phase: 'indexes', done: 0, total: targets.length, unit: 'tables', message })
  return kept
}

async function loadAnew(
  input: OsmImportArea,
  aoi: Aoi,
  targets: readonly Target[],
  settings: OsmImportSettings,
  context: JobContext,
): Promise<Loaded> {
  const { database } = context.project
  const { reader, source, coverage } = await obtainOsm(input.source, aoi, settings, context)
  const room = await memoryBudget(reader, settings, context.workdir, context.signal)
  await context.checkpoint.clear()
  await createImportTables(database, targets)
  if (input.updatable) await createPages(database, stagedPages(context.run, targets.length))
  const { header, tables, counts, unsimplified } = await load(reader, aoi, input, targets, room, context)
  const origin = { ...source, timestamp: header.timestamp?.toISOString() ?? null }
  const loaded: Loaded = {
    tables,
    counts,
    unsimplified,
    coverage,
    origin,
    replication: replicationOf(header, source, aoi),
  }
  await context.checkpoint.keep(LOADED, loaded)
  return loaded
}

async function load(
  reader: OsmReader,
  aoi: Aoi,
  input: OsmImportArea,
  targets: readonly Target[],
  room: OsmMemoryBudget,
  context: JobContext,
): Promise<ImportResult> {
  const { signal } = context
  const sink = new StagingSink(context.project.database, targets, signal)
  const onProgress: OnProgress = (step) => context.progress(step)
  const options = { ...limitsOf(room), signal, batchRows: BATCH_ROWS, onProgress }
  const { database } = context.project
  const pages = stagedPages(context.run, targets.length)
  const recorder = new PageRecorder(reader, (made) => sink.also(() => loadPages(database, pages, made)))
  try {
    const imported = await importRows(input.updatable ? recorder : reader, aoi, input.topics, sink, options)
    await sink.finish()
    return imported
  } finally {
    // The staging tables can be dropped only when no load is running.
    await sink.settle()
  }
}

/** Clips and indexes the tables, two at a time where the server has more than one session. */
async function finish(
  input: OsmImportArea,
  aoi: Aoi,
  targets: readonly Target[],
  loaded: Loaded,
  context: JobContext,
): Promise<TableResult[]> {
  const { signal } = context
  const { database } = context.project
  const comment = `OpenStreetMap data of ${input.areaName}. ${OSM_ATTRIBUTION}, ${OSM_LICENCE}: ${OSM_COPYRIGHT}`
  const area = aoi.toGeoJson()
  const results: TableResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < targets.length) {
      signal.throwIfAborted()
      const i = next++
      const { table, staged, shape } = targets[i]!
      const message = `indexing ${staged.table}`
      context.progress({ phase: 'indexes', done: i, total: targets.length, unit: 'tables', message })
      if (!(await isFinishedImportTable(database, staged))) {
        await database.transaction(async (session) => {
          if (input.clip) await clipImport(session, staged, shape, area)
          await finishImportTable(session, staged, shape, comment)
        })
      }
      const { rows, bbox } = input.clip ? await measureImport(database, staged) : loaded.tables[i]!
      const { topic, geometryType } = table
      results[i] = { schema: SCHEMA, name: staged.table, topic, rows, geometry_type: geometryType, srid: 4326, bbox }
    }
  }
  const pages = stagedPages(context.run, targets.length)
  if (input.updatable && !(await isFinishedImportTable(database, pages))) await finishPages(database, pages)
  const lanes = await Promise.allSettled(database.capabilities.parallel ? [work(), work()] : [work()])
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  return results
}
