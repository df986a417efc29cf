import { DEFAULT_GEO_MODEL, CreateGeoEmbeddings } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import type { ModelManifest } from '@terrane/embeddings'
import { checkEmbeddingTable } from '../embeddings/embedding-output.ts'
import type { SubmitContext, Task } from '../task.ts'
import { readTarget } from './collection/append.ts'
import { collectionOf } from './collection/collection.ts'
import { entriesAtHand, isCollection } from './collection/entries.ts'
import type { GeoEmbeddingsDeps } from './deps.ts'
import { embedRaster } from './embed-raster.ts'
import { conflictingScales } from './errors.ts'
import { inspectHeaders } from './inspect.ts'
import { guardPatches, inspectRequest } from './plan.ts'
import { checkRequest, readRequest, type GeoRequest } from './request.ts'
import { checkResampling, filesOf } from './source.ts'
import { checkSource } from './source-file.ts'
import { referenceOfRequest } from './stretch.ts'

const EXPIRE_SECONDS = 24 * 3600
/** Maximum time for reading headers before a job is queued; the job itself reports problems that this check misses. */
const LOOK_MS = 10_000
/** Maximum sources that are checked before the job is queued; with longer lists the job reports missing ones. */
const MOST_LOOKS = 200

/** A GeoTIFF becomes rows of vectors in `geoembeddings.{tableName}`. */
export function createGeoEmbeddingsTask(deps: GeoEmbeddingsDeps): Task<CreateGeoEmbeddings> {
  return {
    name: 'createGeoEmbeddings',
    summary: 'GeoTIFFs into embeddings',
    description:
      'Tiles one GeoTIFF or many, embeds each tile with an ONNX model and writes geoembeddings.{tableName}, to be searched with similarity_search. Many rasters are spread over all workers.',
    body: CreateGeoEmbeddings,
    expireSeconds: EXPIRE_SECONDS,
    version: 2,
    checkSubmit: async (body, submit) => {
      checkResampling(body)
      if (isCollection(body)) await checkCollection(deps, body, submit)
      else await checkRaster(deps, body, submit)
    },
    offers: async () => ({
      models: (await deps.models.list()).map(({ id, availability }) => ({
        id,
        available: availability === 'ready' || availability === 'downloadable',
        is_default: id === DEFAULT_GEO_MODEL,
      })),
    }),
    run: (body, context) => embedRaster(deps, readRequest(body), context),
    sharding: collectionOf(deps),
  }
}

async function checkRaster(deps: GeoEmbeddingsDeps, body: CreateGeoEmbeddings, submit: SubmitContext): Promise<void> {
  const request = readRequest(body)
  const manifest = await deps.models.find(request.modelName)
  checkRequest(request, manifest)
  const path = await checkSource(request.source, submit, deps)
  await checkEmbeddingTable(submit.project, request.tableName)
  await checkScaleFrom(submit, request, manifest)
  await deps.models.require(request.modelName)
  if (path !== null) await guardTiles(path, request, manifest, deps)
}

/** Checks the request and that its sources exist; problems within a source are reported by its shard. */
async function checkCollection(
  deps: GeoEmbeddingsDeps,
  asked: CreateGeoEmbeddings,
  submit: SubmitContext,
): Promise<void> {
  const { project } = submit
  const body = asked.mode === 'append' ? (await readTarget(project.database, asked)).body : asked
  if (asked.mode !== 'append') await checkEmbeddingTable(project, body.tableName)
  const stacUrl = body.stac?.url
  if (stacUrl !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(stacUrl)) submit.checkUrl(stacUrl, '/stac/url')
  const manifest = await deps.models.find(body.modelName ?? DEFAULT_GEO_MODEL)
  const { bands: channels } = manifest.input
  const entries = await entriesAtHand(body, { project, dataRoots: deps.dataRoots, channels })
  // Items at a URL are read by the job.
  const common = readRequest(entries?.[0]?.body ?? { ...body, geotiffPath: stacUrl! })
  if (body.scale && body.scaleFrom) throw conflictingScales()
  const scaleFrom = body.scaleFrom?.table ?? null
  await checkScaleFrom(submit, { ...common, scaleFrom }, manifest)
  for (const entry of entries ?? []) {
    const request = readRequest({ ...entry.body, ...(body.scale && { scale: body.scale }) })
    checkRequest(request, manifest)
    // Files from a listing exist.
    if (body.storagePrefix === undefined && entries!.length <= MOST_LOOKS) {
      await checkSource(request.source, submit, deps, entry.at)
      continue
    }
    for (const file of filesOf(request.source)) if (file.kind === 'url') submit.checkUrl(file.url, entry.at)
  }
  await deps.models.require(common.modelName)
}

async function checkScaleFrom(submit: SubmitContext, request: GeoRequest, manifest: ModelManifest): Promise<void> {
  await referenceOfRequest(submit.project.database, request, manifest)
}

/** Refuses a raster with too many tiles; the job reports other problems. @throws size_guard_exceeded */
async function guardTiles(
  path: string,
  request: GeoRequest,
  manifest: ModelManifest,
  deps: GeoEmbeddingsDeps,
): Promise<void> {
  try {
    const look = { path, request: inspectRequest(request, manifest, null, deps), crs: deps.crs }
    const { plan } = await inspectHeaders(look, AbortSignal.timeout(LOOK_MS))
    guardPatches(plan.count, request, manifest, deps.maxPatches)
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'size_guard_exceeded') throw error
  }
}
