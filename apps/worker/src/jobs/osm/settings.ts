import { join, resolve } from 'node:path'
import { splitList } from '@terrane/core'
import type { WorkerConfig } from '../../config.ts'
import type { OsmSourceSettings } from './obtain.ts'

export interface OsmImportSettings extends OsmSourceSettings {
  readonly maxAreaKm2: number
  readonly maxVertices: number
  /** Maximum nodes of a file; with `Infinity`, memory and disk are the limit. */
  readonly maxNodes: number
  /** Memory for data that elements refer to; null means a share of the free memory when the job starts. */
  readonly memoryBytes: number | null
}

export function osmImportSettings(config: WorkerConfig): OsmImportSettings {
  return {
    defaultSource: config.TERRANE_OSM_SOURCE,
    geofabrikUrl: config.geofabrikUrl,
    overpassUrl: config.TERRANE_OVERPASS_URL,
    dataRoots: splitList(config.TERRANE_DATA_ROOTS),
    cacheFolder: join(resolve(config.TERRANE_CACHE_DIR), 'osm'),
    maxCacheBytes: config.maxCacheBytes,
    maxBytes: config.maxOsmBytes,
    maxNodes: config.maxOsmNodes || Infinity,
    memoryBytes: config.TERRANE_OSM_MEMORY_MB * 2 ** 20 || null,
    maxAreaKm2: config.maxAreaKm2 || Infinity,
    maxVertices: config.maxAreaVertices,
  }
}
