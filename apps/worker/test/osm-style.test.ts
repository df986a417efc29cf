// Slow: maps are imported and updated in jobs.
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OsmStyle } from '@terrane/contracts/osm-style'
import { TOPIC_TABLES, writePbf } from '@terrane/osm'
import { STYLE_LIMITS, readStyle } from '@terrane/osm/styles'
import { ChangingMap, MAP_BOX } from '@terrane/testing/changing-map'
import { Compile } from 'typebox/schema'
import { Check } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { findImportedTables } from '../src/jobs/create-srai-embeddings/imported-tables.ts'
import { TOWN, boxOf, townElements, townPbf } from './osm-town.ts'
import { STYLE_CASES } from './long/osm-style-cases.ts'

const STYLE = {
  tables: [
    {
      name: 'houses',
      geometry: 'multipolygon',
      from: ['area'],
      where: { all: [{ key: 'building' }, { key: 'addr:housenumber', is: ['1', '2'] }] },
      areas: 'all',
      columns: [
        { name: 'number', key: 'addr:housenumber', type: 'integer' },
        { name: 'm2', value: 'area' },
        { name: 'kind', key: 'building', map: { house: 'home' } },
      ],
      generalized: [{ name: 'houses_low', toleranceMetres: 1, minAreaMetres2: 1e9 }],
    },
    {
      name: 'route_ways',
      geometry: 'linestring',
      from: ['member'],
      where: { key: 'type', is: 'route' },
      columns: ['ref', { name: 'way', value: 'way' }, { name: 'role', value: 'role' }],
    },
    {
      name: 'route_lines',
      geometry: 'multilinestring',
      from: ['route'],
      where: { key: 'route' },
      columns: ['ref', { name: 'ways', value: 'members' }, { name: 'tags', value: 'tags' }],
    },
  ],
}

describe('the schema of a style', () => {
  const file = new URL('../../../packages/contracts/schemas/osm-style.json', import.meta.url)
  const schema = Compile(JSON.parse(readFileSync(file, 'utf8')) as never)
  const plain = (style: unknown): unknown => JSON.parse(JSON.stringify(style))
  const isRead = (style: unknown): boolean => {
    try {
      return Boolean(readStyle(style))
    } catch {
      return false
    }
  }

  test('takes the styles that are read, and the body takes them too', () => {
    const topics = TOPIC_TABLES.map((table) => ({
      tables: [{ ...table, topic: undefined, also: undefined, simpler: undefined }],
    })).map(plain)
    for (const style of [STYLE, ...STYLE_CASES.map((each) => each.style), ...topics]) {
      expect([isRead(style), schema.Check(style), Check(OsmStyle, style)]).toEqual([true, true, true])
    }
  })

  test('refuses what is refused for its members, types and lengths', () => {
    const [table] = STYLE.tables
    const wrong: unknown[] = [
      {},
      { tables: [] },
      { tables: [{ ...table, color: 'red' }] },
      { tables: [{ ...table, geometry: 'polygon' }] },
      { tables: [{ ...table, from: ['area', 'area'] }] },
      { tables: [{ ...table, columns: [] }] },
      { tables: [{ ...table, columns: [{ name: 'a', type: 'int' }] }] },
      { tables: [{ ...table, where: { all: [{ key: 'a', equals: 'b' }] } }] },
      { tables: [{ ...table, where: { key: 'a', has: 'b' } }] },
      { tables: [{ ...table, where: { any: [{ has: 'a' }, { not: {} }] } }] },
      { tables: Array.from({ length: STYLE_LIMITS.tables + 1 }, (_, i) => ({ ...table, name: `t${i}` })) },
      { tables: [{ ...table, columns: Array.from({ length: STYLE_LIMITS.columns + 1 }, (_, i) => `c${i}`) }] },
    ]
    for (const style of wrong) expect([style, isRead(style), schema.Check(style)]).toEqual([style, false, false])
  })
})

describe('an import with a style', () => {
  let worker: TestWorker
  beforeAll(async () => {
    worker = await openWorker({})
    await mkdir(join(worker.folder, 'data'), { recursive: true })
    await writeFile(join(worker.folder, 'data', 'town.osm.pbf'), townPbf())
  })
  afterAll(() => worker[Symbol.asyncDispose]())

  async function run(task: string, body: object): Promise<JobRecord> {
    const { status, body: record } = await submit(worker, task, body)
    expect(record.message ?? status).toBe(202)
    return until(worker, record.links.self)
  }
  const query = async (text: string) => (await worker.db.database.query(text)).rows
  const request = (topics: unknown, prefix: string) => ({
    areaName: 'Town',
    aoiGeoJson: TOWN,
    tablePrefix: prefix,
    topics,
    source: { kind: 'file', path: 'town.osm.pbf' },
  })

  test('makes its tables, and says which of them are empty', async () => {
    const job = await run('osmImportArea', request(STYLE, 'own'))
    expect(job).toMatchObject({ status: 'success', error: null })
    expect(job.result).toMatchObject({
      tables: [
        { name: 'own_houses', topic: 'houses', rows: 18 },
        { name: 'own_houses_low', topic: 'houses', rows: 0 },
        { name: 'own_route_ways', topic: 'route_ways', rows: 2 },
        { name: 'own_route_lines', topic: 'route_lines', rows: 1 },
      ],
      warnings: [expect.objectContaining({ code: 'TABLES_EMPTY', examples: ['own_houses_low'] })],
    })
    expect(
      await query(`select kind, number, count(*)::int, bool_and(abs(m2 / st_area(geom::geography) - 1) < 0.01) as is_area
        from own_houses group by 1, 2 order by 1, 2`),
    ).toEqual([
      { kind: 'home', number: 1, count: 9, is_area: true },
      { kind: 'home', number: 2, count: 9, is_area: true },
    ])
    expect(await query('select osm_id, member, ref, way, role from own_route_ways order by member')).toEqual([
      { osm_id: 3, member: 1, ref: '7', way: 100, role: '' },
      expect.objectContaining({ osm_id: 3, member: 2 }),
    ])
  })

  test('keeps JSON as JSON in every column, and null as null', async () => {
    const spots = {
      name: 'spots',
      geometry: 'point',
      from: ['node'],
      columns: [
        { name: 'none', key: 'nope', split: ';', type: 'json' },
        { name: 'words', key: 'name', split: ' ', type: 'json' },
        { name: 'names', prefix: 'na' },
        { name: 'tags', value: 'tags' },
      ],
    }
    await run('osmImportArea', request({ tables: [spots] }, 'json'))
    expect(
      await query(`select none, words, names, tags ->> 'place' as place from json_spots where tags ? 'place'`),
    ).toEqual([{ none: null, words: ['Gridham'], names: { me: 'Gridham' }, place: 'town' }])
    expect(await query('select count(*)::int from json_spots where none is not null')).toEqual([{ count: 0 }])
  })

  test('that is cut has the length and area of the rest, and is left out if that is too small', async () => {
    const line = { name: 'l', geometry: 'linestring', from: ['line'], where: { key: 'waterway' } }
    const area = { name: 'a', geometry: 'multipolygon', from: ['area'], where: { key: 'natural' } }
    const style = {
      tables: [
        {
          ...line,
          columns: [{ name: 'size', value: 'length' }],
          generalized: [
            { name: 'long', minLengthMetres: 3000 },
            { name: 'longer', minLengthMetres: 5000 },
          ],
        },
        {
          ...area,
          columns: [{ name: 'size', value: 'area' }],
          generalized: [
            { name: 'large', minAreaMetres2: 1e6 },
            { name: 'larger', minAreaMetres2: 5e6 },
          ],
        },
      ],
    }
    // The river is 7.4 km long, half of it within; the lake has 6.6 km², 4.1 of them within.
    const body = { ...request(style, 'half'), aoiGeoJson: boxOf(11, 48, 11.05, 48.2), clip: true }
    expect(await run('osmImportArea', body)).toMatchObject({ status: 'success' })
    expect(
      await query(
        `select round(size / st_length(geom::geography, false) * 1e6) as ratio, size < 4000 as is_cut from half_l`,
      ),
    ).toEqual([{ ratio: 1e6, is_cut: true }])
    expect(
      await query(
        'select (select count(*)::int from half_long) as long, (select count(*)::int from half_longer) as longer',
      ),
    ).toEqual([{ long: 1, longer: 0 }])
    const lake = {
      ...request({ tables: style.tables.slice(1) }, 'lake'),
      aoiGeoJson: boxOf(11.07, 48, 11.2, 48.2),
      clip: true,
    }
    expect(await run('osmImportArea', lake)).toMatchObject({ status: 'success' })
    expect(
      await query(`select round(size / st_area(geom::geography, false) * 1e6) as ratio,
      (select count(*)::int from lake_large) as large, (select count(*)::int from lake_larger) as larger from lake_a`),
    ).toEqual([{ ratio: 1e6, large: 1, larger: 0 }])
  })

  test('has columns of any name that it may have, and is updated', async () => {
    const names = ['changed_row', 'geom_before', 'a', 'c', 's', 't', 'done', 'osm']
    const columns = names.map((name) => ({ name, key: 'name' }))
    const style = { tables: [{ name: 'spots', geometry: 'point', from: ['node'], where: { key: 'place' }, columns }] }
    expect(await run('osmImportArea', { ...request(style, 'odd'), updatable: true })).toMatchObject({
      status: 'success',
    })
    const [{ osm_id: id } = { osm_id: 0 }] = (await query('select osm_id from odd_spots')) as { osm_id: number }[]
    const change = `<osmChange version="0.6"><modify><node id="${id}" version="2" lon="11.05" lat="48.05"><tag k="name" v="New"/><tag k="place" v="town"/></node></modify></osmChange>`
    await writeFile(join(worker.folder, 'data', 'odd.osc'), change)
    const source = { kind: 'files', files: [{ kind: 'file', path: 'odd.osc' }] }
    expect(await run('osmUpdateArea', { tablePrefix: 'odd', source })).toMatchObject({ status: 'success', error: null })
    expect(await query('select changed_row, geom_before, t from odd_spots')).toEqual([
      { changed_row: 'New', geom_before: 'New', t: 'New' },
    ])
  })

  test('gives no tables of a topic to cells, whatever their names', async () => {
    const points = {
      name: 'points',
      geometry: 'point',
      from: ['node'],
      where: { key: 'shop' },
      columns: [{ name: 'tags', value: 'tags' }],
    }
    expect(await run('osmImportArea', request({ tables: [points] }, 'cells'))).toMatchObject({ status: 'success' })
    await expect(findImportedTables(worker.db.database, 'cells')).rejects.toMatchObject({
      code: 'IMPORTED_TABLES_MISSING',
    })
  })

  test('tells of ways of relations that the extract lacks', async () => {
    const members = STYLE.tables.slice(1, 2)
    const elements = townElements().filter(({ type, id }) => type !== 'way' || id !== 100)
    await writeFile(join(worker.folder, 'data', 'part.osm.pbf'), Buffer.concat([...writePbf(elements)]))
    const source = { kind: 'file', path: 'part.osm.pbf' }
    const job = await run('osmImportArea', { ...request({ tables: members }, 'part'), source })
    expect(job.result).toMatchObject({ warnings: [{ code: 'MEMBERS_MISSING', count: 1 }], counts: { relations: 1 } })
  })

  test('is refused at submit with the place of the fault', async () => {
    const [table] = STYLE.tables
    const refused = async (topics: unknown) => (await submit(worker, 'osmImportArea', request(topics, 'bad'))).body
    expect(await refused({ tables: [{ ...table, where: { all: [{ key: 'a', equals: 'b' }] } }] })).toMatchObject({
      code: 'OSM_STYLE_INVALID',
      errors: [{ path: '/topics/tables/0/where/all/0/equals' }],
    })
    expect(await refused({ tables: [{ ...table, color: 'red' }] })).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ path: '/topics/tables/0/color' }],
    })
    expect(await refused(['roads'])).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ path: '/topics/0' }] })
  })

  test('is brought up to date by its style, as a fresh import of the newer extract', async () => {
    const map = new ChangingMap(5, 20)
    const style = {
      tables: [
        {
          name: 'ways',
          geometry: 'linestring',
          from: ['line'],
          where: { any: [{ has: 'highway' }, { has: 'waterway' }, { has: 'railway' }] },
          lines: 'all',
          columns: [
            { name: 'kind', value: 'matchedKey' },
            { name: 'length', value: 'length' },
            { name: 'tags', value: 'tags' },
          ],
          generalized: [{ name: 'ways_low', toleranceMetres: 500 }],
        },
        {
          name: 'areas',
          geometry: 'multipolygon',
          from: ['area'],
          areas: 'byAnyKey',
          columns: [
            { name: 'm2', value: 'area' },
            { name: 'tags', value: 'tags' },
          ],
          generalized: [{ name: 'areas_low', toleranceMetres: 5 }],
        },
        {
          name: 'members',
          geometry: 'linestring',
          from: ['member'],
          where: { has: 'type' },
          columns: ['ref', { name: 'way', value: 'way' }, { name: 'role', value: 'role' }],
        },
        {
          name: 'relations',
          geometry: 'multilinestring',
          from: ['relation'],
          where: { has: 'type' },
          columns: [{ name: 'ways', value: 'members' }],
        },
      ],
    }
    const fileOf = async (name: string, content: string | Buffer) => {
      await writeFile(join(worker.folder, 'data', name), content)
      return { kind: 'file', path: name }
    }
    const importMap = async (prefix: string, more: object = {}) => {
      const source = await fileOf(`${prefix}.osm.pbf`, Buffer.concat([...writePbf(map.elements())]))
      const job = await run('osmImportArea', {
        ...request(style, prefix),
        aoiGeoJson: boxOf(...MAP_BOX),
        source,
        ...more,
      })
      expect(job).toMatchObject({ status: 'success' })
    }
    const rowsOf = async (prefix: string) => {
      const rows: unknown[] = []
      for (const name of ['ways', 'ways_low', 'areas', 'areas_low', 'members', 'relations']) {
        const found = await query(
          `select to_jsonb(t) - 'id' - 'geom' as row, encode(st_asewkb(geom), 'hex') as geom from ${prefix}_${name} t
           order by osm_type, osm_id, to_jsonb(t) -> 'member', to_jsonb(t) -> 'part'`,
        )
        expect([name, found.length]).not.toEqual([name, 0])
        rows.push([name, found])
      }
      return rows
    }
    for (const clip of [false, true]) {
      const prefix = clip ? 'cut' : 'live'
      await importMap(prefix, { updatable: true, clip })
      const files = [await fileOf('a.osc', map.change(20)), await fileOf('b.osc', map.change(40))]
      const job = await run('osmUpdateArea', { tablePrefix: prefix, source: { kind: 'files', files } })
      expect(job).toMatchObject({ status: 'success', result: { files: 2 } })
      await importMap('fresh', { mode: clip ? 'replace' : 'create', clip })
      expect(await rowsOf(prefix)).toEqual(await rowsOf('fresh'))
    }
  })
})
