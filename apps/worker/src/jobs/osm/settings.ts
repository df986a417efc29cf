import { join, resolve } from 'node:path'
import { splitList } from '@terrane/service'
import type { WorkerConfig } from '../../config.ts'
import type { OsmSourceSettings } from './obtain.ts'

export interface OsmImportSettings extends OsmSourceSettings {
  readonly maxAreaKm2: number
  readonly maxVertices: number
  /** Most nodes of a file: each takes 10 bytes of memory. */
  readonly maxNodes: number
}

export function osmImportSettings(config: WorkerConfig): OsmImportSettings {
  return {
    defaultSource: config.TERRANE_OSM_SOURCE,
    geofabrikUrl: config.TERRANE_GEOFABRIK_URL,
    overpassUrl: config.TERRANE_OVERPASS_URL,
    dataRoots: splitList(config.TERRANE_DATA_ROOTS),
    cacheFolder: join(resolve(config.TERRANE_CACHE_DIR), 'osm'),
    maxCacheBytes: config.TERRANE_CACHE_MAX_BYTES,
    maxBytes: config.TERRANE_OSM_MAX_BYTES,
    maxNodes: config.TERRANE_OSM_MAX_NODES,
    maxAreaKm2: config.TERRANE_MAX_AOI_KM2 || Infinity,
    maxVertices: config.TERRANE_MAX_AOI_VERTICES,
  }
}
