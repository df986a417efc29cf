import { boxOf } from '../map/box.ts'
import { readLiveTables } from '../map/live.ts'
import { get, projectPath, toProblem } from './api.ts'

/** A named feature of a table of the project. */
export interface Place {
  readonly name: string
  /** `schema.table`. */
  readonly table: string
  readonly at: { readonly lng: number; readonly lat: number }
}

/** Maximum tables that are searched, and results of each. */
const MOST_TABLES = 16
const MOST_NAMES = 5

/**
 * Features of the project's tables whose name contains a text, one per name and table, and the tables that have names.
 * The routing engine has no place names.
 */
export async function findPlaces(
  ref: string,
  text: string,
  signal?: AbortSignal,
): Promise<{ readonly places: readonly Place[]; readonly tables: readonly string[] }> {
  const tables = (await readLiveTables(ref, signal)).slice(0, MOST_TABLES)
  const found = await Promise.all(tables.map(({ name }) => namedIn(ref, name, text, signal)))
  const places = found.flatMap((some) => some ?? [])
  return {
    places: [...new Map(places.map((place) => [`${place.table} ${place.name}`, place])).values()],
    tables: tables.filter((_, i) => found[i] !== null).map(({ name }) => name),
  }
}

/** Features of a table whose name contains a text; null for a table without names. */
async function namedIn(ref: string, table: string, text: string, signal?: AbortSignal): Promise<Place[] | null> {
  const dot = table.indexOf('.')
  const path = projectPath(ref, `/tables/${table.slice(0, dot)}/${encodeURIComponent(table.slice(dot + 1))}/rows`)
  const query = new URLSearchParams({ named: text, limit: String(MOST_NAMES) })
  try {
    const rows = await get<GeoJSON.FeatureCollection>(`${path}?${query}`, signal)
    return rows.features.flatMap(({ geometry, properties }) => {
      const at = middleOf(geometry)
      return at ? [{ name: String(properties?.['name']), table, at }] : []
    })
  } catch (error) {
    // 42703: the table has no such column.
    if (toProblem(error).code === '42703') return null
    throw error
  }
}

/** A position for a feature: the middle position of a line, the centre of an area's box. */
function middleOf(geometry: GeoJSON.Geometry | null): Place['at'] | null {
  if (geometry === null) return null
  const positions = positionsOf(geometry)
  if (geometry.type === 'LineString' || geometry.type === 'MultiLineString') {
    const [lng, lat] = positions[positions.length >> 1] ?? []
    return lng === undefined || lat === undefined ? null : { lng, lat }
  }
  const box = boxOf(positions)
  return box && { lng: (box[0] + box[2]) / 2, lat: (box[1] + box[3]) / 2 }
}

function positionsOf(geometry: GeoJSON.Geometry): GeoJSON.Position[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(positionsOf)
  const flat: unknown = geometry.type === 'Point' ? [geometry.coordinates] : geometry.coordinates
  let positions = flat as unknown[]
  while (Array.isArray((positions[0] as unknown[] | undefined)?.[0])) positions = positions.flat()
  return positions as GeoJSON.Position[]
}
