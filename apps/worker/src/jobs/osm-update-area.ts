import { join } from 'node:path'
import { rm } from 'node:fs/promises'
import { OsmUpdateArea, type JobWarning } from '@terrane/contracts'
import { readAoi } from '@terrane/core'
import { createImportTables } from '@terrane/database/imports'
import { relationExists, swapIn } from '@terrane/database/staging'
import { folderUrl, Replication } from './osm-update/replication.ts'
import { findOsmImport, type DataMark, type OsmImport } from './osm-update/catalogue.ts'
import { replicationUnknown, startUnknown } from './osm-update/errors.ts'
import { Merging } from './osm-update/merging.ts'
import { changesBudget } from './osm/memory-budget.ts'
import { bringFile } from './osm/obtain.ts'
import { OSM_ATTRIBUTION } from './osm/licence.ts'
import type { OsmImportSettings } from './osm/settings.ts'
import { targetsOf } from './osm/targets.ts'
import { checkStoredObject } from './stored-object.ts'
import type { JobContext, Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

type Source = NonNullable<OsmUpdateArea['source']>

/** Brings the tables of an import up to date from change files or a replication server. */
export function osmUpdateArea(settings: OsmImportSettings): Task {
  return {
    name: 'osmUpdateArea',
    summary: 'Bring OpenStreetMap tables up to date',
    description:
      'Applies change files (.osc, .osc.gz), or all that a replication server has since the last update, to the tables of an ' +
      'osmImportArea with updatable. Each file is one transaction; afterwards the tables are those of an import of the newer ' +
      'extract, and rows that did not change keep their id.',
    body: OsmUpdateArea,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project, checkUrl }) {
      const input = raw as OsmUpdateArea
      const source = sourceOf(input)
      const known = await findOsmImport(project.database, input.tablePrefix)
      if (source.kind === 'replication') return checkUrl(folderUrl(replicationUrlOf(source, known)), '/source/url')
      for (const [i, file] of source.files.entries()) {
        if (file.kind === 'url') checkUrl(file.url, `/source/files/${i}/url`)
        if (file.kind === 'storage') await checkStoredObject(project.store, file, settings.maxBytes)
      }
    },
    run: (raw, context) => runUpdate(raw as OsmUpdateArea, settings, context),
  }
}

async function runUpdate(
  input: OsmUpdateArea,
  settings: OsmImportSettings,
  context: JobContext,
): Promise<Readonly<Record<string, unknown>>> {
  const started = performance.now()
  const { run, project } = context
  const { database } = project
  const known = await findOsmImport(database, input.tablePrefix)
  const { topics, clip, prefix } = known
  const asImport = { areaName: prefix, aoiGeoJson: known.area, topics, tablePrefix: prefix, clip }
  const targets = targetsOf(asImport, run)
  const isThere: boolean[] = []
  for (const { staged } of targets) {
    isThere.push(await relationExists(database, staged.schema, staged.table, { isTable: true }))
  }
  const gone = missingTables(targets.filter((_, i) => !isThere[i]).map(({ staged }) => staged.table))
  acceptWarnings(input.strict, gone)
  await createImportTables(database, targets)
  const aoi = readAoi(known.area, { maxAreaKm2: Infinity, maxVertices: Infinity })
  const merging = new Merging(known, { targets, isThere, aoi }, context, changesBudget(settings))
  const source = sourceOf(input)
  await merging.open({ isResumable: source.kind === 'replication' })
  const origin =
    source.kind === 'files'
      ? await applyFiles(source.files, merging, settings, context)
      : await applyReplication(replicationUrlOf(source, known), merging, settings, context)
  const { tables, files, mark } = await merging.results()
  const result = {
    tables,
    files,
    sequence: mark.sequence,
    timestamp: mark.timestamp?.toISOString() ?? null,
    source: origin,
    attribution: OSM_ATTRIBUTION,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    warnings: acceptWarnings(input.strict, [
      ...gone,
      ...(source.kind === 'files' && tables.length === 0 ? [nothingChanged(files)] : []),
    ]),
  }
  await swapIn(database, run, [], result)
  return result
}

function sourceOf({ source }: OsmUpdateArea): Source {
  return source ?? { kind: 'replication' }
}

/** @throws OSM_REPLICATION_UNKNOWN */
function replicationUrlOf({ url }: Extract<Source, { kind: 'replication' }>, known: OsmImport): string {
  const used = url ?? known.replicationUrl
  if (used === null) throw replicationUnknown()
  return used
}

async function applyFiles(
  files: Extract<Source, { kind: 'files' }>['files'],
  merging: Merging,
  settings: OsmImportSettings,
  context: JobContext,
): Promise<Readonly<Record<string, unknown>>> {
  const abouts: unknown[] = []
  for (const [i, file] of files.entries()) {
    // An earlier run of the job has applied this file.
    if (i < merging.files) continue
    context.progress({ phase: 'update', done: i, total: files.length, unit: 'files' })
    const destination = { target: join(context.workdir, `${i}.osc`), field: `/source/files/${i}/path` }
    const { path, about } = await bringFile(file, destination, settings, context)
    abouts.push(about)
    // The sequence number of a single file is not known; a later replication starts from the time of the data.
    await merging.apply(path, { ...merging.mark, sequence: null })
    // A file of the operator that could not be linked is read at its own path, and must not be removed.
    if (path === destination.target) await rm(path, { force: true })
  }
  return { kind: 'files', files: abouts }
}

/** Applies change files until the server has no newer ones. */
async function applyReplication(
  url: string,
  merging: Merging,
  { maxBytes }: OsmImportSettings,
  context: JobContext,
): Promise<Readonly<Record<string, unknown>>> {
  const { fetch, signal, workdir } = context
  const server = new Replication(url, { fetch, maxBytes, signal })
  const first = await startOf(server, merging.mark)
  let sequence = first
  for (;;) {
    const newest = await server.newest()
    if (newest.sequence <= sequence) return { kind: 'replication', url: server.url, from: first, to: sequence }
    while (sequence < newest.sequence) {
      signal.throwIfAborted()
      context.progress({ phase: 'update', done: sequence - first, total: newest.sequence - first, unit: 'files' })
      const path = await server.download(sequence + 1, workdir)
      sequence++
      const timestamp = sequence === newest.sequence ? newest.timestamp : merging.mark.timestamp
      await merging.apply(path, { replicationUrl: server.url, sequence, timestamp })
      await rm(path, { force: true })
    }
  }
}

/** The sequence number of the tables' state: the stored one for this server, or found by the time of the data. */
async function startOf(server: Replication, mark: DataMark): Promise<number> {
  const { replicationUrl, sequence, timestamp } = mark
  if (sequence !== null && replicationUrl !== null && server.isAt(replicationUrl)) return sequence
  if (timestamp === null) throw startUnknown()
  return server.sequenceAt(timestamp)
}

function missingTables(names: readonly string[]): JobWarning[] {
  if (names.length === 0) return []
  const message = 'Tables of the import that are not there any more were left out.'
  return [{ code: 'TABLES_GONE', message, count: names.length, examples: names.slice(0, 10) }]
}

function nothingChanged(files: number): JobWarning {
  return { code: 'NOTHING_CHANGED', message: 'The change files change no row of these tables.', count: files }
}
