import type { BasemapColumn, BasemapTable, BasemapTiles } from './basemap-types.ts'

/** Name prefix of the basemaps among the archives in bucket `pmtiles`. */
export const BASEMAP_ARCHIVE = 'basemap_'

const each = (value: string, names: string) => Object.fromEntries(names.split(' ').map((name) => [name, value]))
/** `yes` for a tag with any value but `no`; styles test whether the attribute exists. */
const yes = (name: string, key: string): BasemapColumn => ({ name, key, map: { no: null, '*': 'yes' } })

const MINOR = 'residential unclassified living_street road service raceway busway'
const PATHS = 'pedestrian footway path cycleway steps track bridleway corridor via_ferrata'
const LINKS = 'motorway_link trunk_link primary_link secondary_link tertiary_link'
const RAILS = 'rail light_rail subway tram narrow_gauge funicular monorail preserved'
const ROAD_KINDS = {
  ...each('highway', 'motorway motorway_link'),
  ...each('major_road', `trunk primary secondary tertiary ${LINKS.replace('motorway_link ', '')}`),
  ...each('minor_road', MINOR),
  ...each('path', PATHS),
  ...each('rail', RAILS),
  ...each('aeroway', 'runway taxiway'),
}
const RANKS = {
  ...each('9', 'motorway rail'),
  ...each('8', 'trunk motorway_link'),
  ...each('7', 'primary trunk_link'),
  ...each('6', 'secondary primary_link'),
  ...each('5', 'tertiary secondary_link tertiary_link light_rail'),
  ...each('3', MINOR),
  '*': '1',
}
const ROAD_KEYS = ['highway', 'railway', 'aeroway']
const LAND_KEYS = ['landuse', 'leisure', 'natural', 'amenity', 'aeroway', 'tourism', 'boundary']
const LAND = {
  landuse:
    'forest cemetery grass meadow allotments village_green recreation_ground industrial commercial retail military',
  leisure: 'park garden nature_reserve golf_course pitch playground common',
  natural: 'wood scrub heath grassland glacier sand beach',
  amenity: 'grave_yard school university college kindergarten hospital',
  aeroway: 'aerodrome',
  tourism: 'zoo',
  boundary: 'national_park protected_area',
}
const LAND_KINDS = {
  ...each('grass', 'meadow common'),
  ...each('park', 'garden recreation_ground'),
  ...each('playground', 'pitch'),
  ...each('industrial', 'commercial retail'),
  ...each('scrub', 'heath'),
  ...each('cemetery', 'grave_yard'),
  ...each('school', 'kindergarten'),
}

/**
 * Tables of an OpenStreetMap import (`topics` of `osmImportArea`) whose tiles have the layers and attributes of Protomaps'
 * basemaps, so that their styles draw them.
 */
export const BASEMAP_TABLES: { readonly tables: readonly BasemapTable[] } = {
  tables: [
    {
      name: 'landuse',
      geometry: 'multipolygon',
      from: ['area'],
      where: { any: Object.entries(LAND).map(([key, values]) => ({ key, is: values.split(' ') })) },
      columns: ['name', { name: 'kind', keys: LAND_KEYS, map: LAND_KINDS }],
    },
    {
      name: 'water',
      geometry: 'multipolygon',
      from: ['area'],
      where: {
        any: [
          { key: 'natural', is: ['water', 'bay', 'strait'] },
          { key: 'waterway', is: ['riverbank', 'dock'] },
          { key: 'landuse', is: ['reservoir', 'basin'] },
        ],
      },
      columns: ['name', { name: 'kind', keys: ['water', 'natural'], map: { lake: 'lake', '*': 'water' } }],
    },
    {
      name: 'waterways',
      geometry: 'linestring',
      from: ['line'],
      where: { key: 'waterway', is: ['river', 'canal', 'stream', 'ditch', 'drain'] },
      columns: ['name', { name: 'kind', key: 'waterway', map: { ...each('river', 'river canal'), '*': 'stream' } }],
    },
    {
      name: 'buildings',
      geometry: 'multipolygon',
      from: ['area'],
      where: { key: 'building' },
      columns: [
        { name: 'kind', key: 'building', map: { '*': 'building' } },
        { name: 'height', type: 'metres' },
      ],
    },
    {
      name: 'addresses',
      geometry: 'point',
      from: ['node', 'area'],
      where: { key: 'addr:housenumber' },
      columns: [
        { name: 'kind', key: 'addr:housenumber', map: { '*': 'address' } },
        { name: 'addr_housenumber', key: 'addr:housenumber' },
      ],
    },
    {
      name: 'roads',
      geometry: 'linestring',
      from: ['line'],
      where: {
        any: [
          { key: 'highway', is: `motorway trunk primary secondary tertiary ${LINKS} ${MINOR} ${PATHS}`.split(' ') },
          { key: 'railway', is: RAILS.split(' ') },
          { key: 'aeroway', is: ['runway', 'taxiway'] },
        ],
      },
      columns: [
        'name',
        'ref',
        { name: 'kind', keys: ROAD_KEYS, map: { ...ROAD_KINDS, '*': 'other' } },
        { name: 'kind_detail', keys: ROAD_KEYS },
        yes('is_tunnel', 'tunnel'),
        yes('is_bridge', 'bridge'),
        { name: 'is_link', key: 'highway', map: { ...each('yes', LINKS), '*': null } },
        { name: 'rank', keys: ROAD_KEYS, map: RANKS, type: 'integer' },
      ],
    },
    {
      name: 'boundaries',
      geometry: 'multilinestring',
      from: ['relation'],
      where: {
        all: [
          { key: 'boundary', is: 'administrative' },
          { key: 'admin_level', is: ['2', '3', '4', '5', '6'] },
        ],
      },
      columns: ['name', { name: 'kind_detail', key: 'admin_level', type: 'integer' }],
    },
    {
      name: 'places',
      geometry: 'point',
      from: ['node'],
      where: { key: 'place', is: 'city town village hamlet suburb quarter neighbourhood'.split(' ') },
      columns: [
        'name',
        {
          name: 'kind',
          key: 'place',
          map: { ...each('neighbourhood', 'suburb quarter neighbourhood'), '*': 'locality' },
        },
        { name: 'kind_detail', key: 'place' },
        { name: 'population', type: 'integer', default: 0 },
        // Order and size of names: a city is shown at lower zooms than a hamlet.
        {
          name: 'min_zoom',
          key: 'place',
          map: { city: '5', town: '8', village: '10', suburb: '11', '*': '12' },
          type: 'integer',
        },
        {
          name: 'population_rank',
          key: 'place',
          map: { city: '11', town: '8', village: '5', '*': '3' },
          type: 'integer',
        },
      ],
    },
  ],
}

/** Lowest and highest zoom by table; at higher zooms styles enlarge the tiles of the highest one. */
const ZOOMS = {
  landuse: [7, 14],
  water: [5, 14],
  waterways: [8, 14],
  buildings: [13, 14],
  addresses: [14, 14],
  roads: [6, 14],
  boundaries: [4, 14],
  places: [4, 14],
} as const

/** Tables that were added to {@link BASEMAP_TABLES} later, so that earlier imports lack them. */
const LATER: ReadonlySet<string> = new Set(['addresses'])

/**
 * The body of `archiveToPmtiles` that builds a basemap from the tables of an import with {@link BASEMAP_TABLES}.
 *
 * @param prefix `tablePrefix` of the import
 * @param name name of the basemap, in lower case
 * @param tables the tables of the import; the archive has a layer for each of them that belongs to a basemap
 *
 * @example
 * ```ts
 * basemapTiles('porto', 'porto', ['porto_roads', 'porto_water']).archiveName // 'basemap_porto'
 * ```
 */
export function basemapTiles(prefix: string, name: string, tables: readonly string[]): BasemapTiles {
  const [first, ...others] = Object.entries(ZOOMS)
    .map(([layerName, zooms]) => ({
      table: `${prefix}_${layerName}`,
      layerName,
      zooms: [...zooms] as [number, number],
      // Property that decides which features stay when a tile would be too large.
      ...(layerName === 'roads' && { rankBy: { property: 'rank' } }),
      ...(layerName === 'places' && { rankBy: { property: 'population_rank' } }),
    }))
    .filter(({ table }) => tables.includes(table))
  return { ...first!, archiveName: archiveNameOf(name), zooms: [4, 14], layers: others }
}

/** The name of a basemap's archive in bucket `pmtiles`. */
export function archiveNameOf(basemap: string): string {
  return `${BASEMAP_ARCHIVE}${basemap}`
}

/**
 * The `tablePrefix` of an import, from its table names; null when they are not those of a basemap. Imports made before
 * basemaps had house numbers are basemaps too.
 */
export function basemapPrefix(tables: readonly string[]): string | null {
  const roads = tables.find((table) => table.endsWith('_roads'))
  const prefix = roads?.slice(0, -'_roads'.length)
  const isBasemap = BASEMAP_TABLES.tables.every(({ name }) => LATER.has(name) || tables.includes(`${prefix}_${name}`))
  return isBasemap ? (prefix ?? null) : null
}
