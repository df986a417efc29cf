import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import type { Session } from '../database.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'

const DIMS = 8
const COLUMNS = 40
const COUNT = 1600
let db: TestDatabase

const random = seededRandom(5)
const vectors = Array.from({ length: COUNT }, () => Float32Array.from({ length: DIMS }, () => random() - 0.5))

/** Squares of a hundredth of a degree, in rows from (10, 50) to the south-east. */
function ring(id: number): Float64Array {
  const west = 10 + (id % COLUMNS) * 0.01
  const north = 50 - Math.floor(id / COLUMNS) * 0.01
  return Float64Array.of(west, north, west, north - 0.01, west + 0.01, north - 0.01, west + 0.01, north)
}

beforeAll(async () => {
  db = await openTestDatabase()
  await makeEmbeddingTable(db.database, {
    name: 'many',
    vectors,
    ring,
    entry: { index: { kind: 'halfvec', recall: null } },
  })
  await db.database.query(
    `create index on geoembeddings.many using hnsw ((embedding::halfvec(${DIMS})) halfvec_cosine_ops)`,
  )
  await db.database.query(`update geoembeddings.embeddings_catalogue set approximate_index = true`)
  await db.database.query(
    `update geoembeddings.many set label_name = case when id % 4 = 0 then 'fourth' else 'rest' end`,
  )
  await db.database.query(`alter table geoembeddings.many add datetime timestamptz`)
  await db.database.query(`update geoembeddings.many set datetime = '2024-01-01'::date + (id * 7 % 100)::int`)
  await db.database.query('analyze geoembeddings.many')
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const ids = async (session: Pick<Session, 'query'>, args: string): Promise<number[]> => {
  const { rows } = await session.query<{ id: number }>(
    `select id from geoembeddings.similarity_search(table_name => 'many', similarity_threshold => -1, ${args})`,
  )
  return rows.map((row) => row.id)
}

const estimate = async (label: string, area: string): Promise<number> => {
  const { rows } = await db.database.query<{ n: number }>(
    `select geoembeddings.estimate_rows(c, ${label}, ${area}) as n from geoembeddings.embeddings_catalogue c`,
  )
  return rows[0]!.n
}

class RolledBack extends Error {}

/** Runs work in a transaction and rolls it back. */
async function undone<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const results: T[] = []
  const undo = db.database.transaction(async (session) => {
    results.push(await work(session))
    throw new RolledBack()
  })
  await expect(undo).rejects.toBeInstanceOf(RolledBack)
  return results[0]!
}

const setBudget = (session: Session, budget: number) =>
  session.query(
    `create or replace function geoembeddings.exact_budget() returns double precision language sql immutable
     as 'select ${budget}::float8'`,
  )

/** Runs a search with that budget of the exact scan. Returns whether it used the index. */
function search(budget: number | null, args: string): Promise<{ found: number[]; approximate: boolean }> {
  return undone(async (session) => {
    if (budget !== null) await setBudget(session, budget)
    const found = await ids(session, args)
    const { rows } = await session.query<{ scan: string | null }>(
      `select current_setting('hnsw.max_scan_tuples', true) as scan`,
    )
    return { found, approximate: rows[0]?.scan === '60000' }
  })
}

describe('how many rows a filter leaves', () => {
  test('is estimated by statistics', async () => {
    expect(await estimate('null', 'null')).toBe(COUNT)
    expect(await estimate(`'fourth'`, 'null')).toBeCloseTo(COUNT / 4, -1)
    expect(await estimate(`'unheard of'`, 'null')).toBe(0)
    const half = await estimate('null', 'st_makeenvelope(10, 49, 10.2, 51, 4326)')
    expect(half).toBeGreaterThan(COUNT * 0.35)
    expect(half).toBeLessThan(COUNT * 0.65)
  })

  test('that names a time is estimated by statistics, too', async () => {
    const { rows } = await db.database.query<{ share: number }>(
      `select geoembeddings.share_of_times(c, '2024-02-01', '2024-03-02') as share from geoembeddings.embeddings_catalogue c`,
    )
    expect(rows[0]!.share).toBeCloseTo(0.31, 1)
  })

  test('decides between the exact scan and the index', async () => {
    const args = `patch_id => 7, result_limit => 10`
    const exact = await search(null, args)
    expect(exact.approximate).toBe(false)
    const { rows } = await db.database.query<{ pages: number }>(
      `select geoembeddings.cost_of_pages(c, $1) as pages from geoembeddings.embeddings_catalogue c`,
      [COUNT / 4],
    )
    const fourth = (COUNT / 4) * (DIMS + 128) + rows[0]!.pages
    expect((await search(fourth * 0.9, `${args}, label_name => 'fourth'`)).approximate).toBe(true)
    expect((await search(fourth * 1.1, `${args}, label_name => 'fourth'`)).approximate).toBe(false)
    expect((await search(fourth * 1.1, args)).approximate).toBe(true)
    expect((await search(0, `${args}, exact => true`)).approximate).toBe(false)
    expect((await search(0, `patch_id => 7`)).approximate).toBe(false)
  })
})

describe('the index is taken', () => {
  const taken = async (
    rows: number,
    dims: number,
    share: number,
    { filtered = true, kind = 'bit' } = {},
  ): Promise<boolean> => {
    const { rows: found } = await db.database.query<{ faster: boolean }>(
      `select geoembeddings.index_is_faster(jsonb_populate_record(c, $1), $2, 10, $3, false, $3) as faster
       from geoembeddings.embeddings_catalogue c`,
      [JSON.stringify({ rows, dims, index_kind: kind }), rows * share, filtered],
    )
    return found[0]!.faster
  }

  test('without a filter from some 50,000 rows on', async () => {
    expect(await taken(45_000, 384, 1, { filtered: false })).toBe(false)
    expect(await taken(55_000, 384, 1, { filtered: false })).toBe(true)
    expect(await taken(1_000_000, 384, 1, { filtered: false })).toBe(true)
  })

  // Measured on 250,000 rows of 1,024 dimensions: for a tenth of them the index took 120 to 300 ms, and the exact scan
  // about half of that.
  test.each([
    [250_000, 1024, 0.01, false],
    [250_000, 1024, 0.1, false],
    [250_000, 1024, 0.3, true],
    // A filter by date that keeps a quarter of the rows took twice as long without the index.
    [250_000, 384, 0.25, true],
    [1_000_000, 384, 0.1, false],
    [1_000_000, 384, 0.3, true],
    // The index would end before it had found enough rows.
    [10_000_000, 384, 0.01, false],
    [10_000_000, 384, 0.1, true],
  ])(
    'for a filter of %i rows of %i dimensions that keeps %d only where that is sooner: %s',
    async (rows, dims, share, yes) => {
      expect(await taken(rows, dims, share)).toBe(yes)
    },
  )

  // Measured on a million rows: for an area with a tenth of them an index over halfvec took 421 ms, and the exact scan
  // a third of that.
  test('over halfvec, which gives half as many rows, from a share of an eighth on', async () => {
    expect(await taken(1_000_000, 384, 0.1, { kind: 'halfvec' })).toBe(false)
    expect(await taken(1_000_000, 384, 0.15, { kind: 'halfvec' })).toBe(true)
  })
})

describe('the index', () => {
  test('gives some times what is wanted, more under a filter, an area and over bits, within bounds', async () => {
    const given = async (wanted: number, filtered: boolean, kind = 'halfvec', byArea = false): Promise<number> => {
      const { rows } = await db.database.query<{ n: number }>(
        `select geoembeddings.fetched_rows(${wanted}, ${filtered}, '${kind}', ${byArea}) as n`,
      )
      return rows[0]!.n
    }
    expect(await given(5, false)).toBe(100)
    expect(await given(10, true)).toBe(400)
    expect(await given(60, true)).toBe(600)
    expect(await given(500, false)).toBe(1500)
    expect(await given(5, false, 'bit')).toBe(400)
    expect(await given(10, true, 'bit')).toBe(400)
    expect(await given(10, true, 'bit', true)).toBe(800)
    expect(await given(30, true, 'bit')).toBe(1200)
    expect(await given(1000, false, 'bit')).toBe(4000)
  })

  test.each([
    ['without a filter', ''],
    ['with a label', `, label_name => 'fourth'`],
    ['with an area', ', spatial_filter => st_makeenvelope(10, 49.7, 10.3, 50, 4326)'],
    ['with a time', `, since => '2024-02-01', until => '2024-03-02'`],
  ])('finds what the exact scan finds %s', async (_, filter) => {
    let hits = 0
    for (const id of [0, 123, 456, 789, 1500]) {
      const args = `patch_id => ${id}, result_limit => 10${filter}`
      const { found, approximate } = await search(0, args)
      expect(approximate).toBe(true)
      const exact = new Set((await search(null, args)).found)
      expect(exact.size).toBe(10)
      hits += found.filter((one) => exact.has(one)).length
    }
    expect(hits).toBeGreaterThanOrEqual(48)
  })

  test.each([
    ['a label', `, label_name => 'fourth'`],
    ['an area', ', spatial_filter => st_makeenvelope(10, 49.9, 10.1, 50, 4326)'],
  ])('gives the candidates under %s, and no sort of what another index finds', async (_, filter) => {
    const scans = await undone(async (session) => {
      await setBudget(session, 0)
      await ids(session, `patch_id => 7, result_limit => 10${filter}`)
      const { rows } = await session.query<{ n: number }>(
        `select pg_stat_get_xact_numscans(i.indexrelid)::integer as n
         from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
         where i.indrelid = 'geoembeddings.many'::regclass and a.amname = 'hnsw'`,
      )
      return rows[0]!.n
    })
    expect(scans).toBeGreaterThan(0)
  })

  test('that runs out is made up for by the exact scan', async () => {
    // The statistics are outdated and still count a fourth of the rows for the label.
    const found = await undone(async (session) => {
      await session.query(`update geoembeddings.many set label_name = 'rest' where id not in (8, 800, 1200)`)
      await setBudget(session, 0)
      return ids(session, `patch_id => 8, result_limit => 10, label_name => 'fourth'`)
    })
    expect(new Set(found)).toEqual(new Set([8, 800, 1200]))
  })
})

describe('a query that is not a tile', () => {
  const literal = (v: Float32Array) => `'[${[...v].join()}]'`

  test('is a vector of the caller', async () => {
    const args = `query_embedding => ${literal(vectors[33]!)}, result_limit => 5`
    expect(await ids(db.database, args)).toEqual(await ids(db.database, 'patch_id => 33, result_limit => 5'))
    await expect(ids(db.database, `query_embedding => '[1,2]'`)).rejects.toMatchObject({
      code: '22023',
      message: 'query_embedding has 2 dimensions, embedding table "many" has 8',
    })
  })

  test('is a list of examples, and of what is not meant', async () => {
    const args = 'positive_ids => array[33]::bigint[], result_limit => 5'
    expect(await ids(db.database, args)).toEqual(await ids(db.database, 'patch_id => 33, result_limit => 5'))
    const unit = (v: Float32Array) => v.map((x) => x / Math.hypot(...v))
    const [a, b, c] = [unit(vectors[1]!), unit(vectors[2]!), unit(vectors[3]!)]
    const query = a.map((x, i) => (x + b[i]!) / 2 - c[i]! / 2)
    expect(
      await ids(
        db.database,
        `positive_ids => '{1,2}', negative_ids => '{3}', examples_table => 'many', result_limit => 9`,
      ),
    ).toEqual(await ids(db.database, `query_embedding => ${literal(query)}, result_limit => 9`))
    await expect(ids(db.database, `positive_ids => '{99999}'`)).rejects.toMatchObject({ code: 'PT404' })
    await expect(ids(db.database, `positive_ids => '{1}', examples_table => 'nope'`)).rejects.toMatchObject({
      code: '42P01',
    })
  })

  test('of many rows runs in parallel where the server plans it', async () => {
    const plan = await undone(async (session) => {
      for (const name of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size'])
        await session.query(`set local ${name} = 0`)
      await session.query('set local max_parallel_workers_per_gather = 2')
      const { rows } = await session.query(
        `explain (analyze, timing off) select t.id, geoembeddings.as_similarity(t.embedding <=> array_fill(1, array[${DIMS}])::vector, 'cosine') as s, geoembeddings.overlap_of(t.geom, t.geom)
         from geoembeddings.many t order by s`,
      )
      return JSON.stringify(rows)
    })
    expect(plan).toContain('Gather')
  })

  test('sooner where the rows of a label lie in more pages than half of the buffers hold', async () => {
    await db.database.transaction(async (session) => {
      const { rows: found } = await session.query<{ pages: number }>(
        `select (pg_size_bytes(current_setting('shared_buffers')) / current_setting('block_size')::int)::int as pages`,
      )
      const half = Math.ceil(found[0]!.pages / 2)
      const pages = Math.max(half + 1, 20_000)
      await session.query(`update pg_class set relpages = $1 where oid = 'geoembeddings.many'::regclass`, [pages])
      const { rows } = await session.query(
        `select geoembeddings.cost_of_pages(c, $1) as few, geoembeddings.cost_of_pages(c, 10 * $2) as many,
           geoembeddings.index_is_faster(e, $2, 10, true) as together,
           geoembeddings.index_is_faster(e, $2, 10, true, true) as scattered
         from geoembeddings.embeddings_catalogue c, jsonb_populate_record(c, $3) e`,
        [half - 1, pages, JSON.stringify({ rows: pages, dims: 1, index_kind: 'bit' })],
      )
      expect(rows).toEqual([{ few: 800 * (half - 1), many: 1800 * pages, together: false, scattered: true }])
    })
    await db.database.query('analyze geoembeddings.many')
  })
})
