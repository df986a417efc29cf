import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { CatalogueEntry } from './catalogue.ts'

const DIMS = 16
const COLUMNS = 8
const COUNT = 64
/** Tiles whose place was built over. */
const CHANGED = new Set([3, 9, 20, 21, 40, 63])
let db: TestDatabase

const random = seededRandom(11)
const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const draw = () => Float32Array.from({ length: DIMS }, gaussian)
const before = Array.from({ length: COUNT }, draw)
const opposite = before.map((v, id) => (CHANGED.has(id) ? v.map((x) => -x) : v))

/** Squares of `side` hundredths of a degree on a grid whose origin is moved by `shift` of them. */
const grid =
  (shift = 0, side = 1) =>
  (id: number): Float64Array => {
    const west = 10 + ((id % COLUMNS) * side + shift) * 0.01
    const north = 50 - Math.floor(id / COLUMNS) * side * 0.01
    const [east, south] = [west + side * 0.01, north - side * 0.01]
    return Float64Array.of(west, north, west, south, east, south, east, north)
  }

const make = (
  name: string,
  vectors: readonly Float32Array[],
  entry: Partial<CatalogueEntry> = {},
  ring = grid(),
): Promise<void> => makeEmbeddingTable(db.database, { name, vectors, ring, entry })

interface Change {
  readonly id: number
  readonly change_score: number
  readonly similarity: number
  readonly change_z: number | null
  readonly overlap: number
}

async function changes(a: string, b: string, more = ''): Promise<Change[]> {
  const { rows } = await db.database.query<{ hit: Change }>(
    `select to_jsonb(s) as hit from geoembeddings.change_detection(table_name_1 => '${a}', table_name_2 => '${b}' ${more}) s`,
  )
  return rows.map((row) => row.hit)
}

beforeAll(async () => {
  db = await openTestDatabase()
  await make('before', before)
  await make('opposite', opposite)
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

describe('change detection', () => {
  test('returns every pair, opposite vectors first', async () => {
    const found = await changes('before', 'opposite')
    expect(found).toHaveLength(COUNT)
    expect(new Set(found.slice(0, CHANGED.size).map(({ id }) => id))).toEqual(CHANGED)
    expect(found[0]?.change_score).toBeCloseTo(2, 5)
    expect(found.at(-1)?.change_score).toBeCloseTo(0, 5)
    expect(found.every(({ overlap }) => overlap === 1)).toBe(true)
  })

  test('keeps what is at least so similar only when a threshold is given', async () => {
    expect(await changes('before', 'opposite', ', similarity_threshold => 0')).toHaveLength(COUNT - CHANGED.size)
  })

  test('a difference that lies over the whole scene is no change by change_z', async () => {
    // All vectors move in the same direction, farther than the changed ones move in addition.
    const haze = draw().map((x) => x * 2)
    const after = before.map((v, id) => v.map((x, i) => x + haze[i]! + (CHANGED.has(id) ? 1.2 * gaussian() : 0)))
    await make('hazy', after, { metric: 'l2' })
    await make('clear', before, { metric: 'l2' })
    const ranked = await changes('clear', 'hazy', `, order_by => 'change_z', result_limit => ${CHANGED.size}`)
    expect(new Set(ranked.map(({ id }) => id))).toEqual(CHANGED)
    const scores = ranked.map(({ change_z: z }) => z!)
    expect(scores).toEqual(scores.toSorted((x, y) => y - x))
  })

  test('change_z is the root mean square of robust scores, cut at 8', async () => {
    // One dimension: differences 0 … 20 with the median 10 and the median absolute deviation 5.
    const line = Array.from({ length: 21 }, (_, id) => Float32Array.of(id))
    await make(
      'zero',
      line.map(() => Float32Array.of(0)),
      { metric: 'l2' },
    )
    await make('line', line, { metric: 'l2' })
    const found = await changes('zero', 'line')
    for (const { id, change_z: z } of found) expect(z).toBeCloseTo(Math.abs(id - 10) / (1.4826 * 5), 6)
    await make('leap', [...line.slice(0, -1), Float32Array.of(1e6)], { metric: 'l2' })
    expect((await changes('zero', 'leap'))[0]).toMatchObject({ id: 20, change_z: 8 })
  })

  test('fewer than 20 pairs have no change_z', async () => {
    await make('few', before.slice(0, 19))
    const found = await changes('few', 'opposite')
    expect(found).toHaveLength(19)
    expect(found.every(({ change_z: z }) => z === null)).toBe(true)
    await make('enough', before.slice(0, 20))
    expect((await changes('enough', 'opposite')).every(({ change_z: z }) => z !== null)).toBe(true)
  })

  test('on another grid a tile meets the one that it shares the most ground with', async () => {
    await make('moved', before, {}, grid(0.3))
    const found = (await changes('before', 'moved')).toSorted((a, b) => a.id - b.id)
    expect(found).toHaveLength(COUNT)
    for (const { id, overlap, change_score: score } of found) {
      // The tiles share 0.7 of their union of 1.3.
      expect(overlap, `tile ${id}`).toBeCloseTo(0.7 / 1.3, 5)
      expect(score, `tile ${id}`).toBeCloseTo(0, 5)
    }
  })

  test('grids that share less than half of the ground are refused, unless a smaller overlap is asked for', async () => {
    await make('halfway', before, {}, grid(0.5))
    await make('coarse', before.slice(0, 16), {}, grid(0, 4))
    await expect(changes('before', 'halfway')).rejects.toMatchObject({
      code: '22023',
      message:
        'no tile of "before" overlaps one of "halfway" by 0.5 (shared ground over the ground of both), at most by 0.333',
      hint: expect.stringContaining('min_overlap') as string,
    })
    await expect(changes('before', 'coarse')).rejects.toMatchObject({
      message: expect.stringMatching(/at most by 0\.06[23]/) as string,
    })
    const halves = await changes('before', 'halfway', ', min_overlap => 0.3')
    expect(halves).toHaveLength(COUNT)
    for (const { overlap } of halves) expect(overlap).toBeCloseTo(1 / 3, 5)
    const sixteenths = await changes('before', 'coarse', ', min_overlap => 0')
    expect(sixteenths).toHaveLength(COUNT)
    for (const { overlap } of sixteenths) expect(overlap).toBeCloseTo(1 / 16, 5)
    await expect(changes('before', 'coarse', ', min_overlap => 2')).rejects.toMatchObject({ code: '22023' })
    await make('elsewhere', before, {}, grid(1000))
    expect(await changes('before', 'elsewhere')).toEqual([])
  })

  test('an order that is none is refused', async () => {
    await expect(changes('before', 'opposite', `, order_by => 'id'`)).rejects.toMatchObject({ code: '22023' })
  })
})

describe('tables compare', () => {
  const scale = { origin: 'percentile', unit: 'scaled', min: [1, 1, 1], max: [9, 9, 9] }
  const profiled = { origin: 'profile', profile: 'sentinel-2-l2a', unit: 'scaled', min: [0, 0, 0], max: [1, 1, 1] }
  const named = { ...profiled, channels: ['red', 'green', 'blue'] }

  test('not when their pixels were stretched differently, and the error names both sides', async () => {
    await make('own', before, { scale })
    await make('other', before, { scale: { ...scale, max: [9, 9, 40] } })
    await expect(changes('own', 'other')).rejects.toMatchObject({
      code: '22023',
      message: 'tables "own" and "other" saw their pixels differently and cannot be compared',
      detail: expect.stringMatching(/^"own": percentile.*\[9, 9, 9\].*"other": percentile.*\[9, 9, 40\]/) as string,
      hint: expect.stringContaining('"scaleFrom": {"table": "own"}') as string,
    })
    await expect(changes('own', 'before')).rejects.toMatchObject({ code: '22023' })
  })

  test('wherever the stretch came from, when it is the same', async () => {
    await make('taken', before, { scale: { ...scale, origin: 'table', resampling: 'none' } })
    expect(await changes('own', 'taken')).toHaveLength(COUNT)
    const { unit: _, ...older } = scale
    await make('older', before, { scale: older })
    expect(await changes('own', 'older')).toHaveLength(COUNT)
  })

  test('by the names of their bands, and by indices where names are missing', async () => {
    await make('rgb', before, { scale: named, bands: [2, 1, 0] })
    await make('rgb_elsewhere', before, { scale: named, bands: [3, 2, 1] })
    await make('swapped', before, { scale: { ...named, channels: ['nir', 'red', 'green'] }, bands: [2, 1, 0] })
    await make('nameless', before, { scale: profiled, bands: [0, 1, 2] })
    expect(await changes('rgb', 'rgb_elsewhere')).toHaveLength(COUNT)
    await expect(changes('rgb', 'swapped')).rejects.toMatchObject({ code: '22023' })
    await expect(changes('rgb', 'nameless')).rejects.toMatchObject({ code: '22023' })
  })

  test('not when their values are in other units, unless the caller stated the range', async () => {
    const stated = { ...scale, origin: 'explicit' }
    await make('numbers', before, { scale: { ...scale, values: 'uint16' } })
    await make('reflectance', before, { scale: { ...scale, values: 'reflectance' } })
    await make('stated', before, { scale: { ...stated, values: 'reflectance' } })
    await expect(changes('numbers', 'reflectance')).rejects.toMatchObject({
      code: '22023',
      message: expect.stringMatching(/^tables "numbers" \(values: uint16\) and "reflectance" \(values: refl/) as string,
    })
    expect(await changes('numbers', 'stated')).toHaveLength(COUNT)
    expect(await changes('numbers', 'own')).toHaveLength(COUNT)
  })

  test('not when their pixels are of other sizes on the ground', async () => {
    for (const [name, meters] of [
      ['ten', 10],
      ['nearly_ten', 10.9],
      ['twenty', 20],
    ] as const)
      await make(name, before, { scale: { ...scale, pixel_meters: meters } })
    for (const [a, b] of [
      ['ten', 'twenty'],
      ['twenty', 'ten'],
    ] as const) {
      await expect(changes(a, b)).rejects.toMatchObject({
        code: '22023',
        message: expect.stringMatching(/pixels of 10 m.*cannot be compared|pixels of 20 m.*pixels of 10 m/) as string,
      })
    }
    expect(await changes('ten', 'nearly_ten')).toHaveLength(COUNT)
    expect(await changes('ten', 'own')).toHaveLength(COUNT)
  })

  test('not by l2 when one of them is normalized, and not by different metrics', async () => {
    await make('raw', before, { metric: 'l2', normalized: false })
    await make('unit', before, { metric: 'l2' })
    await expect(changes('raw', 'unit')).rejects.toMatchObject({ message: expect.stringContaining('by l2') as string })
    await expect(changes('raw', 'before')).rejects.toMatchObject({ code: '22023' })
  })
})

describe('a table of several dates', () => {
  const DATES = ['2024-05-01T10:00:00Z', '2024-06-01T10:00:00Z', '2024-07-01T10:00:00Z']
  const SOURCE = 2 ** 32

  /** Makes sources one after the other, each over the same tiles or over the tiles beside the last one. */
  async function makeDated(
    name: string,
    looks: readonly (readonly Float32Array[])[],
    dates: readonly (string | null)[],
    apart = 0,
  ) {
    const rows = looks.flatMap((vectors, source) => vectors.map((vector, tile) => ({ vector, source, tile })))
    await make(
      name,
      rows.map(({ vector }) => vector),
      {},
      (at) => grid(apart * rows[at]!.source)(rows[at]!.tile),
    )
    await db.database.query(
      `update geoembeddings.${name} set id = id % ${COUNT} + (id / ${COUNT}) * ${SOURCE} where id >= ${COUNT}`,
    )
    for (const [source, datetime] of dates.entries()) {
      await db.database.query(
        `insert into geoembeddings.embedding_sources (table_name, source, name, datetime, status, rows)
         values ($1, $2, $3, $4, 'done', $5)`,
        [name, source, `look ${source}`, datetime, COUNT],
      )
    }
  }

  const third = before.map((v, id) => (id === 7 ? v.map((x) => -x) : v))

  beforeAll(async () => {
    await makeDated('series', [before, opposite, third], DATES)
  })

  test('is refused beside another table, and with itself, until both looks are named', async () => {
    await expect(changes('series', 'before')).rejects.toMatchObject({
      code: '22023',
      message: expect.stringMatching(/^sources \d and \d of embedding table "series" show the same place$/) as string,
      detail: 'Sources of "series": 0 (2024-05-01), 1 (2024-06-01), 2 (2024-07-01)',
      hint: 'Name one look at it: from_date, or sources_1.',
    })
    await expect(changes('before', 'series')).rejects.toMatchObject({
      hint: 'Name one look at it: to_date, or sources_2.',
    })
    await expect(changes('before', 'before')).rejects.toMatchObject({
      message: 'embedding table "before" is compared with itself',
    })
    for (const args of ['', `, from_date => '2024-05-01'`, ', sources_1 => array[1], sources_2 => array[1]'])
      await expect(changes('series', 'series', args)).rejects.toMatchObject({
        message: 'embedding table "series" is compared with itself',
      })
    await expect(
      changes('series', 'series', `, from_date => '2024-05-01', to_date => '2024-05-02'`),
    ).rejects.toMatchObject({
      message: 'embedding table "series" has no source of that date, time or number',
      detail: expect.stringContaining('2 (2024-07-01)') as string,
    })
  })

  test('gives the change between two of its dates, or sets of its sources', async () => {
    const spring = await changes('series', 'series', `, from_date => '2024-05-01', to_date => '2024-06-01'`)
    expect(spring).toHaveLength(COUNT)
    expect(new Set(spring.slice(0, CHANGED.size).map(({ id }) => id))).toEqual(CHANGED)
    const back = await changes('series', 'series', ', sources_1 => array[2], sources_2 => array[0]')
    expect(back).toHaveLength(COUNT)
    expect(back[0]).toMatchObject({ id: 2 * SOURCE + 7, change_score: expect.closeTo(2, 5) as number })
    expect(back[1]!.change_score).toBeCloseTo(0, 5)
    const late = await changes('before', 'series', `, to_date => '2024-07-01'`)
    expect(late[0]!.id).toBe(7)
    const since = await changes('before', 'series', `, sources_2 => array[0, 1], to_date => '2024-06-01'`)
    expect(new Set(since.slice(0, CHANGED.size).map(({ id }) => id))).toEqual(CHANGED)
    const { rows } = await db.database.query(
      `select id from geoembeddings.similarity_search(table_name_1 => 'series', table_name_2 => 'series',
         from_date => '2024-05-01', to_date => '2024-06-01', similarity_threshold => -1, result_limit => 1)`,
    )
    expect(rows).toHaveLength(1)
  })

  test('takes since and until for both looks', async () => {
    await makeDated('early', [before], ['2024-05-20T00:00:00Z'])
    const args = `, since => '2024-05-15', until => '2024-06-15'`
    const found = await changes('early', 'series', args)
    expect(new Set(found.slice(0, CHANGED.size).map(({ id }) => id))).toEqual(CHANGED)
  })

  test('is compared and searched by date by its readers, who do not see what its sources are called', async () => {
    const read = (text: string) =>
      db.database.transaction(async (session) => {
        await session.query('set local role anon')
        return (await session.query<{ n: string }>(text)).rows[0]!.n
      })
    const count = 'select count(*)::text as n from geoembeddings.'
    expect(await read(`${count}embedding_sources`)).toBe('0')
    expect(await read(`${count}list_sources('series')`)).toBe('3')
    const search = `similarity_search(table_name => 'series', patch_id => 5, similarity_threshold => -1, result_limit => 1000`
    expect(await read(`${count}${search}, since => '2024-06-15')`)).toBe(`${COUNT}`)
    const change = `change_detection(table_name_1 => 'series', table_name_2 => 'series', from_date => '2024-05-01'`
    expect(await read(`${count}${change}, to_date => '2024-06-01')`)).toBe(`${COUNT}`)
    await db.database.query(
      `update geoembeddings.embeddings_catalogue set is_public = false where table_name = 'series'`,
    )
    expect(await read(`${count}list_sources('series')`)).toBe('0')
    await db.database.query(
      `update geoembeddings.embeddings_catalogue set is_public = true where table_name = 'series'`,
    )
  })

  test('is searched and counted by time and by source', async () => {
    const sourcesOf = async (fn: string, args: string) => {
      const { rows } = await db.database.query<{ source: number; n: string }>(
        `select id >> 32 as source, count(*) as n from geoembeddings.${fn}(table_name => 'series', similarity_threshold => -1 ${args}) group by 1 order by 1`,
      )
      return rows.map(({ source, n }) => [source, Number(n)])
    }
    const all = [0, 1, 2].map((source) => [source, COUNT])
    for (const query of [
      'patch_id => 5',
      `query_embedding => (select embedding from geoembeddings.series where id = 5)`,
      `positive => '{"series": [5]}'`,
      'positive_ids => array[5]',
      'lon => 10.005, lat => 49.995',
      `query_geometry => st_makeenvelope(10, 49.9, 10.05, 50, 4326)`,
    ]) {
      const search = (more = '') => sourcesOf('similarity_search', `, ${query}, result_limit => 1000 ${more}`)
      expect(await search()).toEqual(all)
      expect(await search(`, since => '2024-06-01'`)).toEqual(all.slice(1))
      expect(await search(`, until => '2024-06-01T10:00:00Z'`)).toEqual(all.slice(0, 2))
      expect(await search(`, sources => array[2, 0]`)).toEqual([all[0], all[2]])
      expect(await search(`, since => '2030-01-01'`)).toEqual([])
    }
    expect(
      await sourcesOf('similarity_search', `, patch_id => 5, variety => 0.3, result_limit => 20, sources => array[1]`),
    ).toEqual([[1, 20]])
    const { rows } = await db.database.query<{ row_count: string }>(
      `select row_count::text from geoembeddings.similarity_summary(table_name => 'series', patch_id => 5, since => '2024-06-15')`,
    )
    expect(rows).toEqual([{ row_count: String(COUNT) }])
  })

  test('loses a source with its rows, and keeps its last one', async () => {
    await makeDated('shrinking', [before, opposite, third], DATES)
    await db.database.query(
      `update geoembeddings.embedding_sources set zero_vectors = source, bbox = array[10 + source, 49, 11 + source, 50]
       where table_name = 'shrinking'`,
    )
    const remove = async (source: number) =>
      (
        await db.database.query<{ n: string }>(
          `select geoembeddings.remove_source(table_name => 'shrinking', source => ${source})::text as n`,
        )
      ).rows[0]!.n
    expect(await remove(1)).toBe(String(COUNT))
    const { rows } = await db.database.query(
      `select rows::int, zero_vectors::int, bbox, (select count(*)::int from geoembeddings.shrinking) as there,
         (select array_agg(distinct (id >> 32)::int order by (id >> 32)::int) from geoembeddings.shrinking) as sources
       from geoembeddings.embeddings_catalogue where table_name = 'shrinking'`,
    )
    expect(rows).toEqual([
      { rows: 2 * COUNT, zero_vectors: 2, bbox: [10, 49, 13, 50], there: 2 * COUNT, sources: [0, 2] },
    ])
    await expect(remove(1)).rejects.toMatchObject({ code: 'PT404' })
    expect(await remove(0)).toBe(String(COUNT))
    await expect(remove(2)).rejects.toMatchObject({
      code: '22023',
      hint: expect.stringContaining('delete_embedding_table') as string,
    })
    const asUser = db.database.transaction(
      (session) => session.query(`select geoembeddings.remove_source('shrinking', 2)`),
      'begin; set local role authenticated',
    )
    await expect(asUser).rejects.toMatchObject({ code: '42501' })
  })

  test('is no ambiguity where its sources lie side by side, or are of one day', async () => {
    await makeDated('mosaic', [before, before], [DATES[0]!, DATES[1]!], COLUMNS)
    expect(await changes('before', 'mosaic')).toHaveLength(COUNT)
    expect(await changes('mosaic', 'before')).toHaveLength(COUNT)
    await makeDated('day', [before, before], [DATES[0]!, '2024-05-01T10:00:30Z'])
    expect(await changes('before', 'day')).toHaveLength(COUNT)
    await makeDated('undated', [before, opposite], [null, null])
    await expect(changes('before', 'undated')).rejects.toMatchObject({
      detail: expect.stringContaining('0 (no date)') as string,
    })
  })
})

test('a table of metric l2 is searched by distance', async () => {
  await make(
    'heights',
    [1, 2, 4, 8].map((x) => Float32Array.of(x)),
    { metric: 'l2', normalized: false },
  )
  const { rows } = await db.database.query<{ id: number; similarity: number }>(
    `select id, similarity from geoembeddings.similarity_search(table_name => 'heights', patch_id => 1, result_limit => 3)`,
  )
  expect(rows).toEqual([
    { id: 1, similarity: 1 },
    { id: 0, similarity: 0.5 },
    { id: 2, similarity: 1 / 3 },
  ])
})
