import type { Losses } from '../losses.ts'

interface Geometry {
  readonly type: string
  readonly coordinates?: readonly unknown[]
  readonly geometries?: readonly Geometry[]
}

/** GeoJSON without empty points of multi points, counted: readers drop a whole geometry with an empty position. */
export function withoutEmptyPositions(text: string, losses: Losses): string {
  if (!text.includes('[]') || !text.includes('MultiPoint')) return text
  const found = { isChanged: false }
  const geometry = prune(JSON.parse(text) as Geometry, found)
  if (!found.isChanged) return text
  losses.count(
    'EMPTY_PARTS_LEFT_OUT',
    'Readers of GeoJSON take no multi point with an empty point: those were left out.',
  )
  return JSON.stringify(geometry)
}

function prune(geometry: Geometry, found: { isChanged: boolean }): Geometry {
  const { type, coordinates = [], geometries } = geometry
  if (geometries) return { type, geometries: geometries.map((part) => prune(part, found)) }
  if (type !== 'MultiPoint') return geometry
  const positions = coordinates.filter((position) => (position as readonly number[]).length > 0)
  if (positions.length < coordinates.length) found.isChanged = true
  return { type, coordinates: positions }
}
