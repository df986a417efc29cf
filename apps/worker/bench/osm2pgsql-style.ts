import { AREA_RELATIONS, AREA_RULES, UNINFORMATIVE_KEYS, type TopicTable } from '@terrane/osm'
import type { Filter } from '@terrane/osm/styles'

const SQL_TYPES = {
  text: 'text',
  integer: 'int4',
  number: 'float8',
  metres: 'float8',
  kmh: 'int2',
  flag: 'boolean',
  oneway: 'int2',
} as const

/** An osm2pgsql flex style that fills the tables of topics from the same elements, `{prefix}_{name}`. */
export function flexStyle(tables: readonly TopicTable[], prefix: string): string {
  const definitions = tables.map(({ name, geometry, from, where, lines, columns }) => {
    const all = columns.map((column) => (typeof column === 'string' ? { name: column } : column))
    return {
      name: `${prefix}_${name}`,
      type: geometry,
      sources: from,
      rules: 'hasOther' in where ? null : ('any' in where ? where.any : [where]).map(rule),
      classified: all.some(({ value }) => value === 'matchedKey'),
      areas_are_no_lines: lines === 'notAreas',
      columns: all.flatMap(({ name: column, type = 'text', key = column, value }) => {
        return value || column === 'name' ? [] : [[column, type, key, SQL_TYPES[type as keyof typeof SQL_TYPES]]]
      }),
    }
  })
  return `local tables = ${lua(definitions)}
local area_rules = ${lua(Object.fromEntries(AREA_RULES.map((filter) => [filter.key, rule(filter)])))}
local area_relations = ${lua(AREA_RELATIONS)}
local uninformative = ${lua(Object.fromEntries([...UNINFORMATIVE_KEYS].map((key) => [key, true])))}
${PROGRAM}`
}

function rule(filter: Filter) {
  if (!('key' in filter)) throw new TypeError('topics are made of conditions on single keys')
  const { key, is, isNot = [] } = filter
  const listed = is === undefined ? ['no', isNot].flat() : [is].flat()
  return { key, only: is !== undefined, values: Object.fromEntries(listed.map((value) => [value, true])) }
}

function lua(value: unknown): string {
  if (value === null || value === undefined) return 'nil'
  if (Array.isArray(value)) return `{${value.map(lua).join(', ')}}`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, entry]) => `[${JSON.stringify(key)}] = ${lua(entry)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}

const PROGRAM = `
local function number(text) return text and tonumber((text:match('^%s*([+-]?%d+[.,]?%d*)') or ''):gsub(',', '.'), 10) end
local readers = {
  text = function(t) return t end,
  integer = function(t) local n = t and tonumber((t:gsub("[ ,']", ''))) if n and n == math.floor(n) and math.abs(n) < 2147483648 then return math.floor(n) end end,
  number = function(t) return t and tonumber((t:match('^%s*([+-]?%d+%.?%d*)'))) end,
  metres = function(t) return t and tonumber((t:match('^%s*([+-]?%d+%.?%d*)%s*m?%s*$'))) end,
  kmh = function(t) local n = t and tonumber((t:match('^(%d+)'))) if n and n > 0 and n < 600 then if t:find('mph') then n = n * 1.609344 end return math.floor(n + 0.5) end end,
  flag = function(t) if t then return t ~= 'no' and t ~= 'false' and t ~= '0' end end,
  oneway = function(t) if t == '-1' or t == 'reverse' then return -1 elseif t == 'yes' or t == 'true' or t == '1' then return 1 else return 0 end end,
}

local function has(list, value) for _, v in ipairs(list) do if v == value then return true end end return false end
local function fits(rule, tags) local v = tags[rule.key] return v ~= nil and (rule.values[v] == true) == rule.only end
local function informative(tags) for k in pairs(tags) do if not uninformative[k] then return true end end return false end
local function match(t, tags)
  if not t.rules then return informative(tags) and '' or nil end
  for _, rule in ipairs(t.rules) do if fits(rule, tags) then return rule.key end end
end
local function match_area(t, tags)
  if tags.area == 'no' then return nil end
  if tags.area == 'yes' then return match(t, tags) end
  if not t.rules then
    if not informative(tags) then return nil end
    for _, rule in pairs(area_rules) do if fits(rule, tags) then return '' end end
    return nil
  end
  for _, rule in ipairs(t.rules) do
    local area_rule = area_rules[rule.key]
    if area_rule and fits(rule, tags) and fits(area_rule, tags) then return rule.key end
  end
end

for _, t in ipairs(tables) do
  local columns = {
    { column = 'id', sql_type = 'bigserial', create_only = true },
    { column = 'name', type = 'text' },
  }
  if t.classified then
    columns[#columns + 1] = { column = 'category', type = 'text' }
    columns[#columns + 1] = { column = 'kind', type = 'text' }
  end
  if t.type == 'point' and has(t.sources, 'area') then columns[#columns + 1] = { column = 'from_area', type = 'boolean' } end
  for _, c in ipairs(t.columns) do
    columns[#columns + 1] = { column = c[1], type = c[4] == 'float8' and 'real' or c[4], sql_type = c[4] }
  end
  columns[#columns + 1] = { column = 'tags', type = 'jsonb' }
  columns[#columns + 1] = { column = 'geom', type = t.type, projection = 4326, not_null = true }
  t.table = osm2pgsql.define_table({
    name = t.name, ids = { type = 'any', type_column = 'osm_type', id_column = 'osm_id', create_index = 'unique' },
    columns = columns, cluster = 'no',
    indexes = { { column = 'id', method = 'btree', unique = true }, { column = 'geom', method = 'gist' } },
  })
end

local function insert(t, key, object, geom, from_area)
  local tags = object.tags
  local row = { name = tags.name, tags = tags, geom = geom }
  if t.classified then row.category = key row.kind = tags[key] end
  if t.type == 'point' and has(t.sources, 'area') then row.from_area = from_area end
  for _, c in ipairs(t.columns) do row[c[1]] = readers[c[2]](tags[c[3]]) end
  t.table:insert(row)
end
local function insert_area(t, key, object, geom)
  if t.type == 'point' then
    if not geom:is_null() then insert(t, key, object, geom:centroid(), true) end
  else insert(t, key, object, geom) end
end

function osm2pgsql.process_node(object)
  for _, t in ipairs(tables) do
    if has(t.sources, 'node') then
      local key = match(t, object.tags)
      if key then insert(t, key, object, object:as_point(), false) end
    end
  end
end

function osm2pgsql.process_way(object)
  local tags = object.tags
  for _, t in ipairs(tables) do
    local area = object.is_closed and match_area(t, tags) or nil
    if has(t.sources, 'line') then
      local key = match(t, tags)
      if key and object.is_closed and ((t.rules and tags.area == 'yes') or (not t.rules and area) or (t.areas_are_no_lines and area)) then key = nil end
      if key then insert(t, key, object, object:as_linestring()) end
    end
    if area and has(t.sources, 'area') then insert_area(t, area, object, object:as_polygon()) end
  end
end

function osm2pgsql.process_relation(object)
  local tags = object.tags
  for _, t in ipairs(tables) do
    local key = match(t, tags)
    if key and has(t.sources, 'area') and has(area_relations, tags.type) then
      insert_area(t, key, object, object:as_multipolygon())
    elseif key and (tags.type == 'route' or tags.type == 'waterway') and has(t.sources, tags.type) then
      insert(t, key, object, object:as_multilinestring())
    end
  end
end
`
