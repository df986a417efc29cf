import { DEFAULT_GEO_MODEL, CreateGeoEmbeddings } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import type { EnginePool, ModelManifest, ModelStore } from '@terrane/embeddings'
import type { CrsEntry } from '@terrane/tiling/raster'
import { checkEmbeddingTable } from '../embeddings/embedding-output.ts'
import type { Task } from '../task.ts'
import { inspectHeaders } from './inspect.ts'
import { guardPatches, inspectRequest } from './plan.ts'
import { checkRequest, readRequest, type GeoRequest } from './request.ts'
import { GeoEmbeddingsRun } from './run.ts'
import { checkSource } from './source.ts'
import { takeStretch } from './stretch.ts'

export interface GeoEmbeddingsDeps {
  readonly models: ModelStore
  readonly engines: EnginePool
  readonly dataRoots: readonly string[]
  /** 0 for no limit. */
  readonly maxTiles: number
  readonly maxBytes: number
  /** CRSs that the operator added. */
  readonly crs: readonly CrsEntry[]
}

const EXPIRE_SECONDS = 24 * 3600
/** A look at headers before a job is queued takes no longer; the job will find what this would have found. */
const LOOK_MS = 10_000

/** A GeoTIFF becomes rows of vectors in `geoembeddings.{tableName}`. */
export function createGeoEmbeddingsTask(deps: GeoEmbeddingsDeps): Task<CreateGeoEmbeddings> {
  return {
    name: 'createGeoEmbeddings',
    summary: 'GeoTIFF into embeddings',
    description:
      'Tiles a GeoTIFF, embeds each tile with an ONNX model and writes geoembeddings.{tableName}, to be searched with similarity_search.',
    body: CreateGeoEmbeddings,
    expireSeconds: EXPIRE_SECONDS,
    version: 1,
    checkSubmit: async (body, submit) => {
      const request = readRequest(body)
      const manifest = await deps.models.find(request.modelName)
      checkRequest(request, manifest)
      const path = await checkSource(request.source, submit, deps)
      await checkEmbeddingTable(submit.project, request.tableName)
      if (request.scaleFrom !== null) {
        const unit = manifest.input.unit ?? 'scaled'
        await takeStretch(submit.project.database, request.scaleFrom, { channels: manifest.input.bands.length, unit })
      }
      await deps.models.require(request.modelName)
      if (path !== null) await guardTiles(path, request, manifest, deps)
    },
    offers: async () => ({
      models: (await deps.models.list()).map(({ id, availability }) => ({
        id,
        available: availability === 'ready' || availability === 'downloadable',
        is_default: id === DEFAULT_GEO_MODEL,
      })),
    }),
    run: (body, context) => new GeoEmbeddingsRun(deps, readRequest(body), context).run(),
  }
}

/**
 * Refuses a raster with too many tiles. Whatever else its headers tell, the job reports.
 *
 * @throws size_guard_exceeded
 */
async function guardTiles(
  path: string,
  request: GeoRequest,
  manifest: ModelManifest,
  deps: GeoEmbeddingsDeps,
): Promise<void> {
  try {
    const look = { path, request: inspectRequest(request, manifest, null, deps), crs: deps.crs }
    const { plan } = await inspectHeaders(look, AbortSignal.timeout(LOOK_MS))
    guardPatches(plan.count, request, manifest, deps.maxTiles)
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'size_guard_exceeded') throw error
  }
}
