import { DEFAULT_GEO_MODEL, type CreateGeoEmbeddings, type EmbeddingsResult } from '@terrane/contracts'
import { EMBEDDINGS_SCHEMA, type EmbeddingSource } from '@terrane/database/geoembeddings'
import { swapIn } from '@terrane/database/staging'
import type { Model } from '@terrane/embeddings'
import { EmbeddingOutput, type OutputState, type Publication } from '../../embeddings/embedding-output.ts'
import { Stopwatch } from '../../embeddings/stopwatch.ts'
import type { JobContext } from '../../task.ts'
import { Warnings } from '@terrane/core/errors'
import { acceptWarnings } from '../../warnings.ts'
import type { GeoEmbeddingsDeps } from '../deps.ts'
import { modelItem, tableEntry, tableMetadata } from '../describe.ts'
import { acquireModel, outputOptions } from '../embed-raster.ts'
import { appendTargetMissing, noSourceDone } from '../errors.ts'
import { readRequest, type GeoRequest } from '../request.ts'
import { readTarget } from './append.ts'
import { entriesOf } from './entries.ts'
import type { GeoShard } from './shard.ts'
import type { TablePlan } from './table-plan.ts'

/** Maximum failed sources that a result names. */
const MOST_FAILURES = 100

/** Results of all shards. */
interface Outcome {
  readonly total: number
  readonly sources: ReadonlyMap<number, EmbeddingSource>
  readonly done: readonly EmbeddingSource[]
  readonly failures: readonly { readonly name: string; readonly code: string; readonly message: string }[]
  readonly unchanged: number
  readonly warnings: NonNullable<EmbeddingsResult['warnings']>
}

/**
 * Makes the table from the rows of all shards, or appends them to the existing one, in one swap. Failed sources are
 * named in the result.
 *
 * @throws NO_SOURCE_DONE, WARNINGS_REFUSED, TABLE_NOT_FOUND when the table was replaced; nothing is changed then
 */
export async function publishCollection(
  deps: GeoEmbeddingsDeps,
  body: CreateGeoEmbeddings,
  shards: readonly GeoShard[],
  context: JobContext,
): Promise<EmbeddingsResult> {
  const watch = new Stopwatch()
  const outcome = outcomeOf(shards, shards[0]?.input.shard.unchanged ?? (await unchangedSources(deps, body, context)))
  const { total, done, failures, unchanged, warnings } = outcome
  if (done.length === 0 && unchanged === 0) throw noSourceDone({ failures, total })
  acceptWarnings(body.strict, warnings)
  const { run, project } = context
  const first = shards[0]
  if (!first || done.length === 0) {
    const result = await unchangedResult(deps, body, context, outcome)
    await swapIn(project.database, run, [], result)
    return result
  }
  const { table } = first.input.shard
  const asked = readRequest(first.input.request)
  const request: GeoRequest = { ...asked, tableName: body.tableName, strict: body.strict ?? false }
  const model = await acquireModel(deps, request.modelName, context)
  const options = outputOptions(request, model, {
    ...tableMetadata(request, model, table),
    sources: done.length,
  })
  const output = EmbeddingOutput.ofCollection(context, options, stateOf(done))
  const about = { ...publicationOf(request, model, table, outcome) }
  const counts = countsOf(outcome)
  if (body.mode !== 'append') {
    const sources = [...outcome.sources].map(([source, entry]) => ({ ...entry, source }))
    return output.publish({ ...about, result: { ...about.result, sources: counts }, sources }, watch)
  }
  return output.appendTo(
    outcome.sources,
    ({ rows, bbox }) => ({
      table: `${EMBEDDINGS_SCHEMA}.${body.tableName}`,
      rows,
      dims: model.manifest.dims,
      ...about.result,
      bbox: [...bbox],
      sources: counts,
      timings: watch.seconds(),
    }),
    // The table may have been replaced since it was read.
    async (session) => {
      const { table: now } = await readTarget(session, body)
      const isSame = now.model_sha256 === model.sha256 && JSON.stringify(now.scale) === JSON.stringify(table.stretch)
      if (!isSame) throw appendTargetMissing({ table: body.tableName })
    },
  )
}

/** @param skipped number of sources without a shard, because the table has their current version */
function outcomeOf(shards: readonly GeoShard[], skipped: number): Outcome {
  const total = shards.length + skipped
  const sources = new Map<number, EmbeddingSource>()
  const failures: { name: string; code: string; message: string }[] = []
  const done: EmbeddingSource[] = []
  const found = new Warnings()
  let unchanged = skipped
  for (const { input, result, error } of shards) {
    const { name, number } = input.shard
    for (const { code, message } of result?.warnings ?? []) found.count(code, `${name}: ${message}`, name)
    if (result?.source) done.push(result.source)
    else if (result) unchanged++
    if (result?.source) sources.set(number, result.source)
    if (result) continue
    const { code = 'INTERNAL', message = 'Something went wrong on our side' } = error ?? {}
    failures.push({ name, code, message })
    sources.set(number, failed(name, { code, message }))
  }
  if (failures.length > 0) {
    const [first] = failures
    const message = `${failures.length} of ${total} sources failed, such as ${first!.name}: ${first!.message}`
    found.add('SOURCES_FAILED', message, failures.length, failures.map(({ name }) => name)) // prettier-ignore
  }
  return { total, sources, done, failures, unchanged, warnings: found.list() }
}

function failed(name: string, error: { readonly code: string; readonly message: string }): EmbeddingSource {
  const nothing = { datetime: null, profile: null, crs: null, dataType: null, bbox: null, version: null }
  return { name, ...nothing, status: 'failed', rows: 0, skipped: 0, zeroVectors: 0, error }
}

function countsOf({ total, done, failures, unchanged }: Outcome): NonNullable<EmbeddingsResult['sources']> {
  const rows = done.reduce((sum, source) => sum + source.rows, 0)
  return {
    total,
    done: done.length,
    unchanged,
    failed: failures.length,
    rows,
    failures: failures.slice(0, MOST_FAILURES),
  }
}

function stateOf(done: readonly EmbeddingSource[]): OutputState {
  const edge = (i: number, pick: (...all: number[]) => number): number => pick(...done.map(({ bbox }) => bbox![i]!))
  return {
    rows: done.reduce((sum, { rows }) => sum + rows, 0),
    zeroVectors: done.reduce((sum, { zeroVectors }) => sum + zeroVectors, 0),
    bbox: [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max), edge(3, Math.max)],
  }
}

/** The reference system of all sources, or that of the first where they differ. */
function publicationOf(
  request: GeoRequest,
  model: Model,
  { stretch, bands, crs }: TablePlan,
  { done, warnings }: Outcome,
): Omit<Publication, 'sources'> {
  const { manifest, sha256 } = model
  const licence = manifest.licence.name
  const source = done.length === 1 ? done[0]!.name : `${done.length} sources`
  const times = done.flatMap(({ datetime }) => (datetime === null ? [] : [datetime])).toSorted()
  return {
    result: {
      model: { id: manifest.id, sha256, licence },
      skipped_nodata: done.reduce((sum, { skipped }) => sum + skipped, 0),
      scale: stretch,
      crs,
      ...(warnings.length > 0 && { warnings }),
    },
    entry: tableEntry(request, model, { source, crs, bands, stretch }),
    item: {
      ...modelItem(request, model, bands, stretch),
      datetime: times[0] ?? new Date().toISOString(),
      ...(times.length > 1 && { until: times.at(-1)! }),
      source: { title: `${done.length} rasters`, href: null },
    },
  }
}

/** Number of sources of a request without shards: all of them are unchanged. */
async function unchangedSources(
  deps: GeoEmbeddingsDeps,
  body: CreateGeoEmbeddings,
  context: JobContext,
): Promise<number> {
  const { input } = await deps.models.find(body.modelName ?? DEFAULT_GEO_MODEL)
  const among = { project: context.project, dataRoots: deps.dataRoots, channels: input.bands }
  return (await entriesOf(body, among, context)).length
}

/** The result of an append that had nothing to add. */
async function unchangedResult(
  deps: GeoEmbeddingsDeps,
  body: CreateGeoEmbeddings,
  context: JobContext,
  outcome: Outcome,
): Promise<EmbeddingsResult> {
  const { table } = await readTarget(context.project.database, body)
  const { licence } = await deps.models.find(table.model_name)
  return {
    table: `${EMBEDDINGS_SCHEMA}.${body.tableName}`,
    rows: table.rows,
    dims: table.dims,
    model: { id: table.model_name, sha256: table.model_sha256 ?? '', licence: licence.name },
    skipped_nodata: 0,
    scale: table.scale,
    crs: table.source_crs ?? '',
    bbox: [...(table.bbox ?? [])],
    sources: countsOf(outcome),
    ...(outcome.warnings.length > 0 && { warnings: outcome.warnings }),
    timings: {},
  }
}
