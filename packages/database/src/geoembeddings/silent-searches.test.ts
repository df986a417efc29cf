import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { writeSources } from './sources.ts'

const COLUMNS = 10
/** Rows of three sources: of two dates and of none. */
const DAYS = ['2024-01-15', '2024-06-15', null]
let db: TestDatabase

/** Tiles of a degree, ten in a row from a corner to the east; the last ones lie beyond the antimeridian where the row does. */
function tileFrom(west: number, north: number) {
  return (id: number): Float64Array => {
    const left = west + (id % COLUMNS)
    const x = left >= 180 ? left - 360 : left
    return Float64Array.of(x, north, x, north - 1, x + 1, north - 1, x + 1, north)
  }
}

const vectors = Array.from({ length: COLUMNS }, (_, id) => Float32Array.from([0, 1, 2, 3], (d) => Math.cos(id / 3 + d)))

async function withSources(name: string): Promise<void> {
  const about = { profile: null, crs: null, dataType: null, bbox: null, version: null, error: null }
  const counts = { status: 'done', skipped: 0, zeroVectors: 0 } as const
  const sources = DAYS.map((datetime, source) => ({ ...about, ...counts, source, name: `${source}`, datetime, rows: source === 0 ? 10 : 7 })) // prettier-ignore
  await writeSources(db.database, name, '0199b1f0-0000-7000-8000-00000000ffff', sources)
}

beforeAll(async () => {
  db = await openTestDatabase()
  await makeEmbeddingTable(db.database, { name: 'town', vectors, ring: tileFrom(10, 50) })
  await makeEmbeddingTable(db.database, { name: 'later', vectors, ring: tileFrom(10, 50) })
  await makeEmbeddingTable(db.database, { name: 'fiji', vectors, ring: tileFrom(175, -16) })
  await makeEmbeddingTable(db.database, {
    name: 'scattered',
    vectors,
    ring: (id) => (id === 0 ? tileFrom(10, 50) : tileFrom(60, 5))(id),
  })
  await makeEmbeddingTable(db.database, { name: 'world', vectors, ring: (id) => tileFrom(-150 + id * 30, -16)(0) })
  await db.database.query(
    `update geoembeddings.town set label_name = case when id < 5 then 'Forest' else 'open water' end`,
  )
  await withSources('town')
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function ids(call: string): Promise<number[]> {
  const { rows } = await db.database.query<{ id: number }>(`select s.id from geoembeddings.${call} s order by s.id`)
  return rows.map(({ id }) => id)
}

const box = (west: number, south: number, east: number, north: number) =>
  `'SRID=4326;POLYGON((${west} ${south},${east} ${south},${east} ${north},${west} ${north},${west} ${south}))'::geometry`

/** All calls that take an area, each with the table `town`. */
const WITH_AREA = [
  (area: string) => `similarity_search(table_name => 'town', patch_id => 1, spatial_filter => ${area})`,
  (area: string) => `similarity_search(table_name => 'town', lon => 11.5, lat => 49.5, spatial_filter => ${area})`,
  (area: string) => `similarity_search(table_name => 'town', latest => true, patch_id => 1, spatial_filter => ${area})`,
  (area: string) => `similarity_search(table_name => 'town', positive => '{"town": [1]}', spatial_filter => ${area})`,
  (area: string) => `similarity_search(table_name_1 => 'town', table_name_2 => 'later', spatial_filter => ${area})`,
  (area: string) => `change_detection(table_name_1 => 'later', table_name_2 => 'town', spatial_filter => ${area})`,
  (area: string) => `embedding_colors(table_name => 'town', spatial_filter => ${area})`,
  (area: string) => `embedding_outliers(table_name => 'town', spatial_filter => ${area})`,
  (area: string) => `change_series(table_name => 'town', spatial_filter => ${area})`,
  (area: string) => `similarity_summary(table_name => 'town', patch_id => 1, area => ${area})`,
]

describe('an area', () => {
  test.each(WITH_AREA)('with latitude first is refused by %s', async (call) => {
    const [swapped, elsewhere] = [box(49, 10, 50, 12), box(70, 10, 71, 12)]
    const all = (area: string) => db.database.query(`select * from geoembeddings.${call(area)}`)
    await expect(all(swapped)).rejects.toMatchObject({ code: '22023', hint: 'Longitude comes first.' })
    await expect(all(elsewhere)).resolves.toBeDefined()
  })

  test('between the rows of a table may have none, whatever lies at the swapped place', async () => {
    const between = box(49, 10, 50, 11)
    const call = `similarity_search(table_name => 'scattered', patch_id => 1, spatial_filter => ${between})`
    await expect(ids(call)).resolves.toEqual([])
  })

  test('in degrees with the srid of meters is refused', async () => {
    const call = `similarity_search(table_name => 'town', patch_id => 1, spatial_filter => 'POINT(10.5 49.5)', srid => 3857)`
    await expect(ids(call)).rejects.toMatchObject({ code: '22023', hint: 'Leave srid out.' })
  })

  test('beyond the antimeridian finds the rows on both sides of it', async () => {
    const find = (area: string) => ids(`similarity_search(table_name => 'fiji', patch_id => 1, similarity_threshold => -1, spatial_filter => ${area})`) // prettier-ignore
    const expected = [4, 5, 6]
    expect(await find(box(179.5, -17, 181.5, -16))).toEqual(expected)
    expect(await find(box(-180.5, -17, -178.5, -16))).toEqual(expected)
    expect(await find(box(-179.9, -16.5, -178.9, -16.4))).toEqual([5, 6])
  })
})

describe('a radius', () => {
  const around = (table: string, more: string) =>
    `similarity_search(table_name => '${table}', lat => -16.5, similarity_threshold => -1, ${more})`

  test('at the antimeridian stays on its ground', async () => {
    // The mean of rows 4 and 5, which lie on both sides; a circle that goes around the world would be the mean of all.
    const [first] = (
      await db.database.query<{ similarity: number }>(
        `select s.similarity from geoembeddings.${around('fiji', 'lon => 179.999, radius => 1000, result_limit => 1')} s`,
      )
    ).rows
    const mean = vectors[4]!.map(
      (x, d) => x / Math.hypot(...vectors[4]!) + vectors[5]![d]! / Math.hypot(...vectors[5]!),
    )
    const best = Math.max(
      ...vectors.map((v) => v.reduce((sum, x, d) => sum + x * mean[d]!, 0) / Math.hypot(...v) / Math.hypot(...mean)),
    )
    expect(first!.similarity).toBeCloseTo(best, 5)
    expect(await ids(around('world', 'lon => 179.999, radius => 1000'))).toEqual([])
    expect(await ids(around('world', `lon => 180.5, radius => 1, unit => 'deg'`))).toEqual([])
  })

  test('is measured on the globe', async () => {
    // A circle in a plane around the place would be wrong by some thousand meters.
    const { rows } = await db.database.query<{ south: number }>(
      `select st_distance(st_setsrid(st_makepoint(10, st_ymin(d)), 4326)::geography, 'SRID=4326;POINT(10 60)'::geography) as south
       from geoembeddings.disc('SRID=4326;POINT(10 60)'::geometry, 1e6, 'm') d`,
    )
    expect(rows[0]!.south).toBeCloseTo(1e6, 0)
  })

  test.each([
    [`lon => 10, radius => 'NaN'`, 'finite'],
    [`lon => 10, radius => 'infinity'`, 'finite'],
    ['lon => 10, radius => 9e6', 'reaches a pole'],
  ])('of %s is refused', async (more, message) => {
    await expect(ids(around('fiji', more))).rejects.toMatchObject({
      code: '22023',
      message: expect.stringContaining(message) as string,
    })
  })
})

describe('a label', () => {
  test.each(['forest', 'FOREST ', 'Open  Water', 'open_water'])(
    '%s of another spelling is refused with the right one',
    async (label) => {
      const calls = [
        `similarity_search(table_name => 'town', patch_id => 1, label_name => '${label}')`,
        `similarity_summary(table_name => 'town', patch_id => 1, label_name => '${label}')`,
        `change_detection(table_name_1 => 'town', table_name_2 => 'later', label_name => '${label}')`,
      ]
      for (const call of calls) {
        await expect(db.database.query(`select * from geoembeddings.${call}`)).rejects.toMatchObject({
          code: '22023',
          message: expect.stringMatching(/has "(?:Forest|open water)"$/) as string,
        })
      }
    },
  )

  test('that no row has finds nothing, and one that rows have finds them', async () => {
    expect(await ids(`similarity_search(table_name => 'town', patch_id => 1, label_name => 'rock')`)).toEqual([])
    expect(await ids(`similarity_search(table_name => 'town', patch_id => 1, label_name => 'Forest', similarity_threshold => -1)`)).toHaveLength(5) // prettier-ignore
  })
})

test('rows without a time are a warning of searches in time', async () => {
  const heard: string[] = []
  await db.database.session(async ({ client }) => {
    const listen = ({ message }: { message?: string | undefined }) => heard.push(message ?? '')
    client.on('notice', listen)
    await client.query(
      `select * from geoembeddings.similarity_search(table_name => 'town', patch_id => 1, since => '2024-01-01')`,
    )
    await client.query(`select * from geoembeddings.change_series(table_name => 'town', until => '2025-01-01')`)
    await client.query(
      `select * from geoembeddings.similarity_search(table_name => 'town', patch_id => 1, sources => array[2])`,
    )
    client.off('notice', listen)
  })
  expect(new Set(heard)).toEqual(
    new Set(['7 rows of embedding table "town" have no time, so since and until leave them out']),
  )
  expect(heard.length).toBeGreaterThanOrEqual(2)
})

test('an area that jumps over the antimeridian is a warning', async () => {
  const heard: string[] = []
  const search = (area: string) =>
    `select * from geoembeddings.similarity_search(table_name => 'fiji', patch_id => 1, spatial_filter => ${area})`
  await db.database.session(async ({ client }) => {
    const listen = ({ message }: { message?: string | undefined }) => heard.push(message ?? '')
    client.on('notice', listen)
    for (const area of [box(-180, -90, 180, 90), box(178, -17, 182, -16), box(-90, -17, 80, -16)]) {
      await client.query(search(area))
    }
    expect(heard).toEqual([])
    await client.query(search(box(-178, -17, 179, -16)))
    client.off('notice', listen)
  })
  expect(heard[0]).toContain('a side of 357.00 degrees')
})

test.each([
  [`since => '2025-01-01', until => '2024-01-01'`, 'since is later than until'],
  ['sources_1 => array[0, 99], sources_2 => array[0]', 'has no source 99'],
])('a change of %s is refused', async (more, message) => {
  const call = `change_detection(table_name_1 => 'town', table_name_2 => 'town', ${more})`
  await expect(ids(call)).rejects.toMatchObject({ code: '22023', message: expect.stringContaining(message) as string })
})

test('a vector of zeros is refused where directions are compared', async () => {
  const call = `similarity_search(table_name => 'town', query_embedding => '[0,0,0,0]')`
  await expect(ids(call)).rejects.toMatchObject({
    code: '22023',
    message: expect.stringContaining('all zeros') as string,
  })
})
