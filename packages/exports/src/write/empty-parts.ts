import type { Losses } from '../losses.ts'

interface Geometry {
  readonly type: string
  readonly coordinates?: Coordinates
  readonly geometries?: readonly Geometry[]
}
type Coordinates = readonly (number | Coordinates)[]

/** Whether a geometry of GeoJSON has an empty part, or is empty. */
export function hasEmptyParts(text: string): boolean {
  return text.includes('[]')
}

/**
 * A geometry of GeoJSON without its empty parts, which is counted: an empty position makes readers leave out all of it. One
 * that is empty itself stays, as RFC 7946 has it (3.1).
 */
export function withoutEmptyParts(text: string, losses: Losses): string {
  const pruned = prune(JSON.parse(text) as Geometry)
  if (pruned === null) return text
  const message = 'Empty parts of geometries, for which readers of GeoJSON leave out all of them, were left out.'
  losses.count('EMPTY_PARTS_LEFT_OUT', message)
  return JSON.stringify(pruned)
}

function prune({ type, coordinates, geometries }: Geometry): Geometry | null {
  if (geometries) {
    const parts = geometries.map(prune).filter((part) => part !== null)
    return parts.length === 0 ? null : { type, geometries: parts }
  }
  const positions = pruneList(coordinates ?? [])
  return positions.length === 0 ? null : { type, coordinates: positions }
}

function pruneList(list: Coordinates): Coordinates {
  return list
    .map((item) => (typeof item === 'number' ? item : pruneList(item)))
    .filter((item) => typeof item === 'number' || item.length > 0)
}
