import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseForeignJson } from '@terrane/service'
import { readAoi, type Aoi } from '@terrane/core'
import { cachedDownload, type CacheOptions } from './cached-download.ts'
import { extractIndexBroken, noExtractCovers } from './errors.ts'

/** An extract that can be downloaded. */
export interface Extract {
  readonly id: string
  readonly name: string
  readonly url: string
}

const INDEX_MAX_AGE_MS = 24 * 3_600_000
const INDEX_MAX_BYTES = 16 << 20
const NO_LIMITS = { maxVertices: Infinity, maxAreaKm2: Infinity, maxPolygons: Infinity }

/**
 * The smallest extract of a Geofabrik-like server (`index-v1.json`) that contains the whole area.
 *
 * @throws NO_EXTRACT_COVERS_AREA, EXTRACT_INDEX_BROKEN, and what the guarded fetch throws
 */
export async function findExtract(baseUrl: string, aoi: Aoi, workdir: string, options: CacheOptions): Promise<Extract> {
  const path = join(workdir, 'index-v1.json')
  const url = new URL('index-v1.json', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`).href
  const { onBytes: _, md5: __, ...rest } = options
  await cachedDownload(url, path, { ...rest, maxBytes: INDEX_MAX_BYTES, maxAgeMs: INDEX_MAX_AGE_MS })
  return smallestContaining(parseIndex(await readFile(path, 'utf8')), aoi)
}

interface IndexEntry extends Extract {
  readonly geometry: unknown
}

function parseIndex(text: string): IndexEntry[] {
  let index: unknown
  try {
    index = parseForeignJson(text)
  } catch (cause) {
    throw extractIndexBroken({ reason: 'it is not JSON' }, { cause })
  }
  const features = isObject(index) && Array.isArray(index['features']) ? (index['features'] as unknown[]) : null
  if (!features) throw extractIndexBroken({ reason: 'it is not a FeatureCollection' })
  return features.flatMap((feature): IndexEntry[] => {
    const properties = isObject(feature) ? feature['properties'] : null
    const urls = isObject(properties) ? properties['urls'] : null
    const url = isObject(urls) ? urls['pbf'] : null
    if (!isObject(feature) || !isObject(properties) || typeof url !== 'string') return []
    return [{ id: String(properties['id']), name: String(properties['name']), url, geometry: feature['geometry'] }]
  })
}

function smallestContaining(entries: readonly IndexEntry[], aoi: Aoi): Extract {
  let best: IndexEntry | null = null
  let least = Infinity
  for (const entry of entries) {
    const region = regionOf(entry)
    if (!region || region.areaKm2 >= least || !region.contains(aoi)) continue
    best = entry
    least = region.areaKm2
  }
  if (!best) throw noExtractCovers()
  return { id: best.id, name: best.name, url: best.url }
}

/** An entry with an unreadable outline is skipped; the others are still used. */
function regionOf(entry: IndexEntry): Aoi | null {
  try {
    return readAoi(entry.geometry, NO_LIMITS)
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
