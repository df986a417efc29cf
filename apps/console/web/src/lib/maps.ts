import { compile, documentOf, type MapDocument } from '@terrane/map-style'
import { get, projectPath, request } from './api.ts'

/** A map of the project in a list. */
export interface MapSummary {
  readonly id: string
  readonly title: string
  readonly version: number
  readonly is_public: boolean
  readonly updated_at: string
}

/** A stored map. */
export interface KeptMap extends MapSummary {
  readonly document: MapDocument
  readonly publishable_key: string | null
  readonly origins: readonly string[]
}

interface MapRow extends Omit<KeptMap, 'document'> {
  readonly style: unknown
}

export interface MapVersion {
  readonly version: number
  readonly title: string
  readonly saved_at: string
}

const SUMMARY = 'id,title,version,is_public,updated_at'

export function readMaps(ref: string, signal?: AbortSignal): Promise<readonly MapSummary[]> {
  return get(rows(ref, 'maps', { select: SUMMARY, order: 'updated_at.desc', limit: '500' }), signal)
}

/** A map by its id; null when it does not exist. */
export async function readMap(ref: string, id: string, signal?: AbortSignal): Promise<KeptMap | null> {
  const select = `${SUMMARY},style,publishable_key,origins`
  const [found] = await get<MapRow[]>(rows(ref, 'maps', { id: `eq.${id}`, select }), signal)
  if (!found) return null
  const { style, ...about } = found
  return { ...about, document: documentOf(style) }
}

export function readVersions(ref: string, id: string, signal?: AbortSignal): Promise<readonly MapVersion[]> {
  const query = { map_id: `eq.${id}`, select: 'version,title,saved_at', order: 'version.desc' }
  return get(rows(ref, 'map_versions', query), signal)
}

/** A stored version of a map. */
export async function readVersion(ref: string, id: string, version: number): Promise<MapDocument> {
  const query = { map_id: `eq.${id}`, version: `eq.${version}`, select: 'style' }
  const [found] = await get<{ style: unknown }[]>(rows(ref, 'map_versions', query))
  return documentOf(found?.style)
}

/**
 * Saves changes that are based on a version, and returns the new version. A map with a newer version is not overwritten
 * (409).
 */
export async function saveMap(ref: string, id: string, version: number, map: MapDocument): Promise<number> {
  const body = { version, title: map.title, style: compile(map) }
  return (await request<{ version: number }>('PUT', mapPath(ref, id), body)).version
}

/** URL of the small picture of a map; empty for a map without one. */
export function pictureUrl(ref: string, id: string): string {
  return `${mapPath(ref, id)}/picture`
}

/** Stores the small picture of a map, a data URL. */
export function savePicture(ref: string, id: string, picture: string): Promise<void> {
  return request('PUT', pictureUrl(ref, id), { picture })
}

export function deleteMap(ref: string, id: string): Promise<void> {
  return request('DELETE', mapPath(ref, id))
}

/** Makes a version of a map public; refused when the stored map has another version or other tables (409). */
export function shareMap(
  ref: string,
  id: string,
  what: { readonly version: number; readonly tables: readonly string[]; readonly origins: readonly string[] },
): Promise<{ readonly path: string; readonly tables: readonly string[] }> {
  return request('POST', `${mapPath(ref, id)}/share`, what)
}

export function unshareMap(ref: string, id: string): Promise<void> {
  return request('DELETE', `${mapPath(ref, id)}/share`)
}

function mapPath(ref: string, id: string): string {
  return projectPath(ref, `/maps/${id}`)
}

function rows(ref: string, table: string, query: Readonly<Record<string, string>>): string {
  return projectPath(ref, `/rest/v1/${table}?${new URLSearchParams(query).toString()}`)
}
