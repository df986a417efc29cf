import { OsmImportArea, type JobWarning } from '@terrane/contracts'
import { readAoi } from '@terrane/core'
import { registerImport } from '@terrane/database/imports'
import { swapIn } from '@terrane/database/staging'
import { topicTables } from '@terrane/osm'
import { OSM_ATTRIBUTION, OSM_LICENCE } from './osm/licence.ts'
import { checkOsmSource } from './osm/obtain.ts'
import type { OsmImportSettings } from './osm/settings.ts'
import { explained } from './file-import/describe-import.ts'
import { emptyTables } from './empty-tables.ts'
import { checkNames } from './import-names.ts'
import { coverageWarnings } from './osm/coverage.ts'
import { finishTables } from './osm/finish-tables.ts'
import { loadExtract } from './osm/load-extract.ts'
import { forgetOsmImport, registerOsmImport, tablesLeftBehind } from './osm-update/catalogue.ts'
import { stagedPages } from './osm-update/pages-table.ts'
import { isAskedFor, isStyle, lossWarnings } from './osm/losses.ts'
import { prefixOf, tableNames, targetsOf } from './osm/targets.ts'
import { checkStoredObject } from './stored-object.ts'
import type { JobContext, Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

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
  const importing = { input, aoi, targets, context }
  const loaded = await loadExtract(importing, settings)
  const { counts, coverage, origin } = loaded
  const tables = await finishTables(importing, loaded)
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
      await registerOsmImport(session, { prefix, jobId: run.jobId, pagesTable: table }, input, loaded.replication)
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
