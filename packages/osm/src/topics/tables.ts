import type { ColumnKind } from './columns.ts'
import { ADDRESS, PUBLIC_ROUTES } from './column-lists.ts'
import type { Match } from './match.ts'
import { NETWORK_TABLES } from './network-tables.ts'

/** What a caller asks for; each becomes one table, or one per geometry type where its features mix. */
export const TOPICS = [
  'buildings',
  'streets',
  'railways',
  'waterways',
  'water',
  'landuse',
  'natural',
  'places',
  'pois',
  'boundaries',
  'transit',
  'addresses',
  'routes',
  'barriers',
  'power',
  'traffic',
  'entrances',
  'man_made',
] as const
export type Topic = (typeof TOPICS)[number]

/** A column that comes from tags: of the key of its name, or of another one. */
export type TagColumn = readonly [name: string, kind: ColumnKind, key?: string]

/** Which elements give rows: nodes, ways as lines, closed ways and relations as areas, relations of routes and of waterways. */
export type RowSource = 'node' | 'line' | 'area' | 'route' | 'waterway'

/** One table of a topic, as data. Every table also has osm_type, osm_id, name, tags and geom. */
export interface TopicTable {
  readonly topic: Topic | 'all'
  /** The table is called `{prefix}_{suffix}`. */
  readonly suffix: string
  readonly geometryType: 'Point' | 'LineString' | 'MultiLineString' | 'MultiPolygon'
  /** Areas in a table of points are reduced to a point within them; the table then has a column `from_area`. */
  readonly sources: readonly RowSource[]
  /** Tags that make a row; any tag at all when null. */
  readonly match: Match | null
  /** Closed ways that are areas give no lines. */
  readonly areasAreNoLines?: boolean
  /** Adds the columns `category` and `kind`: the key that matched and its value. */
  readonly classified?: boolean
  readonly columns: readonly TagColumn[]
}

const STRUCTURE: readonly TagColumn[] = [
  ['bridge', 'flag'],
  ['tunnel', 'flag'],
  ['layer', 'integer'],
]

const LINEAR_NATURAL = ['coastline', 'cliff', 'ridge', 'arete', 'tree_row', 'gully', 'earth_bank', 'valley', 'gorge']

export const TOPIC_TABLES: readonly TopicTable[] = [
  {
    topic: 'buildings',
    suffix: 'buildings',
    geometryType: 'MultiPolygon',
    sources: ['area'],
    match: { building: '*', 'building:part': '*' },
    columns: [
      ['building', 'text'],
      ['building_part', 'text', 'building:part'],
      ['height', 'metres'],
      ['min_height', 'metres'],
      ['levels', 'number', 'building:levels'],
      ['roof_shape', 'text', 'roof:shape'],
      ...ADDRESS,
    ],
  },
  {
    topic: 'streets',
    suffix: 'streets',
    geometryType: 'LineString',
    sources: ['line'],
    match: {
      highway: {
        except: ['proposed', 'planned', 'razed', 'abandoned', 'platform', 'services', 'rest_area', 'elevator'],
      },
    },
    columns: [
      ['highway', 'text'],
      ['ref', 'text'],
      ['oneway', 'oneway'],
      ['maxspeed', 'kmh'],
      ['lanes', 'integer'],
      ['surface', 'text'],
      ['access', 'text'],
      ['service', 'text'],
      ['junction', 'text'],
      ['lit', 'flag'],
      ...STRUCTURE,
    ],
  },
  {
    topic: 'railways',
    suffix: 'railways',
    geometryType: 'LineString',
    sources: ['line'],
    match: {
      railway: {
        except: ['proposed', 'planned', 'razed', 'abandoned', 'platform', 'platform_edge', 'station', 'turntable'],
      },
    },
    columns: [
      ['railway', 'text'],
      ['ref', 'text'],
      ['usage', 'text'],
      ['service', 'text'],
      ['gauge', 'text'],
      ['electrified', 'text'],
      ['operator', 'text'],
      ['maxspeed', 'kmh'],
      ...STRUCTURE,
    ],
  },
  {
    topic: 'waterways',
    suffix: 'waterways',
    geometryType: 'LineString',
    sources: ['line'],
    match: {
      waterway: {
        except: [
          'riverbank',
          'dock',
          'boatyard',
          'fuel',
          'dam',
          'weir',
          'lock_gate',
          'waterfall',
          'sluice_gate',
          'proposed',
        ],
      },
    },
    columns: [['waterway', 'text'], ['width', 'metres'], ['intermittent', 'flag'], ['boat', 'text'], ...STRUCTURE],
  },
  {
    topic: 'waterways',
    suffix: 'waterway_routes',
    geometryType: 'MultiLineString',
    sources: ['waterway'],
    match: { waterway: '*' },
    columns: [
      ['waterway', 'text'],
      ['ref', 'text'],
      ['destination', 'text'],
      ['distance', 'text'],
      ['wikidata', 'text'],
    ],
  },
  {
    topic: 'water',
    suffix: 'water',
    geometryType: 'MultiPolygon',
    sources: ['area'],
    match: {
      natural: ['water', 'bay', 'strait'],
      waterway: ['riverbank', 'dock', 'boatyard'],
      landuse: ['reservoir', 'basin', 'salt_pond'],
    },
    classified: true,
    columns: [
      ['water', 'text'],
      ['intermittent', 'flag'],
      ['salt', 'flag'],
    ],
  },
  {
    topic: 'landuse',
    suffix: 'landuse',
    geometryType: 'MultiPolygon',
    sources: ['area'],
    match: {
      landuse: '*',
      leisure: { except: ['track', 'slipway', 'swimming_pool'] },
      military: '*',
      aeroway: ['aerodrome', 'apron', 'heliport', 'runway', 'taxiway'],
      amenity: [
        'school',
        'university',
        'college',
        'kindergarten',
        'hospital',
        'grave_yard',
        'parking',
        'marketplace',
        'prison',
        'place_of_worship',
      ],
      tourism: ['zoo', 'theme_park', 'camp_site', 'caravan_site'],
      power: ['plant', 'substation'],
      man_made: ['works', 'wastewater_plant', 'water_works', 'pier', 'bridge'],
      highway: ['pedestrian', 'footway', 'rest_area', 'services'],
    },
    classified: true,
    columns: [
      ['operator', 'text'],
      ['access', 'text'],
      ['sport', 'text'],
      ['crop', 'text'],
      ['leaf_type', 'text'],
    ],
  },
  {
    topic: 'natural',
    suffix: 'natural_point',
    geometryType: 'Point',
    sources: ['node'],
    match: { natural: '*', geological: '*' },
    classified: true,
    columns: [
      ['ele', 'metres'],
      ['height', 'metres'],
      ['species', 'text'],
      ['leaf_type', 'text'],
    ],
  },
  {
    topic: 'natural',
    suffix: 'natural_line',
    geometryType: 'LineString',
    sources: ['line'],
    match: { natural: LINEAR_NATURAL },
    classified: true,
    columns: [],
  },
  {
    topic: 'natural',
    suffix: 'natural_polygon',
    geometryType: 'MultiPolygon',
    sources: ['area'],
    match: { natural: { except: ['water', 'bay', 'strait', ...LINEAR_NATURAL] }, geological: '*' },
    classified: true,
    columns: [
      ['wetland', 'text'],
      ['leaf_type', 'text'],
      ['leaf_cycle', 'text'],
      ['surface', 'text'],
    ],
  },
  {
    topic: 'places',
    suffix: 'places',
    geometryType: 'Point',
    sources: ['node', 'area'],
    match: { place: '*' },
    columns: [
      ['place', 'text'],
      ['name_en', 'text', 'name:en'],
      ['population', 'integer'],
      ['capital', 'text'],
      ['ele', 'metres'],
      ['wikidata', 'text'],
    ],
  },
  {
    topic: 'pois',
    suffix: 'pois',
    geometryType: 'Point',
    sources: ['node', 'area'],
    match: {
      amenity: { except: ['parking_space'] },
      shop: '*',
      tourism: '*',
      leisure: '*',
      office: '*',
      craft: '*',
      healthcare: '*',
      historic: '*',
      emergency: { except: ['yes', 'designated', 'private'] },
    },
    classified: true,
    columns: [
      ['brand', 'text'],
      ['operator', 'text'],
      ['cuisine', 'text'],
      ['opening_hours', 'text'],
      ['phone', 'text'],
      ['website', 'text'],
      ['wheelchair', 'text'],
      ...ADDRESS,
    ],
  },
  {
    topic: 'boundaries',
    suffix: 'boundaries',
    geometryType: 'MultiPolygon',
    sources: ['area'],
    match: { boundary: '*' },
    columns: [
      ['boundary', 'text'],
      ['admin_level', 'integer'],
      ['name_en', 'text', 'name:en'],
      ['iso_code', 'text', 'ISO3166-2'],
      ['postal_code', 'text'],
      ['protect_class', 'text'],
      ['population', 'integer'],
      ['wikidata', 'text'],
    ],
  },
  {
    topic: 'transit',
    suffix: 'transit_point',
    geometryType: 'Point',
    sources: ['node', 'area'],
    match: {
      railway: ['station', 'halt', 'tram_stop', 'subway_entrance', 'stop'],
      highway: ['bus_stop'],
      amenity: ['bus_station', 'ferry_terminal'],
      public_transport: ['station', 'platform', 'stop_position', 'stop_area'],
      aeroway: ['aerodrome', 'terminal', 'heliport', 'helipad'],
      aerialway: ['station'],
    },
    classified: true,
    columns: [
      ['ref', 'text'],
      ['network', 'text'],
      ['operator', 'text'],
      ['shelter', 'flag'],
      ['wheelchair', 'text'],
    ],
  },
  {
    topic: 'transit',
    suffix: 'transit_line',
    geometryType: 'MultiLineString',
    sources: ['route'],
    match: {
      route: PUBLIC_ROUTES,
    },
    columns: [
      ['route', 'text'],
      ['ref', 'text'],
      ['network', 'text'],
      ['operator', 'text'],
      ['from_stop', 'text', 'from'],
      ['to_stop', 'text', 'to'],
      ['colour', 'text'],
    ],
  },
  {
    topic: 'addresses',
    suffix: 'addresses',
    geometryType: 'Point',
    sources: ['node', 'area'],
    match: { 'addr:housenumber': '*', 'addr:housename': '*' },
    columns: [
      ...ADDRESS,
      ['housename', 'text', 'addr:housename'],
      ['place', 'text', 'addr:place'],
      ['unit', 'text', 'addr:unit'],
      ['suburb', 'text', 'addr:suburb'],
      ['country', 'text', 'addr:country'],
    ],
  },
  ...NETWORK_TABLES,
  { topic: 'all', suffix: 'points', geometryType: 'Point', sources: ['node'], match: null, columns: [] },
  { topic: 'all', suffix: 'lines', geometryType: 'LineString', sources: ['line'], match: null, columns: [] },
  { topic: 'all', suffix: 'multipolygons', geometryType: 'MultiPolygon', sources: ['area'], match: null, columns: [] },
  {
    topic: 'all',
    suffix: 'multilinestrings',
    geometryType: 'MultiLineString',
    sources: ['route', 'waterway'],
    match: null,
    columns: [],
  },
]

/** Tags that describe the mapping or the drawing, not the thing: an element with no other ones is not a feature. */
export const UNINFORMATIVE_KEYS: ReadonlySet<string> = new Set([
  'area',
  'type',
  'created_by',
  'source',
  'source:name',
  'source_ref',
  'note',
  'fixme',
  'FIXME',
  'attribution',
  'comment',
  'odbl',
  'odbl:note',
  'converted_by',
  'import',
  'import_uuid',
])
