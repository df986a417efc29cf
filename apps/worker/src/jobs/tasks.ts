import { join, resolve } from 'node:path'
import { splitList, type GuardedFetch, type Logger } from '@terrane/service'
import type { WorkerConfig } from '../config.ts'
import { archiveToPmtiles } from './archive-to-pmtiles.ts'
import { nativeEngine } from './ogr/native-engine.ts'
import { wasmEngine } from './ogr/wasm-engine.ts'
import { ogr2ogrImport } from './ogr2ogr-import.ts'
import { osmImportArea } from './osm-import-area.ts'
import { overtureImportArea } from './overture-import-area.ts'
import type { Task } from './task.ts'

/** What tasks share. */
export interface TaskDeps {
  readonly fetch: GuardedFetch
  readonly logger: Logger
  /** Registers what is to be closed with the worker. */
  readonly onClose: (close: () => Promise<void>) => void
}

/** Every task that this worker can run. */
export async function makeTasks(config: WorkerConfig, _deps: TaskDeps): Promise<Task[]> {
  const areaLimits = {
    maxAreaKm2: config.TERRANE_MAX_AOI_KM2 || Infinity,
    maxVertices: config.TERRANE_MAX_AOI_VERTICES,
  }
  return [
    osmImportArea({
      ...areaLimits,
      defaultSource: config.TERRANE_OSM_SOURCE,
      geofabrikUrl: config.TERRANE_GEOFABRIK_URL,
      overpassUrl: config.TERRANE_OVERPASS_URL,
      dataRoots: splitList(config.TERRANE_DATA_ROOTS),
      cacheFolder: join(resolve(config.TERRANE_CACHE_DIR), 'osm'),
      maxCacheBytes: config.TERRANE_CACHE_MAX_BYTES,
      maxBytes: config.TERRANE_OSM_MAX_BYTES,
      maxNodes: config.TERRANE_OSM_MAX_NODES,
    }),
    overtureImportArea({ ...areaLimits, catalogueUrl: config.TERRANE_OVERTURE_STAC_URL }),
    ogr2ogrImport({
      engine: config.TERRANE_OGR2OGR ? nativeEngine(config.TERRANE_OGR2OGR) : wasmEngine,
      maxBytes: config.TERRANE_IMPORT_MAX_BYTES,
    }),
    archiveToPmtiles({ memoryBytes: config.TERRANE_TILER_MEMORY_MB * 2 ** 20 }),
  ]
}
