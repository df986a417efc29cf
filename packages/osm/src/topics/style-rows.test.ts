import { describe, expect, test } from 'vitest'
import { decodeEwkb } from '../../test/decode-ewkb.ts'
import { memoryScratch } from '../../test/memory-scratch.ts'
import type { OsmElement, OsmTags } from '../element.ts'
import { openOsm } from '../open.ts'
import { writePbf } from '../pbf/write.ts'
import { bytesSource } from '../source.ts'
import { importOsmArea, topicTables } from './import-area.ts'
import type { ColumnDefinition, Filter, OsmStyle, StyleTable } from './style.ts'

type Rows = Record<string, Record<string, unknown>[]>

async function rowsOf(elements: readonly OsmElement[], style: OsmStyle): Promise<Rows> {
  const tables = topicTables(style)
  const found: Rows = Object.fromEntries(tables.map(({ suffix }) => [suffix, []]))
  const file = await openOsm(bytesSource(Buffer.concat([...writePbf(elements)])))
  await importOsmArea(file, null, style, {
    write: (table, rows) => {
      const { suffix, columns } = tables[table]!
      for (const row of rows) {
        expect(row.length).toBe(columns.length)
        found[suffix]!.push(Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])))
      }
    },
  })
  return found
}

const node = (id: number, tags: OsmTags = {}, lon = id / 100, lat = 0): OsmElement => ({
  type: 'node',
  id,
  lon,
  lat,
  tags,
})
const points = (more: Partial<StyleTable>): OsmStyle => ({
  tables: [{ name: 'p', geometry: 'point', from: ['node'], columns: ['name'], ...more }],
})
const CORNERS = [node(1, {}, 11, 48), node(2, {}, 11.01, 48), node(3, {}, 11.01, 48.01), node(4, {}, 11, 48.01)]

describe('filters', () => {
  const elements: OsmTags[] = [
    { highway: 'crossing' },
    { highway: 'no' },
    { highway: 'stop', name: 'A' },
    { 'addr:street': 'B', shop: 'yes' },
    { created_by: 'JOSM' },
    { shop: 'bakery', highway: 'no', created_by: 'JOSM' },
  ]
  test.for<[string, Filter | null, number[]]>([
    ['a key without no', { key: 'highway' }, [1, 3]],
    ['one value', { key: 'highway', is: 'stop' }, [3]],
    ['no value', { key: 'highway', is: 'no' }, [2, 6]],
    ['some values', { key: 'highway', is: ['stop', 'crossing'] }, [1, 3]],
    ['other values', { key: 'highway', isNot: ['stop'] }, [1]],
    ['the beginning of a value', { key: 'highway', startsWith: 'st' }, [3]],
    ['a key with any value', { has: 'highway' }, [1, 2, 3, 6]],
    ['another key', { hasOther: ['highway', 'created_by'] }, [3, 4, 6]],
    ['the beginning of a key', { prefix: 'addr:' }, [4]],
    ['all of', { all: [{ has: 'highway' }, { key: 'shop' }] }, [6]],
    ['any of', { any: [{ key: 'shop' }, { prefix: 'name' }] }, [3, 4, 6]],
    ['not, of features', { not: { has: 'shop' } }, [1, 2, 3]],
    ['a key that tells nothing', { key: 'created_by' }, [5, 6]],
    ['none at all', null, [1, 2, 3, 4, 6]],
  ])('%s', async ([, filter, ids]) => {
    const all = elements.map((tags, i) => node(i + 1, tags))
    const other: StyleTable = {
      name: 'other',
      geometry: 'point',
      from: ['node'],
      where: { has: 'created_by' },
      columns: ['name'],
    }
    const { tables } = points(filter ? { where: filter } : {})
    for (const style of [{ tables }, { tables: [...tables, other] }]) {
      expect((await rowsOf(all, style))['p']!.map((row) => row['osm_id'])).toEqual(ids)
    }
  })
})

describe('columns', () => {
  test.for<[string, Omit<ColumnDefinition, 'name'>, OsmTags, unknown]>([
    ['the key of its name', {}, { x: ' 1 ' }, ' 1 '],
    ['another key', { key: 'y' }, { x: '1', y: '2' }, '2'],
    ['the first of several', { keys: ['a', 'y', 'x'] }, { x: '1', y: '2' }, '2'],
    ['a length in feet', { type: 'metres' }, { x: '10 ft' }, 3.048],
    ['a flag', { type: 'flag' }, { x: 'viaduct' }, true],
    ['a boolean', { type: 'bool' }, { x: 'viaduct' }, null],
    ['a boolean of 0', { type: 'bool' }, { x: '0' }, false],
    ['a default without the tag', { type: 'integer', default: 7 }, {}, 7],
    ['a default of what cannot be read', { type: 'integer', default: 7 }, { x: 'many' }, 7],
    ['a map', { map: { a: 'b' } }, { x: 'a' }, 'b'],
    ['what is not in a map', { map: { a: 'b' } }, { x: 'c' }, 'c'],
    ['any other value of a map', { map: { a: 'b', '*': null }, default: 'z' }, { x: 'c' }, 'z'],
    ['no value of a map', { map: { a: null } }, { x: 'a' }, null],
    ['a map without the tag', { map: { '*': 'b' } }, {}, null],
    ['a map before a number', { map: { none: '0' }, type: 'number' }, { x: 'none' }, 0],
    ['the name of a member of objects', { map: { a: 'b' } }, { x: 'constructor' }, 'constructor'],
    ['a list', { type: 'json', split: ';' }, { x: 'a; b;;' }, '["a","b"]'],
    ['an empty list', { type: 'json', split: ';' }, { x: ';' }, null],
    ['a default list', { type: 'json', split: ';', default: 'a' }, {}, '["a"]'],
    ['a map of a list', { type: 'json', split: ';', map: { a: 'b', c: null } }, { x: 'a;c;d' }, '["b","d"]'],
    ['a map of the first of a list', { split: ';', map: { a: 'b' } }, { x: 'a;c' }, 'b'],
    ['the first of a list', { type: 'integer', split: ';' }, { x: ' 4;5' }, 4],
    [
      'tags with a beginning',
      { prefix: 'name:' },
      { 'name:de': 'D', name: 'N', 'name:': 'E', 'name:en': 'F' },
      '{"de":"D","en":"F"}',
    ],
    ['a prototype as a tag', { prefix: 'p:' }, { 'p:__proto__': 'x' }, '{"__proto__":"x"}'],
    ['no tags with a beginning', { prefix: 'name:' }, { name: 'N' }, null],
  ])('%s', async ([, column, tags, value]) => {
    const style = points({ where: { has: 'place' }, columns: [{ name: 'x', ...column }] })
    const { p } = await rowsOf([node(1, { ...tags, place: 'town' })], style)
    expect(p!.map((row) => row['x'])).toEqual([value])
  })
})

describe('closed ways', () => {
  const table = { where: { key: 'barrier' }, columns: ['name'] } satisfies Partial<StyleTable>
  const area = (areas?: StyleTable['areas']) =>
    ({ ...table, name: 'a', geometry: 'multipolygon', from: ['area'], ...(areas && { areas }) }) as StyleTable
  const line = (lines?: StyleTable['lines']) =>
    ({ ...table, name: 'l', geometry: 'linestring', from: ['line'], ...(lines && { lines }) }) as StyleTable
  const closed = (tags: OsmTags): OsmElement[] => [
    ...CORNERS,
    { type: 'way', id: 9, refs: [1, 2, 3, 4, 1], tags: { barrier: 'wall', ...tags } },
  ]
  test.for<[tags: OsmTags, StyleTable, boolean]>([
    [{}, area(), false],
    [{ area: 'yes' }, area(), true],
    [{ landuse: 'grass' }, area(), true],
    [{ landuse: 'grass' }, { ...area(), where: { any: [{ key: 'barrier' }, { key: 'shop' }] } }, false],
    [{ shop: 'yes' }, { ...area(), where: { any: [{ key: 'barrier' }, { key: 'shop' }] } }, true],
    [{ landuse: 'grass' }, { ...area(), where: { any: [{ key: 'shop' }, { prefix: 'barr' }] } }, true],
    [{ landuse: 'grass' }, { ...area(), where: { any: [{ key: 'shop' }, { not: { key: 'x' } }] } }, true],
    [{}, { ...area(), where: { any: [{ key: 'shop' }, { prefix: 'barr' }] } }, false],
    [{ landuse: 'grass' }, { ...area(), where: { all: [{ prefix: 'barr' }, { key: 'shop' }] } }, false],
    [{ shop: 'yes' }, { ...area(), where: { all: [{ prefix: 'barr' }, { key: 'shop' }] } }, true],
    [{ shop: 'yes', name: 'A' }, { ...area(), where: { all: [{ not: { key: 'x' } }, { key: 'name' }] } }, true],
    [
      { shop: 'yes', landuse: 'grass' },
      { ...area(), where: { any: [{ all: [{ key: 'shop' }, { key: 'x' }] }, { key: 'barrier' }] } },
      false,
    ],
    [{ landuse: 'grass' }, area('byAnyKey'), true],
    [{ landuse: 'grass', area: 'no' }, area('byAnyKey'), false],
    [{}, area('all'), true],
    [{ area: 'no' }, area('all'), false],
    [{ area: 'no' }, area({ key: 'barrier', is: 'wall' }), true],
    [{}, area({ key: 'landuse' }), false],
    [{}, line(), true],
    [{ area: 'yes' }, line(), false],
    [{ area: 'yes' }, line('all'), true],
    [{ area: 'yes' }, line('notAreas'), false],
    [{}, { ...line('notAreas'), areas: 'all' }, false],
    [{ landuse: 'grass' }, line('notAreas'), false],
  ])('%j %j', async ([tags, style, isIn]) => {
    const found = await rowsOf(closed(tags), { tables: [style] })
    expect(Object.values(found)[0]).toHaveLength(isIn ? 1 : 0)
  })
})

test('the key that matched is one of a branch that holds, and null where no key decides', async () => {
  const where: Filter = { any: [{ all: [{ key: 'a' }, { key: 'x' }] }, { key: 'b' }, { prefix: 'p' }] }
  const columns: ColumnDefinition[] = [
    { name: 'k', value: 'matchedKey' },
    { name: 'v', value: 'matchedValue' },
  ]
  const tags: OsmTags[] = [
    { a: '1', b: '2' },
    { a: '1', x: '3' },
    { p: '4', a: '1' },
  ]
  const { p } = await rowsOf(
    tags.map((each, i) => node(i + 1, each)),
    points({ where, columns }),
  )
  expect(p!.map(({ k, v }) => [k, v])).toEqual([
    ['b', '2'],
    ['a', '1'],
    [null, null],
  ])
})

test('rows of generalized tables are some of those of their table', async () => {
  const ring = (id: number, tags: OsmTags): OsmElement => ({ type: 'way', id, refs: [1, 2, 3, 4, 1], tags })
  const elements = [...CORNERS, ring(5, { building: 'yes', highway: 'x' }), ring(6, { building: 'yes', name: 'A' })]
  const found = async (more: Partial<StyleTable>, also: Filter) => {
    const table = { name: 't', columns: ['name'], generalized: [{ name: 'low', where: also }], ...more } as StyleTable
    const { t, low } = await rowsOf(elements, { tables: [table] })
    return [t, low].map((rows) => rows!.map((row) => row['osm_id']))
  }
  const areas = { geometry: 'multipolygon', from: ['area'] } as const
  const lines = { geometry: 'linestring', from: ['line'], lines: 'notAreas' } as const
  expect(await found({ ...areas, where: { key: 'highway' } }, { key: 'building' })).toEqual([[], []])
  expect(await found(areas, { key: 'name' })).toEqual([[5, 6], [6]])
  expect(await found({ ...lines, where: { key: 'highway' } }, { key: 'building' })).toEqual([[5], [5]])
  expect(await found(lines, { key: 'name' })).toEqual([[], []])
})

describe('relations', () => {
  const route: OsmTags = { type: 'route', route: 'bicycle', ref: '7', network: 'rcn' }
  const elements: OsmElement[] = [
    ...CORNERS,
    { type: 'way', id: 1, refs: [1, 2] },
    { type: 'way', id: 2, refs: [2, 3] },
    {
      type: 'relation',
      id: 5,
      tags: route,
      members: [
        { type: 'node', ref: 1, role: 'stop' },
        { type: 'way', ref: 1, role: 'forward' },
        { type: 'way', ref: 77, role: '' },
        { type: 'way', ref: 2, role: 'backward' },
        { type: 'way', ref: 1, role: 'platform' },
      ],
    },
  ]

  test('give a row for each way with its role, direction and place', async () => {
    const style: OsmStyle = {
      tables: [
        {
          name: 'm',
          geometry: 'linestring',
          from: ['member'],
          where: { key: 'type', is: 'route' },
          columns: [
            'ref',
            'network',
            ...(['way', 'role', 'direction', 'length'] as const).map((value) => ({ name: value, value })),
          ],
        },
      ],
    }
    expect(topicTables(style)[0]!.unique).toEqual(['osm_type', 'osm_id', 'member'])
    const { m } = await rowsOf(elements, style)
    expect(
      m!.map(({ member, way, role, direction, ref, network }) => [member, way, role, direction, ref, network]),
    ).toEqual([
      [1, 1, 'forward', 1, '7', 'rcn'],
      [3, 2, 'backward', -1, '7', 'rcn'],
      [4, 1, 'platform', 0, '7', 'rcn'],
    ])
    expect(decodeEwkb(m![1]!['geom'] as Uint8Array)).toMatchObject({ type: 'LineString' })
  })

  test('have their members in memory only where a table reads them, and within its limit', async () => {
    const line: StyleTable = { name: 'r', geometry: 'multilinestring', from: ['route'], columns: ['ref'] }
    const spill = { memoryBytes: 16, openScratch: memoryScratch().openScratch }
    const run = async (table: StyleTable) => {
      const file = await openOsm(bytesSource(Buffer.concat([...writePbf(elements)])))
      const { tables } = await importOsmArea(file, null, { tables: [table] }, { write: () => undefined }, { spill })
      return tables[0]!.rows
    }
    expect(await run(line)).toBe(1)
    const reading: StyleTable = { ...line, columns: [{ name: 'ways', value: 'members' }] }
    await expect(run(reading)).rejects.toMatchObject({ code: 'OSM_TOO_LARGE' })
  })

  test('are counted once, and ways that the file lacks by themselves', async () => {
    const member: StyleTable = { name: 'm', geometry: 'linestring', from: ['member'], columns: ['ref'] }
    const file = await openOsm(bytesSource(Buffer.concat([...writePbf(elements)])))
    const { counts } = await importOsmArea(file, null, { tables: [member] }, { write: () => undefined })
    expect(counts).toMatchObject({ relations: 1, missingMembers: 1, withoutGeometry: 0 })
  })

  test('give their line with its length and their ways', async () => {
    const columns = [
      { name: 'length', value: 'length' },
      { name: 'ways', value: 'members' },
    ] as const
    const style: OsmStyle = {
      tables: [{ name: 'r', geometry: 'multilinestring', from: ['relation'], where: { has: 'ref' }, columns }],
    }
    const { r } = await rowsOf(elements, style)
    // By PostGIS: st_length(geom::geography, false) of the two lines, 744.0 m along 48° N and 1111.95 m along a meridian.
    expect(r![0]!['length']).toBeCloseTo(744.04 + 1111.95, 0)
    expect(JSON.parse(r![0]!['ways'] as string)).toEqual([
      { way: 1, role: 'forward' },
      { way: 77, role: '' },
      { way: 2, role: 'backward' },
      { way: 1, role: 'platform' },
    ])
  })
})

test('rows that hold many bytes are handed over within a block', async () => {
  const tags = { place: 'x'.repeat(200_000) }
  const nodes = Array.from({ length: 20 }, (_, i) => node(i + 1, tags))
  const columns = Array.from({ length: 50 }, (_, i): ColumnDefinition => ({ name: `c${i}`, value: 'tags' }))
  const file = await openOsm(bytesSource(Buffer.concat([...writePbf(nodes)])))
  const batches: number[] = []
  await importOsmArea(file, null, points({ columns }), { write: (_, rows) => void batches.push(rows.length) })
  expect(batches).toEqual([4, 4, 4, 4, 4])
})
