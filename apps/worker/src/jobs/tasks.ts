import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { TerraneError, splitList } from '@terrane/core'
import { PROVIDERS, createEnginePool, openModelStore } from '@terrane/embeddings'
import type { GuardedFetch } from '@terrane/service'
import { createCrsCatalogue, type CrsEntry } from '@terrane/tiling/raster'
import type { WorkerConfig } from '../config.ts'
import type { Geocoder } from '../places/geocoder.ts'
import { archiveToPmtiles } from './archive-to-pmtiles.ts'
import { exportTable } from './export-table.ts'
import { createGeoEmbeddingsTask } from './create-geo-embeddings/create-geo-embeddings.ts'
import type { GeoEmbeddingsDeps } from './create-geo-embeddings/deps.ts'
import { modelFetcher } from './create-geo-embeddings/model-fetcher.ts'
import { createSraiEmbeddingsTask } from './create-srai-embeddings/create-srai-embeddings.ts'
import { type Engine, nativeEngine, wasmEngine } from '@terrane/files'
import { classifyEmbeddings } from './labels/classify-embeddings.ts'
import { clusterEmbeddings } from './labels/cluster-embeddings.ts'
import { trainClassifier } from './labels/train-classifier.ts'
import { importEmbeddings } from './import-embeddings/import-embeddings.ts'
import { ogr2ogrImport } from './ogr2ogr-import.ts'
import { osmImportArea } from './osm-import-area.ts'
import { osmUpdateArea } from './osm-update-area.ts'
import { osmImportSettings } from './osm/settings.ts'
import { overtureImportArea } from './overture-import-area.ts'
import type { Task } from './task.ts'

/** Dependencies that tasks share. */
export interface TaskDeps {
  readonly fetch: GuardedFetch
  readonly geocoder: Geocoder
  readonly models: Models
}

/** The models of this worker, and the engines and CRSs for rasters. */
export type Models = Pick<GeoEmbeddingsDeps, 'models' | 'engines' | 'crs'>

/** @param onClose registers resources to be closed with the worker */
export async function openModels(
  config: WorkerConfig,
  fetch: GuardedFetch,
  onClose: (close: () => Promise<void>) => void,
): Promise<Models> {
  const engines = createEnginePool({
    memoryBytes: config.TERRANE_INFERENCE_MEMORY_MB * 1024 * 1024,
    providers: splitList(config.TERRANE_INFERENCE_PROVIDERS).flatMap((name) => PROVIDERS.filter((one) => one === name)),
    ...(config.TERRANE_INFERENCE_THREADS > 0 && { threads: config.TERRANE_INFERENCE_THREADS }),
  })
  onClose(() => engines.close())
  const models = openModelStore({
    directory: resolve(config.TERRANE_MODEL_DIR),
    fetcher: config.TERRANE_MODEL_DOWNLOAD ? modelFetcher(fetch, config.HF_TOKEN) : null,
    allowUnpinned: config.allowUnpinnedModels,
  })
  return { models, engines, crs: await readCrsFile(config.crsFile) }
}

/** Converter of files for which there is no reader here. */
export function engineOf(config: WorkerConfig): Engine {
  return config.TERRANE_OGR2OGR ? nativeEngine(config.TERRANE_OGR2OGR) : wasmEngine
}

/** Every task that this worker can run. */
export function makeTasks(config: WorkerConfig, deps: TaskDeps): Task[] {
  const areaLimits = {
    maxAreaKm2: config.maxAreaKm2 || Infinity,
    maxVertices: config.maxAreaVertices,
  }
  const engine = engineOf(config)
  return [
    osmImportArea(osmImportSettings(config)),
    createGeoEmbeddingsTask({
      ...deps.models,
      dataRoots: splitList(config.TERRANE_DATA_ROOTS),
      maxTiles: config.GEOEMBEDDINGS_MAX_TILES,
      maxPatches: config.maxPatches,
      maxBytes: config.GEOEMBEDDINGS_MAX_GEOTIFF_BYTES,
    }),
    createSraiEmbeddingsTask({
      osm: osmImportSettings(config),
      geocoder: deps.geocoder,
      maxCells: config.maxH3Cells,
    }),
    importEmbeddings({
      maxBytes: config.GEOEMBEDDINGS_MAX_GEOTIFF_BYTES,
      maxRows: config.maxPatches,
      crs: deps.models.crs,
      openSchemas: config.openSchemas,
    }),
    overtureImportArea({ ...areaLimits, catalogueUrl: config.overtureCatalogueUrl }),
    ogr2ogrImport({
      engine,
      maxBytes: config.maxImportBytes,
      openSchemas: config.openSchemas,
    }),
    exportTable({ engine, openSchemas: config.openSchemas }),
    archiveToPmtiles({
      memoryBytes: config.TERRANE_TILER_MEMORY_MB * 2 ** 20,
      openSchemas: config.openSchemas,
    }),
    osmUpdateArea(osmImportSettings(config)),
    trainClassifier({ openSchemas: config.openSchemas }),
    classifyEmbeddings(),
    clusterEmbeddings(),
  ]
}

/** The operator's CRS definitions: `[{"epsg": 2056, "name": "…", "definition": "+proj=…"}]`. */
async function readCrsFile(path: string | undefined): Promise<CrsEntry[]> {
  if (path === undefined) return []
  try {
    const entries = JSON.parse(await readFile(path, 'utf8')) as CrsEntry[]
    createCrsCatalogue(entries)
    return entries
  } catch (cause) {
    throw new TerraneError(
      'INVALID_CONFIG',
      'invalid',
      `The file of worker.crsFile cannot be used: ${(cause as Error).message}`,
      { cause },
    )
  }
}
