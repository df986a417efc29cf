import type { Filter, OsmStyle } from '@terrane/osm/styles'

type AnyFilter = Extract<Filter, { any: unknown }>

/** A mapping of the field as a style, and what says the same to osm2pgsql's flex output. */
export interface StyleCase {
  readonly mapping: string
  readonly style: OsmStyle
  /** Fills `tables`: by name, a function of element type (`node`, `way`, `relation`) and object, which calls `add`. */
  readonly lua: string
}

const has = (...keys: string[]): AnyFilter => ({ any: keys.map((key) => ({ has: key })) })
const CLEANED = ['odbl', 'created_by', 'source', 'source:ref']
const AREA_KEYS =
  'aeroway amenity building harbour historic landuse leisure man_made military natural office place power'
const MORE_AREA_KEYS = `${AREA_KEYS} public_transport shop sport tourism water waterway wetland area:highway`.split(' ')

/** Points, lines, polygons and the lines of boundaries, after flex-config/geometries.lua of osm2pgsql. */
const geometries: StyleCase = {
  mapping: 'geometries of flex-config',
  style: {
    tables: [
      {
        name: 'pois',
        geometry: 'point',
        from: ['node'],
        where: { hasOther: CLEANED },
        columns: [{ name: 'tags', value: 'tags' }],
      },
      {
        name: 'ways',
        geometry: 'linestring',
        from: ['line'],
        where: { hasOther: CLEANED },
        lines: 'notAreas',
        areas: areasOf(MORE_AREA_KEYS),
        columns: [{ name: 'tags', value: 'tags' }],
      },
      {
        name: 'polygons',
        geometry: 'multipolygon',
        from: ['area'],
        where: { all: [{ hasOther: CLEANED }, { not: { key: 'type', is: 'boundary' } }] },
        areas: areasOf(MORE_AREA_KEYS),
        columns: [{ name: 'tags', value: 'tags' }],
      },
      {
        name: 'boundaries',
        geometry: 'multilinestring',
        from: ['relation'],
        where: { key: 'type', is: 'boundary' },
        columns: ['boundary', { name: 'tags', value: 'tags' }],
      },
    ],
  },
  lua: `
local keys = { ${MORE_AREA_KEYS.map((key) => `'${key}'`).join(', ')} }
local cleaned = { ${CLEANED.map((key) => `['${key}'] = true`).join(', ')} }
local function wanted(tags) for k in pairs(tags) do if not cleaned[k] then return true end end return false end
local function is_area(tags)
  if tags.area == 'yes' then return true elseif tags.area == 'no' then return false end
  for _, k in ipairs(keys) do if tags[k] then return true end end
  return false
end
function on.node(o) if wanted(o.tags) then add('pois', { tags = o.tags }, o:as_point()) end end
function on.way(o)
  if not wanted(o.tags) then return end
  if o.is_closed and is_area(o.tags) then
    if o.tags.type ~= 'boundary' then add('polygons', { tags = o.tags }, o:as_polygon()) end
  else add('ways', { tags = o.tags }, o:as_linestring()) end
end
function on.relation(o)
  if o.tags.type == 'boundary' then
    add('boundaries', { boundary = o.tags.boundary, tags = o.tags }, o:as_multilinestring())
  elseif o.tags.type == 'multipolygon' then add('polygons', { tags = o.tags }, o:as_multipolygon()) end
end`,
}

/** Roads with the references of their routes, after flex-config/route-relations.lua of osm2pgsql. */
const routeRelations: StyleCase = {
  mapping: 'route-relations of flex-config',
  style: {
    tables: [
      {
        name: 'highways',
        geometry: 'linestring',
        from: ['line'],
        lines: 'all',
        where: { has: 'highway' },
        columns: [{ name: 'tags', value: 'tags' }],
      },
      {
        name: 'members',
        geometry: 'linestring',
        from: ['member'],
        where: { all: [{ key: 'type', is: 'route' }, { key: 'route', is: 'road' }, { has: 'ref' }] },
        columns: ['ref', { name: 'way', value: 'way' }, { name: 'role', value: 'role' }],
      },
    ],
  },
  // The geometry of a member way is its own, which the second stage knows.
  lua: `
local members = {}
function on.way(o)
  if o.tags.highway then add('highways', { tags = o.tags }, o:as_linestring()) end
  for _, m in ipairs(members[o.id] or {}) do
    add('members', { relation = m.id, member = m.member, ref = m.ref, role = m.role }, o:as_linestring())
  end
end
function osm2pgsql.select_relation_members(r)
  if r.tags.type == 'route' and r.tags.route == 'road' and r.tags.ref then return { ways = osm2pgsql.way_member_ids(r) } end
end
function on.relation(o)
  if o.tags.type ~= 'route' or o.tags.route ~= 'road' or not o.tags.ref then return end
  local n = 0
  for _, m in ipairs(o.members) do
    if m.type == 'w' then
      n = n + 1
      members[m.ref] = members[m.ref] or {}
      table.insert(members[m.ref], { id = o.id, member = n, ref = o.tags.ref, role = m.role })
    end
  end
end`,
}

const BUILDING_COLUMNS: readonly (readonly [name: string, key: string])[] = [
  ['material', 'building:material'],
  ['colour', 'building:colour'],
  ['building', 'building'],
  ['buildingpart', 'building:part'],
  ['buildingheight', 'building:height'],
  ['buildinglevels', 'building:levels'],
  ['height', 'height'],
  ['levels', 'levels'],
]

/** Polygons of buildings, after layers/building/mapping.yaml of OpenMapTiles (imposm). */
const buildings: StyleCase = {
  mapping: 'building of OpenMapTiles',
  style: {
    tables: [
      {
        name: 'building_polygon',
        geometry: 'multipolygon',
        from: ['area'],
        areas: 'all',
        where: {
          all: [
            { any: [...has('building:part', 'building').any, { key: 'aeroway', is: ['terminal', 'hangar'] }] },
            { not: { any: ['building', 'building:part'].map((key) => ({ all: [{ has: key }, valueIn(key)] })) } },
            { not: { key: 'man_made', is: 'bridge' } },
          ],
        },
        columns: BUILDING_COLUMNS.map(([name, key]) => ({ name, key })),
      },
    ],
  },
  lua: `
local rejected = { no = true, none = true, No = true }
local function wanted(t)
  if rejected[t.building] or rejected[t['building:part']] or t.man_made == 'bridge' then return false end
  return t.building or t['building:part'] or t.aeroway == 'terminal' or t.aeroway == 'hangar'
end
local function data(t) return { ${BUILDING_COLUMNS.map(([name, key]) => `${name} = t['${key}']`).join(', ')} } end
function on.way(o)
  if o.is_closed and o.tags.area ~= 'no' and wanted(o.tags) then add('building_polygon', data(o.tags), o:as_polygon()) end
end
function on.relation(o)
  local kind = o.tags.type
  if (kind == 'multipolygon' or kind == 'boundary') and wanted(o.tags) then
    add('building_polygon', data(o.tags), o:as_multipolygon())
  end
end`,
}

const ROADS =
  'motorway motorway_link trunk trunk_link primary primary_link secondary secondary_link tertiary tertiary_link road path ' +
  'track service footway bridleway cycleway steps pedestrian living_street unclassified residential raceway'
const RAILS = 'rail tram light_rail subway narrow_gauge preserved funicular monorail disused'
const YES_TO_ONE = { yes: '1', true: '1', '1': '1', '*': '0' }
const PLACES = 'country state region county city town village hamlet suburb locality'

/** Roads, places and areas of water, after example-mapping.yml of imposm. */
const imposm: StyleCase = {
  mapping: 'example mapping of imposm',
  style: {
    tables: [
      {
        name: 'roads',
        geometry: 'linestring',
        from: ['line'],
        where: {
          any: [
            { key: 'railway', is: RAILS.split(' ') },
            { key: 'highway', is: ROADS.split(' ') },
            { key: 'man_made', is: ['pier', 'groyne'] },
          ],
        },
        columns: [
          'name',
          { name: 'class', value: 'matchedKey' },
          { name: 'type', value: 'matchedValue' },
          { name: 'tunnel', type: 'integer', map: YES_TO_ONE, default: 0 },
          { name: 'bridge', type: 'integer', map: YES_TO_ONE, default: 0 },
          { name: 'oneway', type: 'integer', map: { yes: '1', true: '1', '1': '1', '-1': '-1', '*': '0' }, default: 0 },
          'ref',
          'access',
          'service',
        ],
      },
      {
        name: 'places',
        geometry: 'point',
        from: ['node'],
        where: { key: 'place', is: PLACES.split(' ') },
        columns: ['name', { name: 'type', key: 'place' }, { name: 'population', type: 'integer' }],
      },
      {
        name: 'waterareas',
        geometry: 'multipolygon',
        from: ['area'],
        areas: 'all',
        where: {
          any: [
            { key: 'amenity', is: 'swimming_pool' },
            { key: 'landuse', is: ['basin', 'reservoir'] },
            { key: 'leisure', is: 'swimming_pool' },
            { key: 'natural', is: 'water' },
            { key: 'waterway', is: 'riverbank' },
          ],
        },
        columns: ['name', { name: 'type', value: 'matchedValue' }],
      },
    ],
  },
  lua: `
local function set(text) local s = {} for w in text:gmatch('%S+') do s[w] = true end return s end
local rails, roads, places = set('${RAILS}'), set('${ROADS}'), set('${PLACES}')
local piers, basins = set('pier groyne'), set('basin reservoir')
local function road(t)
  if rails[t.railway] then return 'railway' elseif roads[t.highway] then return 'highway' elseif piers[t.man_made] then return 'man_made' end
end
local function water(t)
  if t.amenity == 'swimming_pool' then return t.amenity elseif basins[t.landuse] then return t.landuse
  elseif t.leisure == 'swimming_pool' then return t.leisure elseif t.natural == 'water' then return t.natural
  elseif t.waterway == 'riverbank' then return t.waterway end
end
local function bit(v) return (v == 'yes' or v == 'true' or v == '1') and 1 or 0 end
function on.node(o)
  local t = o.tags
  local population = (t.population or ''):match('^%d+$')
  if places[t.place] then add('places', { name = t.name, type = t.place, population = population and math.tointeger(tonumber(population)) }, o:as_point()) end
end
function on.way(o)
  local t = o.tags
  local class = road(t)
  if class and not (o.is_closed and t.area == 'yes') then
    add('roads', { name = t.name, class = class, type = t[class], tunnel = bit(t.tunnel), bridge = bit(t.bridge),
      oneway = t.oneway == '-1' and -1 or bit(t.oneway), ref = t.ref, access = t.access, service = t.service }, o:as_linestring())
  end
  if o.is_closed and t.area ~= 'no' and water(t) then add('waterareas', { name = t.name, type = water(t) }, o:as_polygon()) end
end
function on.relation(o)
  local t = o.tags
  if (t.type == 'multipolygon' or t.type == 'boundary') and water(t) then
    add('waterareas', { name = t.name, type = water(t) }, o:as_multipolygon())
  end
end`,
}

/** Places with their names by language, after flex-config/places.lua of osm2pgsql. */
const places: StyleCase = {
  mapping: 'places of flex-config',
  style: {
    tables: [
      {
        name: 'places',
        geometry: 'point',
        from: ['node'],
        where: { has: 'place' },
        columns: ['place', 'name', { name: 'names', prefix: 'name:' }],
      },
    ],
  },
  lua: `
function on.node(o)
  if not o.tags.place then return end
  local names
  for k, v in pairs(o.tags) do
    if k:sub(1, 5) == 'name:' and #k > 5 then names = names or {} names[k:sub(6)] = v end
  end
  add('places', { place = o.tags.place, name = o.tags.name, names = names }, o:as_point())
end`,
}

const WATERWAYS = ['river', 'riverbank', 'stream', 'canal', 'drain', 'ditch']

/** Polygons of water, after layers/water/mapping.yaml of OpenMapTiles (imposm). */
const water: StyleCase = {
  mapping: 'water of OpenMapTiles',
  style: {
    tables: [
      {
        name: 'water_polygon',
        geometry: 'multipolygon',
        from: ['area'],
        areas: 'all',
        where: {
          all: [
            {
              any: [
                { key: 'landuse', is: 'reservoir' },
                { key: 'natural', is: ['water', 'bay'] },
                { key: 'waterway', is: WATERWAYS },
              ],
            },
            { not: { key: 'covered', is: 'yes' } },
          ],
        },
        columns: [
          'name',
          { name: 'name_en', key: 'name:en' },
          { name: 'name_de', key: 'name:de' },
          'natural',
          'landuse',
          'waterway',
        ],
        generalized: [{ name: 'water_polygon_gen1', minAreaMetres2: 20_000 }],
      },
    ],
  },
  lua: `
local waterways = { ${WATERWAYS.map((value) => `${value} = true`).join(', ')} }
local function wanted(t)
  return t.covered ~= 'yes' and (t.landuse == 'reservoir' or t.natural == 'water' or t.natural == 'bay' or waterways[t.waterway])
end
local function data(t)
  return { name = t.name, name_en = t['name:en'], name_de = t['name:de'], natural = t.natural, landuse = t.landuse, waterway = t.waterway }
end
local function both(o, geom)
  add('water_polygon', data(o.tags), geom)
  if geom:spherical_area() >= 20000 then add('water_polygon_gen1', data(o.tags), geom) end
end
function on.way(o) if o.is_closed and o.tags.area ~= 'no' and wanted(o.tags) then both(o, o:as_polygon()) end end
function on.relation(o)
  local kind = o.tags.type
  if (kind == 'multipolygon' or kind == 'boundary') and wanted(o.tags) then both(o, o:as_multipolygon()) end
end`,
}

export const STYLE_CASES: readonly StyleCase[] = [geometries, routeRelations, buildings, imposm, places, water]

/** A closed way with `area=yes`, or with one of the keys and without `area=no`. */
function areasOf(keys: readonly string[]): Filter {
  return { any: [{ key: 'area', is: 'yes' }, { all: [{ not: { key: 'area', is: 'no' } }, has(...keys)] }] }
}

function valueIn(key: string): Filter {
  return { key, is: ['no', 'none', 'No'] }
}
