import { projectPath, request } from './api.ts'

/** An embedding table, as the catalogue describes it. */
export interface EmbeddingTable {
  readonly table_name: string
  /** geo: tiles of a raster; srai: cells of a grid. */
  readonly kind: string
  readonly model_name: string
  readonly dims: number
  readonly rows: number
  readonly level: string
  readonly tile_size: number | null
  readonly attribution: string | null
  readonly bbox: readonly [number, number, number, number] | null
  readonly created_at: string
}

/** A tile or cell. Ids are text: those of cells have more digits than a JavaScript number holds. */
export interface Tile {
  readonly id: string
  readonly geom: GeoJSON.Polygon
  readonly label_name: string | null
}

/** A tile and how much it is like another, or has changed. */
export interface Match {
  readonly id: string
  /** Similarity, or `1 - similarity` of two dates. */
  readonly score: number
  readonly geom: GeoJSON.Polygon
}

/** What the others are compared with: a tile, or what lies at a position. */
export type SearchFrom = { readonly id: string } | { readonly lng: number; readonly lat: number }

/** Most tiles whose outlines are drawn; beyond them one searches by position. */
export const MAX_TILES = 20_000

const COLUMNS = 'table_name,kind,model_name,dims,rows,level,tile_size,attribution,bbox,created_at'

export function readCatalogue(ref: string, signal?: AbortSignal): Promise<EmbeddingTable[]> {
  const query = new URLSearchParams({ select: COLUMNS, order: 'created_at.desc', limit: '500' })
  return request('GET', projectPath(ref, `/rest/v1/embeddings_catalogue?${query}`), undefined, signal)
}

export function readTiles(ref: string, table: string, signal?: AbortSignal): Promise<Tile[]> {
  const query = new URLSearchParams({ select: 'id::text,geom,label_name', order: 'id', limit: String(MAX_TILES) })
  return request('GET', projectPath(ref, `/rest/v1/${table}?${query}`), undefined, signal)
}

/** The most similar tiles, the nearest first; a tile that is compared with others is among them. */
export function search(
  ref: string,
  table: string,
  from: SearchFrom,
  limit: number,
  signal?: AbortSignal,
): Promise<Match[]> {
  const body = {
    table_name: table,
    ...('id' in from ? { patch_id: from.id } : { lon: from.lng, lat: from.lat }),
    similarity_threshold: -1,
    result_limit: limit,
    include_geom: true,
  }
  const path = projectPath(ref, '/rest/v1/rpc/similarity_search?select=id::text,score:similarity,geom')
  return request('POST', path, body, signal)
}

/** The tiles that changed most from one table to another of the same place, the most changed first. */
export function changes(
  ref: string,
  before: string,
  after: string,
  limit: number,
  signal?: AbortSignal,
): Promise<Match[]> {
  const body = { table_name_1: after, table_name_2: before, result_limit: limit, include_geom: true }
  const path = projectPath(ref, '/rest/v1/rpc/change_detection?select=id::text,score:change_score,geom')
  return request('POST', path, body, signal)
}
