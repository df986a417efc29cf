/** Tables for the geometries of a type: one family, or one table per family with a suffix. */
export type Geometry = 'point' | 'line' | 'polygon' | 'mixed'

/** Types that Overture publishes, with their licences: docs.overturemaps.org/attribution. */
interface OvertureType {
  readonly topic: string
  readonly geometry: Geometry
  readonly licence: string
  readonly attribution: string
}

const OSM = { licence: 'ODbL-1.0', attribution: '© OpenStreetMap contributors, Overture Maps Foundation' }
const PLACES = {
  licence: 'CDLA-Permissive-2.0 and others: https://docs.overturemaps.org/attribution/#places',
  attribution: 'Overture Maps Foundation',
}
const ADDRESSES = {
  licence: 'several open licences: https://docs.overturemaps.org/attribution/#addresses',
  attribution: 'Overture Maps Foundation; see the column sources',
}

/**
 * The types of Overture's schema by name.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { OVERTURE_TYPES } from '@terrane/overture'
 *
 * assert.equal(OVERTURE_TYPES['segment']?.topic, 'transportation')
 * ```
 */
export const OVERTURE_TYPES: Readonly<Record<string, OvertureType>> = {
  address: { topic: 'addresses', geometry: 'point', ...ADDRESSES },
  bathymetry: {
    topic: 'base',
    geometry: 'polygon',
    licence: 'CC0-1.0',
    attribution: 'Overture Maps Foundation, GLOBathy, ETOPO1',
  },
  infrastructure: { topic: 'base', geometry: 'mixed', ...OSM },
  land: { topic: 'base', geometry: 'mixed', ...OSM },
  land_cover: {
    topic: 'base',
    geometry: 'polygon',
    licence: 'CC-BY-4.0',
    attribution: '© ESA WorldCover project, Overture Maps Foundation',
  },
  land_use: { topic: 'base', geometry: 'mixed', ...OSM },
  water: { topic: 'base', geometry: 'mixed', ...OSM },
  building: { topic: 'buildings', geometry: 'polygon', ...OSM },
  building_part: { topic: 'buildings', geometry: 'polygon', ...OSM },
  division: { topic: 'divisions', geometry: 'point', ...OSM },
  division_area: { topic: 'divisions', geometry: 'polygon', ...OSM },
  division_boundary: { topic: 'divisions', geometry: 'line', ...OSM },
  place: { topic: 'places', geometry: 'point', ...PLACES },
  connector: { topic: 'transportation', geometry: 'point', ...OSM },
  segment: { topic: 'transportation', geometry: 'line', ...OSM },
}

/**
 * The types that a request asks for, by name, in the order of the list above.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { typesOf } from '@terrane/overture'
 *
 * assert.deepEqual(typesOf(['transportation'], ['place']), ['place', 'connector', 'segment'])
 * ```
 */
export function typesOf(topics: readonly string[], types: readonly string[]): string[] {
  return Object.entries(OVERTURE_TYPES)
    .filter(([name, { topic }]) => types.includes(name) || topics.includes(topic))
    .map(([name]) => name)
}
