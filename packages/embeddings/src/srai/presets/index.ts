import { presetUnknown } from '../errors.ts'
import type { OsmFilter, TagValues } from '../osm-filter.ts'
import baseOsmGroups from './base-osm-groups.json' with { type: 'json' }
import geofabrikLayers from './geofabrik-layers.json' with { type: 'json' }
import hex2vec from './hex2vec.json' with { type: 'json' }

/** Form of the tables: values separated by spaces, `*` for every value. */
type Table = Readonly<Record<string, string>>

/** The presets by the names that users of srai know, and by those of its constants. */
const PRESETS: Readonly<Record<string, () => OsmFilter>> = {
  // The tags of the Hex2Vec paper (Woźniak and Szymański 2021): 15 keys, 725 values.
  hex2vec: () => ({ kind: 'keys', keys: readTable(hex2vec) }),
  // Groups of common map features.
  base_osm_groups: () => readGroups(baseOsmGroups),
  // The layers of Geofabrik's free shapefiles.
  geofabrik_layers: () => readGroups(geofabrikLayers),
  bicycle_parking: () => ({ kind: 'keys', keys: { amenity: ['bicycle_parking'] } }),
}

/** The names that `osmPreset` takes. */
export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS)

/** Other names that clients use. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['base_osm', 'base_osm_groups'],
  ['geofabrik', 'geofabrik_layers'],
])

/**
 * The filter of a preset; `HEX2VEC_FILTER` and `hex2vec` are the same, and so are `base_osm` and `base_osm_groups`.
 *
 * @throws OSM_PRESET_UNKNOWN
 */
export function osmPreset(name: string): OsmFilter {
  const plain = name
    .toLowerCase()
    .replaceAll('-', '_')
    .replace(/_filter$/, '')
  const key = ALIASES.get(plain) ?? plain
  if (!Object.hasOwn(PRESETS, key)) throw presetUnknown({ name, known: PRESET_NAMES })
  return PRESETS[key]!()
}

function readGroups(tables: Readonly<Record<string, Table>>): OsmFilter {
  const groups = Object.entries(tables).map(([name, table]) => [name, readTable(table)] as const)
  return { kind: 'groups', groups: Object.fromEntries(groups) }
}

function readTable(table: Table): Record<string, TagValues> {
  const keys = Object.entries(table).map(([key, values]) => [key, values === '*' || values.split(' ')] as const)
  return Object.fromEntries(keys)
}
