import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type CityTags = Readonly<Record<string, string>>

/** An element of the town, as the writer of the osm package takes it; this package stands below that one. */
export type CityElement =
  | { readonly type: 'node'; readonly id: number; readonly lon: number; readonly lat: number; readonly tags: CityTags }
  | { readonly type: 'way'; readonly id: number; readonly refs: readonly number[]; readonly tags: CityTags }
  | { readonly type: 'relation'; readonly id: number; readonly members: readonly CityMember[]; readonly tags: CityTags }

interface CityMember {
  readonly type: CityElement['type']
  readonly ref: number
  readonly role: string
}

/** A land cover polygon in degrees, an outer ring and its holes, closed; later ones lie over earlier ones. */
export interface CityGround {
  readonly cover: 'fields' | 'forest' | 'town' | 'industry' | 'park' | 'water'
  /** What grows on a field. */
  readonly crop?: string
  readonly polygon: readonly (readonly (readonly [lon: number, lat: number])[])[]
}

export interface City {
  /** Nodes, ways, relations, each by ascending id. */
  readonly elements: readonly CityElement[]
  /** What a file of the town says of itself: `writePbf(city.elements, city.header)` makes one. */
  readonly header: typeof HEADER
  readonly ground: readonly CityGround[]
}

const HEADER = {
  /** West, south, east, north in degrees. */
  bbox: [11.5781847, 48.0865102, 11.6218153, 48.1134898],
  timestamp: new Date('2026-01-01T00:00:00Z'),
  optionalFeatures: ['Sort.Type_then_ID'],
} as const

/**
 * A small invented town of 3 by 3 km on a river, with everything that maps, routes and tiles are made of: streets of all
 * classes, a roundabout, signals and turn restrictions, a motorway with a junction, bridges, ferries, a railway, houses
 * with addresses, shops, fields, a forest, a lake with an island, places and borders. Its files have one element a line.
 */
export function readCity(): City {
  return { elements: readLines('town.ndjson'), header: HEADER, ground: readLines('ground.ndjson') }
}

function readLines<Line>(file: string): Line[] {
  const lines = readFileSync(join(import.meta.dirname, file), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as Line)
}
