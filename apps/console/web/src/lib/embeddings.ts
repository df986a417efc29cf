import { qualified, quoteIdentifier, quoteLiteral } from '@terrane/core/sql-text'
import { get, projectPath, request } from './api.ts'

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

/** A tile or cell. Ids are text, because ids of cells have more digits than a JavaScript number holds. */
export interface Tile {
  readonly id: string
  readonly geom: GeoJSON.Polygon
  readonly label_name: string | null
}

/** A tile with its similarity or change score. */
export interface Match {
  readonly id: string
  /** Similarity, or amount of change between two dates. */
  readonly score: number
  readonly geom: GeoJSON.Polygon
}

/** Example tiles of the wanted kind, at least one, and counter-examples. */
export interface Examples {
  readonly like: readonly string[]
  readonly unlike: readonly string[]
}

/** The reference of a search: tiles, or the tile at a position. */
export type SearchFrom = Examples | { readonly lng: number; readonly lat: number }

/**
 * Weight (0 to 1) of the differences among results against their similarity to the query in a varied search, and the
 * maximum number of its results.
 */
const VARIETY = 0.5
export const MAX_VARIED = 100

/** Maximum tiles whose outlines are drawn. Larger tables are searched by position. */
export const MAX_TILES = 50_000

const COLUMNS = 'table_name,kind,model_name,dims,rows,level,tile_size,attribution,bbox,created_at'

export function readCatalogue(ref: string, signal?: AbortSignal): Promise<EmbeddingTable[]> {
  const query = new URLSearchParams({ select: COLUMNS, order: 'created_at.desc', limit: '500' })
  return get(projectPath(ref, `/rest/v1/embeddings_catalogue?${query}`), signal)
}

export function readTiles(ref: string, table: string, signal?: AbortSignal): Promise<Tile[]> {
  const query = new URLSearchParams({ select: 'id::text,geom,label_name', order: 'id', limit: String(MAX_TILES) })
  return get(projectPath(ref, `/rest/v1/${table}?${query}`), signal)
}

/** Attribution of the named tables together; null when none has one. */
export function attributionOf(tables: readonly EmbeddingTable[], names: readonly (string | null)[]): string | null {
  const found = tables.filter(({ table_name: name }) => names.includes(name)).flatMap((one) => one.attribution || [])
  return [...new Set(found)].join(', ') || null
}

/** Names of the classifiers that begin with a text of letters, digits and `_`, once per version. */
export async function readClassifiers(ref: string, beginning: string): Promise<readonly string[]> {
  const query = new URLSearchParams({ select: 'name', name: `like.${beginning}*` })
  const found = await get<{ name: string }[]>(projectPath(ref, `/rest/v1/classifiers?${query}`))
  return found.map(({ name }) => name)
}

/** A search for tiles. */
export interface SimilaritySearch {
  readonly table: string
  readonly from: SearchFrom
  readonly limit: number
  /** True when results that nearly repeat others are left out. */
  readonly varied: boolean
  /** True when only the newest of several dates of a place counts. */
  readonly latest: boolean
  /** Outlines of all tiles of the table by id, if known; the search then requests none. */
  readonly outlines: ReadonlyMap<string, GeoJSON.Polygon> | null
}

/**
 * The most similar tiles in descending order, or with `varied` some that differ from each other; the examples are
 * included.
 */
export async function search(ref: string, asked: SimilaritySearch, signal?: AbortSignal): Promise<Ranking> {
  const { outlines } = asked
  const body = { ...searchArguments(asked), include_geom: outlines === null }
  const columns = outlines ? 'id::text,score:similarity' : 'id::text,score:similarity,geom'
  const path = projectPath(ref, `/rest/v1/rpc/similarity_search?select=${columns}`)
  const found = await request<Match[]>('POST', path, body, signal)
  return { unit: 'similarity', matches: outlines ? withOutlines(found, outlines) : found }
}

/** Arguments of `similarity_search`. */
function searchArguments({ table, from, limit, varied, latest }: Omit<SimilaritySearch, 'outlines'>) {
  return {
    table_name: table,
    ...('like' in from
      ? { positive: { [table]: from.like }, negative: { [table]: from.unlike } }
      : { lon: from.lng, lat: from.lat }),
    similarity_threshold: -1,
    result_limit: varied ? Math.min(limit, MAX_VARIED) : limit,
    ...(varied && { variety: VARIETY }),
    ...(latest && { latest }),
  }
}

/**
 * A statement with the tiles of a search, their scores and their shapes in degrees.
 *
 * @param least lowest score
 */
export function searchSql(asked: Omit<SimilaritySearch, 'outlines'>, least: number): string {
  return rankedSql('similarity_search', { ...searchArguments(asked), include_geom: true }, ['similarity'], least)
}

/** A statement with the most changed tiles between two tables, their scores and their shapes in degrees. */
export function changesSql(asked: Comparison, unit: ScoreUnit, least: number): string {
  const scores = unit === 'change_z' ? ['change_z', 'change_score'] : ['change_score']
  return rankedSql('change_detection', changeArguments(asked), scores, least)
}

function rankedSql(name: string, values: object, scores: readonly string[], least: number): string {
  const list = Object.entries(values).map(([key, value]) => `${key} => ${literal(value)}`)
  const columns = ['id', ...scores, 'st_multi(geom)::geometry(MultiPolygon, 4326) as geom'].join(', ')
  const call = `${qualified('geoembeddings', name)}(${list.join(', ')})`
  return `select ${columns} from ${call} where ${quoteIdentifier(scores[0]!)} >= ${least}`
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoteLiteral(value)
  return quoteLiteral(JSON.stringify(value)) + (typeof value === 'object' ? '::jsonb' : '')
}

/** Adds the outlines of tiles to their scores. Tiles without a known outline, such as new ones, are left out. */
export function withOutlines(
  found: readonly Omit<Match, 'geom'>[],
  outlines: ReadonlyMap<string, GeoJSON.Polygon>,
): Match[] {
  return found.flatMap(({ id, score }) => {
    const geom = outlines.get(id)
    return geom ? [{ id, score, geom }] : []
  })
}

/** Colours of tiles by id: their first three principal components as red, green and blue. */
export async function readColors(
  ref: string,
  table: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const body = { table_name: table, result_limit: MAX_TILES, include_geom: false }
  const path = projectPath(ref, '/rest/v1/rpc/embedding_colors?select=id::text,color')
  const rows = await request<{ id: string; color: string }[]>('POST', path, body, signal)
  return new Map(rows.map(({ id, color }) => [id, color]))
}

/** Kind of score in a list of matches. */
export type ScoreUnit = 'similarity' | 'change_z' | 'change_score'

/** Matches in descending order of their scores. */
export interface Ranking {
  readonly unit: ScoreUnit
  readonly matches: readonly Match[]
}

/** A pair of tiles from the comparison of two tables. */
export interface Change {
  readonly id: string
  /** Null when there are too few pairs for a typical change. */
  readonly change_z: number | null
  readonly change_score: number
  readonly geom: GeoJSON.Polygon
}

/** A comparison of two tables of the same place. */
export interface Comparison {
  readonly before: string
  readonly after: string
  readonly limit: number
}

function changeArguments({ before, after, limit }: Comparison) {
  return { table_name_1: after, table_name_2: before, result_limit: limit, include_geom: true }
}

/** The most changed tiles between two tables of the same place, in descending order. */
export async function changes(ref: string, asked: Comparison, signal?: AbortSignal): Promise<Ranking> {
  const path = projectPath(ref, '/rest/v1/rpc/change_detection?select=id::text,change_z,change_score,geom')
  return rankedChanges(await request<Change[]>('POST', path, changeArguments(asked), signal))
}

/** Changes with the score that they are ordered by: `change_z`, or `change_score` where no pair has one. */
export function rankedChanges(rows: readonly Change[]): Ranking {
  const unit = rows.some(({ change_z: z }) => z !== null) ? 'change_z' : 'change_score'
  return { unit, matches: rows.map((row) => ({ id: row.id, score: row[unit] ?? 0, geom: row.geom })) }
}
