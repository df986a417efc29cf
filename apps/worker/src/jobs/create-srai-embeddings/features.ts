import { join } from 'node:path'
import type { FeatureSource as RequestedSource, JobWarning } from '@terrane/contracts'
import type { Aoi } from '@terrane/core'
import { filterTags, type FeatureSource, type OsmFilter } from '@terrane/embeddings/srai'
import { coverageWarnings } from '../osm/coverage.ts'
import { OSM_ATTRIBUTION, OSM_LICENCE } from '../osm/licence.ts'
import { checkOsmSource, obtainOsm } from '../osm/obtain.ts'
import { memoryBudget } from '../osm/memory-budget.ts'
import type { OsmImportSettings } from '../osm/settings.ts'
import type { JobContext, Project } from '../task.ts'
import { dumpTables, findImportedTables, holdEverything } from './imported-tables.ts'
import type { OsmFeatureOptions } from './osm-features.worker.ts'
import type { TableFeatureOptions } from './table-features.worker.ts'

/** Features that are ready to be read, and facts about them for the record. */
export interface ObtainedFeatures {
  readonly source: FeatureSource
  readonly origin: Readonly<Record<string, unknown>>
  readonly attribution: string
  readonly licence: string
  /** Time of the map data, RFC 3339; null when it is not known. */
  readonly timestamp: string | null
  readonly warnings: readonly JobWarning[]
}

/**
 * Refuses a source that cannot work, before a job is queued for it.
 *
 * @param aoi null when it is not known yet
 * @throws IMPORTED_TABLES_MISSING, and what `checkOsmSource` throws
 */
export async function checkFeatures(
  requested: RequestedSource | undefined,
  aoi: Aoi | null,
  settings: OsmImportSettings,
  project: Project,
): Promise<void> {
  if (requested?.kind === 'tables') await findImportedTables(project.database, requested.prefix)
  else await checkOsmSource(requested, aoi, settings)
}

/** Copies the features of an area into the job's folder: an OSM file, or a dump of tables of the project. */
export async function obtainFeatures(
  requested: RequestedSource | undefined,
  { aoi, filter }: { readonly aoi: Aoi; readonly filter: OsmFilter },
  settings: OsmImportSettings,
  context: JobContext,
): Promise<ObtainedFeatures> {
  if (requested?.kind === 'tables') return fromTables(requested.prefix, aoi, filter, context)
  const { reader, path, source: origin, coverage } = await obtainOsm(requested, aoi, settings, context)
  const { timestamp } = await reader.header(context.signal)
  const room = await memoryBudget(reader, settings, context.workdir, context.signal)
  const options: OsmFeatureOptions = { path, area: aoi.given, filter, room }
  return {
    source: { module: moduleUrl('./osm-features.worker.ts'), options },
    origin,
    attribution: OSM_ATTRIBUTION,
    licence: OSM_LICENCE,
    timestamp: timestamp?.toISOString() ?? null,
    warnings: coverageWarnings(coverage),
  }
}

async function fromTables(prefix: string, aoi: Aoi, filter: OsmFilter, context: JobContext): Promise<ObtainedFeatures> {
  const { project, workdir } = context
  const tables = await findImportedTables(project.database, prefix)
  context.progress({ phase: 'select', message: 'reading imported tables', done: 0, total: null, unit: 'features' })
  const path = join(workdir, 'features.ndjson')
  const keys = [...filterTags(filter).keys()]
  const rows = await dumpTables(project.database, tables, { aoi, keys, path })
  const options: TableFeatureOptions = { path, rows }
  const timestamps = tables.map(({ source }) => source['timestamp']).filter((time) => typeof time === 'string')
  return {
    source: { module: moduleUrl('./table-features.worker.ts'), options },
    origin: { kind: 'tables', prefix, tables: tables.map(({ name }) => name) },
    attribution: [...new Set(tables.map(({ attribution }) => attribution))].join('; '),
    licence: [...new Set(tables.map(({ licence }) => licence))].join('; '),
    timestamp: timestamps.toSorted()[0] ?? null,
    warnings: holdEverything(tables)
      ? []
      : [
          {
            code: 'TOPICS_NOT_IMPORTED',
            message: `Only what the tables of ${prefix} hold is counted: features of other topics were not imported.`,
          },
        ],
  }
}

function moduleUrl(path: string): string {
  return new URL(path, import.meta.url).href
}
