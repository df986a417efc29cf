import { join, resolve } from 'node:path'
import { splitList } from '@terrane/core'
import type { WorkerConfig } from '../../config.ts'
import type { OsmSourceSettings } from './obtain.ts'

export interface OsmImportSettings extends OsmSourceSettings {
  readonly maxAreaKm2: number
  readonly maxVertices: number
  /** Most nodes of a file; `Infinity` leaves it to the memory and the disk that are there. */
  readonly maxNodes: number
  /** Memory for what a file's elements refer to; a share of what is there when the job starts where it is null. */
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
