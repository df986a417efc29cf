import { DEFAULT_GEO_MODEL, type CreateGeoEmbeddings } from '@terrane/contracts'
import { collectionTable, openCollection } from '@terrane/database/collections'
import { findSources } from '@terrane/database/geoembeddings'
import type { JobContext, Sharding } from '../../task.ts'
import type { GeoEmbeddingsDeps } from '../deps.ts'
import { sourceVersion } from '../describe.ts'
import { acquireModel, outputOptions } from '../embed-raster.ts'
import { checkRequest, readRequest } from '../request.ts'
import { versionOf } from '../source-file.ts'
import { readTarget } from './append.ts'
import { entriesOf, isCollection, type Entry } from './entries.ts'
import { publishCollection } from './publish.ts'
import { embedShard, type GeoShard, type ShardInput } from './shard.ts'
import { planByFirst, planOfTable } from './table-plan.ts'

/** Number of concurrent look-ups of file versions. */
const LOOKS = 16

/** One table of many rasters: each is a shard, and fills the staging table that all of them share. */
export function collectionOf(deps: GeoEmbeddingsDeps): Sharding<CreateGeoEmbeddings> {
  return {
    divides: isCollection,
    plan: (body, context) => plan(deps, body, context),
    run: (input, context, parentId) => embedShard(deps, input as ShardInput, context, parentId),
    publish: (body, shards, context) => publishCollection(deps, body, shards as readonly GeoShard[], context),
  }
}

async function plan(deps: GeoEmbeddingsDeps, asked: CreateGeoEmbeddings, context: JobContext): Promise<ShardInput[]> {
  const { project, run } = context
  const target = asked.mode === 'append' ? await readTarget(project.database, asked) : null
  const body = target?.body ?? asked
  context.progress({ phase: 'plan', message: 'looking for the rasters', done: 0, total: null, unit: '' })
  const { input } = await deps.models.find(body.modelName ?? DEFAULT_GEO_MODEL)
  const among = { project, dataRoots: deps.dataRoots, channels: input.bands }
  const entries = await entriesOf(body, among, context)
  const request = readRequest(entries[0]!.body)
  const model = await acquireModel(deps, request.modelName, context)
  for (const entry of entries) checkRequest(readRequest(entry.body), model.manifest)
  const known = target ? await knownVersions(project.database, body.tableName) : new Map<string, string>()
  const changed = await changedEntries(deps, entries, known, context)
  if (changed.length === 0) return []
  const table = target
    ? await planOfTable(project.database, body, target.table, model.manifest)
    : await planByFirst(body, changed, { deps, manifest: model.manifest, context })
  const { shape } = outputOptions(request, model, {})
  const staged = collectionTable(run.jobId, body.tableName)
  await openCollection(project.database, run, staged, { ...shape, wholeNumbers: request.upload })
  context.progress({ phase: 'embed', message: 'waiting for workers', done: 0, total: changed.length, unit: 'sources' })
  return changed.map(({ name, body: alone, facts }, number) => ({
    ...(asked.projectTarget && { projectTarget: asked.projectTarget }),
    request: alone,
    shard: { number, name, known: known.get(name) ?? null, unchanged: entries.length - changed.length, table, facts },
  }))
}

/** Versions of the sources in a table, by name. */
async function knownVersions(
  database: JobContext['project']['database'],
  tableName: string,
): Promise<Map<string, string>> {
  const sources = await findSources(database, tableName)
  return new Map(
    sources.flatMap(({ name, status, version }) => (status === 'done' && version ? [[name, version]] : [])),
  )
}

/** The rasters that are new or have changed. For URLs, only the shard can find out. */
async function changedEntries(
  deps: GeoEmbeddingsDeps,
  entries: readonly Entry[],
  known: ReadonlyMap<string, string>,
  context: JobContext,
): Promise<Entry[]> {
  const changed: Entry[] = []
  for (let from = 0; from < entries.length; from += LOOKS) {
    const some = entries.slice(from, from + LOOKS)
    const same = await Promise.all(
      some.map(async ({ name, body }) => {
        const before = known.get(name)
        if (before === undefined) return false
        const request = readRequest(body)
        const version = await versionOf(request.source, context, deps)
        return version !== null && sourceVersion(version, request) === before
      }),
    )
    changed.push(...some.filter((_, i) => !same[i]))
  }
  return changed
}
