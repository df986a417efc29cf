import type { OsmImportArea } from '@terrane/contracts'
import type { Aoi, Bbox, OnProgress } from '@terrane/core'
import { createImportTables } from '@terrane/database/imports'
import { importOsmArea as importRows, type ImportResult, type OsmHeader, type OsmReader } from '@terrane/osm'
import { PageRecorder } from '@terrane/osm/updates'
import { createPages, loadPages, stagedPages } from '../osm-update/pages-table.ts'
import { LOADED, type JobContext } from '../task.ts'
import type { Coverage } from './coverage.ts'
import { limitsOf, memoryBudget, type OsmMemoryBudget } from './memory-budget.ts'
import { obtainOsm } from './obtain.ts'
import type { OsmImportSettings } from './settings.ts'
import { StagingSink } from './staging-sink.ts'
import type { Target } from './targets.ts'

const BATCH_ROWS = 2000

/** A running import: its request, its area and its target tables. */
export interface AreaImport {
  readonly input: OsmImportArea
  readonly aoi: Aoi
  readonly targets: readonly Target[]
  readonly context: JobContext
}

/** Checkpoint after all features are in the staging tables, as JSON. */
export interface Loaded extends Pick<ImportResult, 'tables' | 'counts' | 'unsimplified'> {
  readonly coverage: Coverage
  readonly origin: Readonly<Record<string, unknown>>
  readonly replication: Replication
}

/** State of replication from which updates start; the time of the data as ISO 8601. */
export interface Replication {
  readonly extent: readonly Bbox[] | null
  readonly replicationUrl: string | null
  readonly sequence: number | null
  readonly timestamp: string | null
}

/** Fills the staging tables from an extract, or continues with the tables of an earlier run. */
export async function loadExtract(importing: AreaImport, settings: OsmImportSettings): Promise<Loaded> {
  return (await goOn(importing)) ?? loadAnew(importing, settings)
}

/** Checkpoint of an earlier run of the job; null when there is none. */
async function goOn({ targets, context }: AreaImport): Promise<Loaded | null> {
  const kept = await context.checkpoint.take<Loaded>(LOADED)
  if (kept === null) return null
  const message = 'going on with the tables of an earlier run'
  context.progress({ phase: 'indexes', done: 0, total: targets.length, unit: 'tables', message })
  return kept
}

async function loadAnew(importing: AreaImport, settings: OsmImportSettings): Promise<Loaded> {
  const { input, aoi, targets, context } = importing
  const { database } = context.project
  const { reader, source, coverage } = await obtainOsm(input.source, aoi, settings, context)
  const room = await memoryBudget(reader, settings, context.workdir, context.signal)
  await context.checkpoint.clear()
  await createImportTables(database, targets)
  if (input.updatable) await createPages(database, stagedPages(context.run, targets.length))
  const { header, tables, counts, unsimplified } = await load(importing, reader, room)
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
  { input, aoi, targets, context }: AreaImport,
  reader: OsmReader,
  room: OsmMemoryBudget,
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

/** Replication state and extent of a file: its header's box, else the area for Overpass, else unknown (null). */
function replicationOf(
  { bbox, replicationUrl, replicationSequence, timestamp }: OsmHeader,
  source: Readonly<Record<string, unknown>>,
  { boxes }: Aoi,
): Replication {
  const extent = bbox ? [bbox, ...boxes] : source['kind'] === 'overpass' ? boxes : null
  return { extent, replicationUrl, sequence: replicationSequence, timestamp: timestamp?.toISOString() ?? null }
}
