import { readAoi } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { decodeEwkb } from '../../test/decode-ewkb.ts'
import type { OsmElement, OsmTags } from '../element.ts'
import { PbfReader } from '../pbf/read.ts'
import { writePbf } from '../pbf/write.ts'
import { bytesSource } from '../source.ts'
import { importOsmArea, topicTables } from './import-area.ts'
import type { ImportOptions } from './import-area.ts'
import { TOPICS, TOPIC_TABLES } from './tables.ts'

/** Imports one element with some tags, of each kind that can be drawn, or the elements given. */
async function rows(elements: readonly OsmElement[], topics?: string[], options?: ImportOptions) {
  const tables = topicTables(topics)
  const found: Record<string, Record<string, unknown>[]> = {}
  const write = (table: number, batch: readonly (readonly unknown[])[]): void => {
    const { suffix, columns } = tables[table]!
    for (const row of batch) {
      expect(row.length).toBe(columns.length)
      ;(found[suffix] ??= []).push(Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])))
    }
  }
  const reader = new PbfReader(bytesSource(Buffer.concat([...writePbf(elements)])))
  const result = await importOsmArea(reader, null, topics, { write }, options)
  return { found, result }
}

const corners: OsmElement[] = [
  { type: 'node', id: 1, lon: 11, lat: 48 },
  { type: 'node', id: 2, lon: 11.01, lat: 48 },
  { type: 'node', id: 3, lon: 11.01, lat: 48.01 },
  { type: 'node', id: 4, lon: 11, lat: 48.01 },
]

/** The tables that an element with these tags enters, by the way it is drawn. */
async function tablesOf(tags: OsmTags): Promise<Record<string, string[]>> {
  const drawn: Record<string, OsmElement> = {
    node: { type: 'node', id: 9, lon: 11, lat: 48, tags },
    open: { type: 'way', id: 9, refs: [1, 2, 3], tags },
    closed: { type: 'way', id: 9, refs: [1, 2, 3, 4, 1], tags },
    relation: {
      type: 'relation',
      id: 9,
      members: [{ type: 'way', ref: 8, role: 'outer' }],
      tags: { type: 'multipolygon', ...tags },
    },
  }
  const entered: Record<string, string[]> = {}
  for (const [kind, element] of Object.entries(drawn)) {
    const elements = [...corners, { type: 'way', id: 8, refs: [1, 2, 3, 4, 1] } as const, element]
    const { found } = await rows(elements, [...TOPICS, 'all'])
    const suffixes = Object.keys(found)
    if (suffixes.length > 0) entered[kind] = suffixes.toSorted()
  }
  return entered
}

describe('the tables', () => {
  test('have names and columns of their own', () => {
    const tables = topicTables([...TOPICS, 'all'])
    expect(new Set(tables.map(({ suffix }) => suffix)).size).toBe(tables.length)
    for (const { suffix, columns } of tables) {
      expect(suffix).toMatch(/^[a-z][a-z_]{1,15}$/)
      const names = columns.map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      expect(names.slice(0, 4)).toEqual(['id', 'osm_type', 'osm_id', 'name'])
      expect(names.slice(-2)).toEqual(['tags', 'geom'])
      for (const name of names) expect(name).toMatch(/^[a-z][a-z_]*$/)
    }
  })

  test('every topic has one, and all topics are meant when none is named', () => {
    expect(new Set(TOPIC_TABLES.map(({ topic }) => topic))).toEqual(new Set([...TOPICS, 'all']))
    expect(topicTables()).toEqual(topicTables([...TOPICS]))
    expect(topicTables([])).toEqual(topicTables())
    expect(topicTables(['streets', 'streets']).map(({ suffix }) => suffix)).toEqual(['streets'])
  })

  test('an unknown topic is an error that names the known ones', () => {
    expect(() => topicTables(['roads'])).toThrow(
      expect.objectContaining({ code: 'OSM_TOPIC_UNKNOWN', hint: expect.stringContaining('streets') as string }),
    )
  })
})

describe('which elements enter which tables', () => {
  test.for<[OsmTags, Record<string, string[]>]>([
    [
      { building: 'yes' },
      {
        node: ['points'],
        open: ['lines'],
        closed: ['buildings', 'multipolygons'],
        relation: ['buildings', 'multipolygons'],
      },
    ],
    [{ building: 'no' }, { node: ['points'], open: ['lines'], closed: ['lines'], relation: ['multipolygons'] }],
    [
      { building: 'yes', area: 'no' },
      { node: ['points'], open: ['lines'], closed: ['lines'], relation: ['buildings', 'multipolygons'] },
    ],
    [
      { highway: 'residential' },
      { node: ['points'], open: ['lines', 'streets'], closed: ['lines', 'streets'], relation: ['multipolygons'] },
    ],
    [
      { highway: 'pedestrian' },
      {
        node: ['points'],
        open: ['lines', 'streets'],
        closed: ['lines', 'streets'],
        relation: ['landuse', 'multipolygons'],
      },
    ],
    [
      { highway: 'pedestrian', area: 'yes' },
      {
        node: ['points'],
        open: ['lines', 'streets'],
        closed: ['landuse', 'multipolygons'],
        relation: ['landuse', 'multipolygons'],
      },
    ],
    [{ highway: 'proposed' }, { node: ['points'], open: ['lines'], closed: ['lines'], relation: ['multipolygons'] }],
    [
      { barrier: 'fence', landuse: 'meadow' },
      {
        node: ['barriers_point', 'points'],
        open: ['barriers_line', 'lines'],
        closed: ['barriers_line', 'landuse', 'multipolygons'],
        relation: ['barriers_polygon', 'landuse', 'multipolygons'],
      },
    ],
    [
      { natural: 'coastline' },
      {
        node: ['natural_point', 'points'],
        open: ['lines', 'natural_line'],
        closed: ['lines', 'natural_line'],
        relation: ['multipolygons'],
      },
    ],
    [
      { natural: 'wood' },
      {
        node: ['natural_point', 'points'],
        open: ['lines'],
        closed: ['multipolygons', 'natural_polygon'],
        relation: ['multipolygons', 'natural_polygon'],
      },
    ],
    [
      { natural: 'water' },
      {
        node: ['natural_point', 'points'],
        open: ['lines'],
        closed: ['multipolygons', 'water'],
        relation: ['multipolygons', 'water'],
      },
    ],
    [
      { waterway: 'river' },
      { node: ['points'], open: ['lines', 'waterways'], closed: ['lines', 'waterways'], relation: ['multipolygons'] },
    ],
    [
      { waterway: 'riverbank' },
      { node: ['points'], open: ['lines'], closed: ['multipolygons', 'water'], relation: ['multipolygons', 'water'] },
    ],
    [
      { railway: 'tram' },
      { node: ['points'], open: ['lines', 'railways'], closed: ['lines', 'railways'], relation: ['multipolygons'] },
    ],
    [
      { railway: 'station' },
      {
        node: ['points', 'transit_point'],
        open: ['lines'],
        closed: ['multipolygons', 'transit_point'],
        relation: ['multipolygons', 'transit_point'],
      },
    ],
    [
      { place: 'village' },
      {
        node: ['places', 'points'],
        open: ['lines'],
        closed: ['multipolygons', 'places'],
        relation: ['multipolygons', 'places'],
      },
    ],
    [
      { shop: 'bakery' },
      {
        node: ['points', 'pois'],
        open: ['lines'],
        closed: ['multipolygons', 'pois'],
        relation: ['multipolygons', 'pois'],
      },
    ],
    [
      { amenity: 'school' },
      {
        node: ['points', 'pois'],
        open: ['lines'],
        closed: ['landuse', 'multipolygons', 'pois'],
        relation: ['landuse', 'multipolygons', 'pois'],
      },
    ],
    [
      { boundary: 'administrative' },
      {
        node: ['points'],
        open: ['lines'],
        closed: ['boundaries', 'multipolygons'],
        relation: ['boundaries', 'multipolygons'],
      },
    ],
    [
      { 'addr:housenumber': '3' },
      {
        node: ['addresses', 'points'],
        open: ['lines'],
        closed: ['addresses', 'multipolygons'],
        relation: ['addresses', 'multipolygons'],
      },
    ],
    [
      { type: 'boundary', boundary: 'administrative' },
      {
        node: ['points'],
        open: ['lines'],
        closed: ['boundaries', 'multipolygons'],
        relation: ['boundaries', 'multipolygons'],
      },
    ],
    [
      { type: 'route', route: 'bus' },
      { node: ['points'], open: ['lines'], closed: ['lines'], relation: ['multilinestrings', 'transit_line'] },
    ],
    [
      { type: 'route', route: 'hiking' },
      { node: ['points'], open: ['lines'], closed: ['lines'], relation: ['multilinestrings', 'routes'] },
    ],
    [
      { type: 'waterway', waterway: 'river' },
      {
        node: ['points'],
        open: ['lines', 'waterways'],
        closed: ['lines', 'waterways'],
        relation: ['multilinestrings', 'waterway_routes'],
      },
    ],
    [
      { barrier: 'hedge' },
      {
        node: ['barriers_point', 'points'],
        open: ['barriers_line', 'lines'],
        closed: ['barriers_line', 'lines'],
        relation: ['barriers_polygon', 'multipolygons'],
      },
    ],
    [
      { barrier: 'hedge', area: 'yes' },
      {
        node: ['barriers_point', 'points'],
        open: ['barriers_line', 'lines'],
        closed: ['barriers_polygon', 'multipolygons'],
        relation: ['barriers_polygon', 'multipolygons'],
      },
    ],
    [
      { power: 'line' },
      {
        node: ['points', 'power_point'],
        open: ['lines', 'power_line'],
        closed: ['lines', 'power_line'],
        relation: ['multipolygons', 'power_polygon'],
      },
    ],
    [
      { power: 'generator' },
      {
        node: ['points', 'power_point'],
        open: ['lines', 'power_line'],
        closed: ['multipolygons', 'power_polygon'],
        relation: ['multipolygons', 'power_polygon'],
      },
    ],
    [
      { man_made: 'pier' },
      {
        node: ['man_made_point', 'points'],
        open: ['lines', 'man_made_line'],
        closed: ['landuse', 'man_made_polygon', 'multipolygons'],
        relation: ['landuse', 'man_made_polygon', 'multipolygons'],
      },
    ],
    [
      { highway: 'traffic_signals' },
      {
        node: ['points', 'traffic'],
        open: ['lines', 'streets'],
        closed: ['lines', 'streets'],
        relation: ['multipolygons'],
      },
    ],
    [
      { entrance: 'main' },
      { node: ['entrances', 'points'], open: ['lines'], closed: ['lines'], relation: ['multipolygons'] },
    ],
    [
      { type: 'site', site: 'piste' },
      { node: ['points'], open: ['lines'], closed: ['lines'] },
    ],
    [{ created_by: 'JOSM', source: 'survey' }, {}],
  ])('%j', async ([tags, expected]) => {
    expect(await tablesOf(tags)).toEqual(expected)
  })
})

describe('rows', () => {
  test('carry typed columns, all tags and the geometry', async () => {
    const { found, result } = await rows(
      [
        ...corners,
        {
          type: 'way',
          id: 7,
          refs: [1, 2, 3],
          tags: {
            highway: 'primary',
            name: 'Hauptstraße "1"',
            oneway: '-1',
            maxspeed: '30 mph',
            lanes: '2',
            bridge: 'yes',
            nul: 'a\0b',
          },
        },
      ],
      ['streets'],
    )
    const geom = found['streets']?.[0]?.['geom']
    expect(found).toEqual({
      streets: [
        {
          id: 1,
          osm_type: 'W',
          osm_id: 7,
          name: 'Hauptstraße "1"',
          highway: 'primary',
          ref: null,
          oneway: -1,
          maxspeed: 48,
          lanes: 2,
          surface: null,
          access: null,
          service: null,
          junction: null,
          lit: null,
          bridge: true,
          tunnel: null,
          layer: null,
          tags: '{"highway":"primary","name":"Hauptstraße \\"1\\"","oneway":"-1","maxspeed":"30 mph","lanes":"2","bridge":"yes","nul":"ab"}',
          geom,
        },
      ],
    })
    expect(geom instanceof Uint8Array && decodeEwkb(geom)).toEqual({
      type: 'LineString',
      coordinates: [[11, 48], [11.01, 48], [11.01, 48.01]], // prettier-ignore
    })
    expect(result.tables).toEqual([{ rows: 1, bbox: [11, 48, 11.01, 48.01] }])
  })

  test('of points made of areas say so, and what made them', async () => {
    const { found } = await rows(
      [
        ...corners,
        { type: 'node', id: 5, lon: 11.5, lat: 48.5, tags: { shop: 'books', amenity: 'no', name: 'A' } },
        { type: 'way', id: 7, refs: [1, 2, 3, 4, 1], tags: { building: 'yes', amenity: 'cafe', name: 'B' } },
      ],
      ['pois', 'buildings'],
    )
    const pois = (found['pois'] ?? []).map(({ geom, ...row }) => ({
      ...row,
      geom: geom instanceof Uint8Array && decodeEwkb(geom),
    }))
    expect(pois).toMatchObject([
      {
        id: 1,
        osm_type: 'N',
        osm_id: 5,
        category: 'shop',
        kind: 'books',
        from_area: false,
        geom: { type: 'Point', coordinates: [11.5, 48.5] },
      },
      {
        id: 2,
        osm_type: 'W',
        osm_id: 7,
        category: 'amenity',
        kind: 'cafe',
        from_area: true,
        geom: { type: 'Point', coordinates: [11.005, 48.005] },
      },
    ])
    const building = found['buildings']?.[0]?.['geom']
    expect(building instanceof Uint8Array && decodeEwkb(building)).toEqual({
      type: 'MultiPolygon',
      coordinates: [[[[11, 48], [11.01, 48], [11.01, 48.01], [11, 48.01], [11, 48]]]], // prettier-ignore
    })
  })

  test('come in batches, in the order of their ids', async () => {
    const nodes = Array.from({ length: 95 }, (_, i): OsmElement => ({
      type: 'node',
      id: i + 1,
      lon: 1,
      lat: 1,
      tags: { place: 'farm' },
    }))
    const batches: number[][] = []
    let open = 0
    const sink = {
      async write(_: number, batch: readonly (readonly unknown[])[]) {
        expect(open++).toBe(0)
        batches.push(batch.map(([id]) => Number(id)))
        await new Promise(setImmediate)
        open--
      },
    }
    const reader = new PbfReader(bytesSource(Buffer.concat([...writePbf(nodes, { blockSize: 10 })])))
    const result = await importOsmArea(reader, null, ['places'], sink, { batchRows: 25 })
    expect(batches.map((batch) => batch.length)).toEqual([30, 30, 30, 5])
    expect(batches.flat()).toEqual(Array.from({ length: 95 }, (_, i) => i + 1))
    expect(result.tables).toEqual([{ rows: 95, bbox: [1, 1, 1, 1] }])
  })

  test('are the elements that touch the area of interest', async () => {
    const aoi = readAoi({ type: 'Polygon', coordinates: [[[0, 0], [2, 0], [2, 2], [0, 0]]] }, { maxVertices: 9, maxAreaKm2: 1e6 }) // prettier-ignore
    const nodes = [0.5, 1.5, 2.5].map((lon, i): OsmElement => ({
      type: 'node',
      id: i,
      lon,
      lat: 0.4,
      tags: { place: 'farm' },
    }))
    const ids: unknown[] = []
    const reader = new PbfReader(bytesSource(Buffer.concat([...writePbf(nodes)])))
    await importOsmArea(reader, aoi, ['places'], { write: (_, batch) => void ids.push(...batch.map((row) => row[2])) })
    expect(ids).toEqual([0, 1])
  })

  test('that the sink refuses end the import', async () => {
    const reader = new PbfReader(
      bytesSource(Buffer.concat([...writePbf([{ type: 'node', id: 1, lon: 1, lat: 1, tags: { place: 'farm' } }])])),
    )
    const sink = { write: () => Promise.reject(new Error('disk full')) }
    await expect(importOsmArea(reader, null, ['places'], sink)).rejects.toThrow('disk full')
  })
})
