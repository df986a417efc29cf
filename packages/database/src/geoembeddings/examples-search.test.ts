import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'

const DIMS = 6
const COUNT = 80
const COLUMNS = 10
let db: TestDatabase

const random = seededRandom(11)
const randomVectors = () =>
  Array.from({ length: COUNT }, () => Float32Array.from({ length: DIMS }, () => random() - 0.5))
const here = randomVectors()
here[9] = new Float32Array(DIMS)
const there = randomVectors()

/** Tiles of 0.1 degrees in rows of ten from (10, 50) to the south-east. */
function square(id: number): Float64Array {
  const west = 10 + (id % COLUMNS) * 0.1
  const north = 50 - Math.floor(id / COLUMNS) * 0.1
  return Float64Array.of(west, north, west, north - 0.1, west + 0.1, north - 0.1, west + 0.1, north)
}

beforeAll(async () => {
  db = await openTestDatabase()
  await makeEmbeddingTable(db.database, { name: 'here', vectors: here, ring: square })
  await makeEmbeddingTable(db.database, { name: 'there', vectors: there, ring: square })
  await makeEmbeddingTable(db.database, {
    name: 'other_model',
    vectors: there,
    ring: square,
    entry: { modelName: 'another' },
  })
  const scale = (max: number) => ({ unit: 'byte', min: [0, 0, 0], max: [max, max, max], origin: 'request' })
  await makeEmbeddingTable(db.database, { name: 'bright', vectors: here, ring: square, entry: { scale: scale(100) } })
  await makeEmbeddingTable(db.database, { name: 'dark', vectors: here, ring: square, entry: { scale: scale(50) } })
  await makeEmbeddingTable(db.database, { name: 'far', vectors: here, ring: square, entry: { metric: 'l2' } })
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

type Vector = Float32Array
const dot = (a: Vector, b: Vector) => a.reduce((sum, x, i) => sum + x * b[i]!, 0)
const unit = (v: Vector) => v.map((x) => x / Math.sqrt(dot(v, v)))
const cosine = (a: Vector, b: Vector) => dot(unit(a), unit(b))
const mean = (all: readonly Vector[]) =>
  Float32Array.from({ length: DIMS }, (_, i) => all.reduce((sum, v) => sum + v[i]!, 0) / all.length)

async function call<Row>(fn: string, args: string): Promise<Row[]> {
  const { rows } = await db.database.query<{ row: Row }>(
    `select to_jsonb(s) as row from geoembeddings.${fn}(${args}) s`,
  )
  return rows.map(({ row }) => row)
}
const search = (args: string) => call<{ id: number; similarity: number; geom: unknown }>('similarity_search', args)
const ids = async (args: string) => (await search(args)).map(({ id }) => id)

function ranking(query: Vector, threshold = 0): number[] {
  return here
    .map((v, id) => ({ id, similarity: cosine(query, v) }))
    .filter(({ similarity }) => similarity >= threshold)
    .toSorted((a, b) => b.similarity - a.similarity)
    .map(({ id }) => id)
}

describe('examples', () => {
  test('of several tables count alike, and what is not meant turns the query away from it', async () => {
    const wanted = mean([here[1]!, here[2]!, there[3]!].map(unit))
    const unwanted = mean([there[4]!, here[5]!].map(unit))
    const query = wanted.map((x, i) => x - unwanted[i]! / 2)
    const args = `table_name => 'here', positive => '{"here": [1, 2, 2], "there": ["3"]}'`
    expect(await ids(`${args}, negative => '{"there": [4], "here": [5]}'`)).toEqual(ranking(query))
    expect(await ids(args)).toEqual(ranking(wanted))
  })

  test('without a direction do not count', async () => {
    expect(await ids(`table_name => 'here', positive => '{"here": [9, 8]}'`)).toEqual(ranking(here[8]!))
    await expect(ids(`table_name => 'here', positive => '{"here": [9]}'`)).rejects.toMatchObject({
      code: '22023',
      message: 'positive names no row that has a direction',
    })
  })

  test('are averaged as they are where distances are measured', async () => {
    const query = mean([here[1]!, here[2]!, here[4]!])
    const nearest = here
      .map((v, id) => ({ id, distance: Math.hypot(...v.map((x, i) => x - query[i]!)) }))
      .toSorted((a, b) => a.distance - b.distance)
    expect(await ids(`table_name => 'far', positive => '{"far": [1, 2, 4]}', result_limit => 5`)).toEqual(
      nearest.slice(0, 5).map(({ id }) => id),
    )
  })

  test('of another model, or that saw their pixels differently, are an error that names both tables', async () => {
    await expect(ids(`table_name => 'here', positive => '{"here": [1], "other_model": [1]}'`)).rejects.toThrow(
      /"here" \(m, .*"other_model" \(another, .*cannot be compared/,
    )
    await expect(ids(`table_name => 'dark', positive => '{"bright": [1]}'`)).rejects.toThrow(
      'tables "dark" and "bright" saw their pixels differently and cannot be compared',
    )
  })

  test.each([
    [`'{"here": [1, 900, 901]}'`, 'PT404', 'embedding table "here" has no row with id 900, 901, which positive names'],
    [`'{"nowhere": [1]}'`, '42P01', 'embedding table "nowhere" does not exist'],
    [`'[1, 2]'`, '22023', 'positive must be an object of lists of ids by table'],
    [`'{"here": 1}'`, '22023', 'positive must be an object of lists of ids by table'],
    [`'{"here": [[1]]}'`, '22023', 'positive must be an object of lists of ids by table'],
    [`'{"here": [1.5]}'`, '22023', 'positive."here" must be a list of ids'],
    [`'{}'`, '22023', 'positive names no row that has a direction'],
  ])('%s are refused', async (positive, code, message) => {
    await expect(ids(`table_name => 'here', positive => ${positive}`)).rejects.toMatchObject({ code, message })
  })

  test('in a table that the caller may not read are as unknown as no table', async () => {
    await db.database.query(
      `update geoembeddings.embeddings_catalogue set owner = gen_random_uuid() where table_name = 'there'`,
    )
    try {
      const asked = db.database.transaction(async (session) => {
        await session.query('set local role anon')
        await session.query(
          `select * from geoembeddings.similarity_search(table_name => 'here', positive => '{"there": [1]}')`,
        )
      })
      await expect(asked).rejects.toMatchObject({ code: '42P01' })
    } finally {
      await db.database.query(`update geoembeddings.embeddings_catalogue set owner = null`)
    }
  })
})

describe('variety', () => {
  /** Expected result of a varied search, computed by its definition. */
  function varied(query: Vector, variety: number, count: number): number[] {
    const candidates = ranking(query, -1)
    const chosen: number[] = []
    const value = (id: number) =>
      (1 - variety) * cosine(query, here[id]!) -
      variety * Math.max(...(chosen.length === 0 ? [0] : chosen.map((other) => cosine(here[other]!, here[id]!))))
    while (chosen.length < count) {
      const left = candidates.filter((id) => !chosen.includes(id))
      chosen.push(left.reduce((best, id) => (value(id) > value(best) ? id : best)))
    }
    return chosen
  }
  const args = `table_name => 'here', patch_id => 20, similarity_threshold => -1`

  test.each([0.3, 0.7, 1])('of %d chooses rows as maximal marginal relevance does', async (variety) => {
    expect(await ids(`${args}, variety => ${variety}, result_limit => 12`)).toEqual(varied(here[20]!, variety, 12))
  })

  test('pages, and brings geometry and true similarities', async () => {
    const hits = await search(
      `${args}, variety => 0.5, result_limit => 5, result_offset => 3, include_geom => true, include_embeddings => true`,
    )
    expect(hits.map(({ id }) => id)).toEqual(varied(here[20]!, 0.5, 8).slice(3))
    for (const hit of hits) {
      expect(hit.similarity).toBeCloseTo(cosine(here[20]!, here[hit.id]!), 5)
      expect(hit.geom).toMatchObject({ type: 'Polygon' })
    }
  })

  test('answers with all rows there are, and with none where nothing resembles the query', async () => {
    const label = `label_name => 'nobody'`
    expect(await ids(`${args}, variety => 0.5, result_limit => 100`)).toHaveLength(COUNT - 1)
    expect(await ids(`${args}, variety => 0.5, result_limit => 10, ${label}`)).toEqual([])
  })

  test('of 0 is the order of similarity', async () => {
    expect(await ids(`${args}, variety => 0`)).toEqual(ranking(here[20]!, -1))
  })

  test.each([
    ['variety => 1.5, result_limit => 3', 'variety must be a number from 0 to 1'],
    [`variety => 'NaN', result_limit => 3`, 'variety must be a number from 0 to 1'],
    ['variety => 0.5', 'a search with variety needs a result_limit, with result_offset at most 100'],
    [
      'variety => 0.5, result_limit => 90, result_offset => 11',
      'a search with variety needs a result_limit, with result_offset at most 100',
    ],
  ])('%s is refused', async (wrong, message) => {
    await expect(ids(`${args}, ${wrong}`)).rejects.toMatchObject({ code: '22023', message })
  })
})

interface Summary {
  cell: string | null
  row_count: number
  matches: number
  mean_similarity: number | null
  best_similarity: number | null
  best_id: number | null
  geom: { coordinates: number[][][] } | null
}

describe('a summary', () => {
  const summary = (args: string) => call<Summary>('similarity_summary', `table_name => 'here', ${args}`)
  /** Counts over some rows. */
  function counted(rows: readonly number[], query: Vector, threshold: number) {
    const found = rows
      .map((id) => ({ id, similarity: cosine(query, here[id]!) }))
      .filter(({ similarity }) => similarity >= threshold)
      .toSorted((a, b) => b.similarity - a.similarity)
    return {
      row_count: rows.length,
      matches: found.length,
      best_id: found[0]?.id ?? null,
      best_similarity: found[0] === undefined ? null : expect.closeTo(found[0].similarity, 5),
      mean_similarity:
        found.length === 0
          ? null
          : expect.closeTo(found.reduce((sum, { similarity }) => sum + similarity, 0) / found.length, 5),
    }
  }
  const all = Array.from({ length: COUNT }, (_, id) => id)

  test('counts all rows, those alike, and names the best', async () => {
    expect(await summary('patch_id => 3, similarity_threshold => 0.2')).toEqual([
      { cell: null, geom: null, ...counted(all, here[3]!, 0.2) },
    ])
    const far = `area => st_makeenvelope(0, 0, 1, 1, 4326)`
    expect(await summary(`patch_id => 3, ${far}`)).toEqual([])
  })

  test('of an area counts the rows that it meets, in any SRID', async () => {
    const area = 'st_transform(st_makeenvelope(10.05, 49.75, 10.25, 49.95, 4326), 3857)'
    const [row] = await summary(`positive => '{"here": [3]}', area => ${area}, include_geom => true`)
    expect(row).toMatchObject(counted([0, 1, 2, 10, 11, 12, 20, 21, 22], here[3]!, 0))
    expect(row?.geom?.coordinates[0]?.[0]?.[0]).toBeCloseTo(10.05)
  })

  test('per tile of the map adds up to the whole, and each cell holds the rows whose middle lies in it', async () => {
    const cells = await summary(
      `query_embedding => '[${[...here[3]!].join()}]', cells => 10, include_geom => true, similarity_threshold => 0`,
    )
    expect(cells.length).toBeGreaterThan(3)
    const seen: number[] = []
    for (const { cell, geom, ...rest } of cells) {
      const [west, south] = geom!.coordinates[0]![0]!
      const [east, north] = geom!.coordinates[0]![2]!
      const inside = all.filter((id) => {
        const [lng, lat] = [10.05 + (id % COLUMNS) * 0.1, 49.95 - Math.floor(id / COLUMNS) * 0.1]
        return lng > west! && lng < east! && lat > south! && lat < north!
      })
      expect(cell).toMatch(/^10\/\d+\/\d+$/)
      expect(rest).toEqual(counted(inside, here[3]!, 0))
      seen.push(...inside)
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(all)
    expect(cells.map(({ matches }) => matches)).toEqual(cells.map(({ matches }) => matches).toSorted((a, b) => b - a))
  })

  test.each([
    ['cells => 4', 'one of patch_id, query_embedding and positive is needed'],
    [`patch_id => 1, positive => '{"here": [1]}'`, 'one of patch_id, query_embedding and positive is needed'],
    [`patch_id => 1, negative => '{"here": [1]}'`, 'one of patch_id, query_embedding and positive is needed'],
    ['patch_id => 1, cells => 23', 'cells must be a zoom from 0 to 22'],
    [`query_embedding => '[1]'`, 'query_embedding has 1 dimensions, embedding table "here" has 6'],
  ])('by %s is refused', async (args, message) => {
    await expect(summary(args)).rejects.toMatchObject({ code: '22023', message })
  })
})
