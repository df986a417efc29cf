import type { TagColumn } from './tables.ts'

/** Columns of an address. */
export const ADDRESS: readonly TagColumn[] = [
  ['housenumber', 'text', 'addr:housenumber'],
  ['street', 'text', 'addr:street'],
  ['postcode', 'text', 'addr:postcode'],
  ['city', 'text', 'addr:city'],
]

/** Kinds of public transport routes. */
export const PUBLIC_ROUTES: readonly string[] = [
  'bus',
  'trolleybus',
  'minibus',
  'share_taxi',
  'tram',
  'light_rail',
  'subway',
  'monorail',
  'train',
  'railway',
  'funicular',
  'ferry',
  'aerialway',
]
