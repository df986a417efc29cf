import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streamEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { EmbeddingRow } from './embedding-table.ts'
import { writeSources } from './sources.ts'

const DIMS = 8
const DAYS = [null, '2024-01-15', '2024-03-15', '2024-03-15', '2024-06-15', '2024-09-15']
const PLAIN = { embedding: new Float32Array(DIMS).fill(1), attributes: [0, 0, 0, 0, 1] } as const
const random = seededRandom(71)
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
let db: TestDatabase

beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** A footprint on one of some grids: shifted, of another size, turned, or across the antimeridian. */
function footprint(): Float64Array[] {
  const size = pick([0.01, 0.01, 0.01, 0.012, 0.02])
  const shift = pick([0, 0, 0, 0.1, 0.3, 1 / 3, 0.5]) * size
  const [west, south] = [179.92 + Math.floor(random() * 8) * 0.01 + shift, 10 + Math.floor(random() * 6) * 0.01 + shift]
  const turn = pick([0, 0, 0.4])
  const cut = (from: number, to: number, less: number) => {
    const ring = [from, south, to, south, to, south + size, from, south + size]
    return Float64Array.from(ring, (v, i) => v - (i % 2 === 0 ? less : 0))
  }
  if (west >= 180) return [cut(west, west + size, 360)]
  if (west + size > 180) return [cut(west, 180, 0), cut(180, west + size, 360)]
  if (turn === 0) return [cut(west, west + size, 0)]
  const [x, y] = [west + size / 2, south + size / 2]
  const corners = [0, 1, 2, 3].flatMap((k) => {
    const angle = turn + (k * Math.PI) / 2
    return [x + size * 0.6 * Math.cos(angle), y + size * 0.6 * Math.sin(angle)]
  })
  return [Float64Array.from(corners)]
}

async function store(name: string, rows: readonly EmbeddingRow[]): Promise<void> {
  async function* batches(): AsyncGenerator<readonly EmbeddingRow[]> {
    yield rows
  }
  await streamEmbeddingTable(db.database, { name, rows: rows.length, dims: DIMS, batches })
}

async function makeTable(name: string, rows: number): Promise<void> {
  const made = Array.from({ length: rows }, (_, i): EmbeddingRow => {
    // The last source has rows and is not listed.
    const id = Math.floor(random() * (DAYS.length + 1)) * 2 ** 32 + i
    const embedding = Float32Array.from({ length: DIMS }, () => random() - 0.5)
    return { id, polygons: footprint(), embedding, attributes: [i, 0, 0, 0, 1], label: pick(['a', 'b', null]) }
  })
  await store(name, made)
  const about = { profile: null, crs: null, dataType: null, bbox: null, version: null, error: null }
  const counts = { status: 'done', skipped: 0, zeroVectors: 0 } as const
  const sources = DAYS.map((datetime, source) => {
    const count = made.filter(({ id }) => Math.floor(id / 2 ** 32) === source).length
    return { ...about, ...counts, source, name: `${source}`, datetime, rows: count }
  })
  await writeSources(db.database, name, '0199b1f0-0000-7000-8000-00000000ffff', sources)
}

/** Adds a time to each row of a table. */
async function giveTimes(name: string): Promise<void> {
  const days = DAYS.map((day) => (day === null ? 'null' : `'${day}'`)).join()
  await db.database.query(`alter table geoembeddings.${name} add datetime timestamptz;
    update geoembeddings.${name} set datetime = (array[${days}]::timestamptz[])[1 + id % ${DAYS.length}]`)
}

/**
 * Makes table `hides` by the documented definition: all pairs of a row and another row whose place it takes, by a
 * comparison of every pair.
 */
async function pairUp(name: string, isTimed: boolean): Promise<void> {
  const day = isTimed ? 't.datetime' : 's.datetime'
  await db.database.query(
    `create table ${name}_rows as
       select t.id, t.geom, (t.id >> 32)::int as source, coalesce(${day}, '-infinity') as age, ${day} as day,
         ${isTimed ? 'true' : 's.source is not null'} as listed
       from geoembeddings.${name} t
       left join geoembeddings.embedding_sources s on s.table_name = '${name}' and s.source = t.id >> 32;
     create table ${name}_hides as
       select o.id as newer, t.id as older from ${name}_rows o join ${name}_rows t on o.listed and t.listed
         and o.geom && case when st_numgeometries(t.geom) > 1 then t.geom else st_centroid(t.geom) end
       where (o.geom ~= t.geom and (o.age, ${isTimed ? 'o.id' : 'o.source'}) > (t.age, ${isTimed ? 't.id' : 't.source'}))
         or ((o.age, o.source) > (t.age, t.source)
           and (select shared / nullif(st_area(o.geom) + st_area(t.geom) - shared, 0) >= 0.5
             from (select st_area(st_intersection(o.geom, t.geom)) as shared) s))`,
  )
}

async function expected(name: string, part: string, area: string): Promise<number[]> {
  const { rows } = await db.database.query<{ id: number }>(
    `with chosen as (select * from ${name}_rows where ${part})
     select t.id from chosen t where ${area}
       and not exists (select from ${name}_hides h join chosen o on o.id = h.newer where h.older = t.id)
     order by t.id`,
  )
  return rows.map(({ id }) => id)
}

const PARTS = [
  { args: '', condition: 'true' },
  { args: `, until => '2024-06-15'`, condition: `day <= '2024-06-15'` },
  { args: `, since => '2024-03-01', until => '2024-06-15'`, condition: `day between '2024-03-01' and '2024-06-15'` },
  { args: ', sources => array[4, 1, 3, 0]', condition: 'source in (4, 1, 3, 0)' },
] as const
const AREAS = [
  { args: '', condition: 'true' },
  {
    args: `, spatial_filter => st_makeenvelope(179.96, 10, 179.975, 10.02, 4326)`,
    condition: 'st_intersects(geom, st_makeenvelope(179.96, 10, 179.975, 10.02, 4326))',
  },
  {
    args: `, spatial_filter => st_makeenvelope(179.91, 9.9, 180, 10.2, 4326)`,
    condition: 'st_intersects(geom, st_makeenvelope(179.91, 9.9, 180, 10.2, 4326))',
  },
] as const

describe.each([false, true])('newest rows, rows with times of their own: %s', (isTimed) => {
  const name = isTimed ? 'timed' : 'listed'
  // Cases for the whole table in every area, and for every part. Areas of more than 200 rows are compared in one pass.
  const chosen = [[0, 0], [0, 1], [0, 2], [1, 0], [2, 2], [3, 1]] as const // prettier-ignore
  const cases = chosen.map(([p, a]) => ({
    title: `${PARTS[p].args}${AREAS[a].args}` || 'of all',
    part: PARTS[p],
    area: AREAS[a],
  }))
  beforeAll(async () => {
    await makeTable(name, 260)
    if (isTimed) await giveTimes(name)
    await pairUp(name, isTimed)
  })

  const idsOf = async (call: string): Promise<number[]> => {
    const { rows } = await db.database.query<{ id: number }>(`select id from geoembeddings.${call} order by id`)
    return rows.map(({ id }) => id)
  }

  test.each(cases)('equal a look at each pair: $title', async ({ part, area }) => {
    const wanted = await expected(name, part.condition, area.condition)
    expect(wanted.length).toBeGreaterThan(3)
    const search = (more: string) =>
      `similarity_search(table_name => '${name}', latest => true, query_embedding => '[1,0,0,0,0,0,0,0]', similarity_threshold => -1
        ${part.args} ${area.args} ${more})`
    const { rows: pages } = await db.database.query<{ id: number }>(`select id from geoembeddings.${search('')}`)
    expect(pages.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(wanted)
    const { rows: page } = await db.database.query<{ id: number }>(
      `select id from geoembeddings.${search(', result_limit => 2, result_offset => 1')}`,
    )
    expect(page).toEqual(pages.slice(1, 3))
    const { rows: counted } = await db.database.query<{ row_count: number }>(
      `select row_count from geoembeddings.similarity_summary(table_name => '${name}', latest => true, query_embedding => '[1,0,0,0,0,0,0,0]'
        ${part.args} ${area.args.replace('spatial_filter', 'area')})`,
    )
    expect(counted).toEqual([{ row_count: wanted.length }])
  })

  test('are coloured and compared', async () => {
    const [part, area] = [PARTS[1], AREAS[1]]
    const wanted = await expected(name, part.condition, area.condition)
    const args = `table_name => '${name}', latest => true, result_limit => null ${part.args} ${area.args}`
    expect(await idsOf(`embedding_colors(${args})`)).toEqual(wanted)
    expect(await idsOf(`embedding_outliers(${args})`)).toEqual(wanted)
  })
})

type Counts = Readonly<Record<'Actual Rows' | 'Actual Loops' | 'Rows Removed by Join Filter', number>>
interface PlanNode extends Partial<Counts> {
  readonly 'Node Type': string
  readonly Plans?: readonly PlanNode[]
}

/** Pairs of rows that the joins of a plan looked at. */
function pairsIn(node: PlanNode): number {
  const { 'Actual Rows': kept = 0, 'Rows Removed by Join Filter': removed = 0, 'Actual Loops': loops = 0 } = node
  const own = /Join|Nested Loop/.test(node['Node Type']) ? (kept + removed) * loops : 0
  return (node.Plans ?? []).reduce((total, plan) => total + pairsIn(plan), own)
}

describe('few pairs are compared', () => {
  const ROWS = 400
  /** How many of some footprints, each of a day of its own, are the newest, and how many pairs were compared. */
  async function compare(name: string, polygonsOf: (i: number) => Float64Array[]) {
    await store(
      name,
      Array.from({ length: ROWS }, (_, id) => ({ ...PLAIN, id, polygons: polygonsOf(id) })),
    )
    await db.database.query(`alter table geoembeddings.${name} add datetime timestamptz;
      update geoembeddings.${name} set datetime = '2024-01-01'::date + (id * 7 % ${ROWS})::int;
      analyze geoembeddings.${name}`)
    const { rows: made } = await db.database.query<{ sql: string }>(
      `select geoembeddings.newest_rows(c, geoembeddings.part_in_time(c, null, null, null, true)) as sql
       from geoembeddings.embeddings_catalogue c where c.table_name = '${name}'`,
    )
    const { rows: plans } = await db.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) ${made[0]!.sql}`,
    )
    const { Plan: plan } = plans[0]!['QUERY PLAN'][0]
    return { found: plan['Actual Rows'], pairs: pairsIn(plan) }
  }

  test('of near-equal footprints of one place', async () => {
    const { found, pairs } = await compare('near', () => {
      const [x, y] = [7.003 + random() * 0.0003, 50.003 + random() * 0.0003]
      return [Float64Array.of(x, y - 0.007, x + 0.007, y, x, y + 0.007, x - 0.007, y)]
    })
    expect(found).toBe(1)
    expect(pairs).toBeLessThan(30 * ROWS)
  })

  test('of footprints at the antimeridian and others of their latitude', async () => {
    const { found, pairs } = await compare('cut', (i) => {
      const south = Math.floor(i / 2) * 0.01
      const square = (west: number, east: number) =>
        Float64Array.of(west, south, east, south, east, south + 0.01, west, south + 0.01)
      return i % 2 === 0 ? [square(20, 20.01)] : [square(179.995, 180), square(-180, -179.995)]
    })
    expect(found).toBe(ROWS)
    expect(pairs).toBeLessThan(30 * ROWS)
  })
})

/** Windows of one source that each move by a fifth of their width, with a time of their own. */
async function makeWindows(name: string, day: string): Promise<void> {
  const rows = Array.from({ length: 40 }, (_, id): EmbeddingRow => {
    const [west, east] = [5 + id * 0.002, 5.01 + id * 0.002]
    return { ...PLAIN, id, polygons: [Float64Array.of(west, 50, east, 50, east, 50.01, west, 50.01)] }
  })
  await store(name, rows)
  await db.database.query(`alter table geoembeddings.${name} add datetime timestamptz default ${day}`)
}

test.each(['2024-05-01', null])('windows of a source of one time are places of their own: %s', async (day) => {
  const name = day === null ? 'undated' : 'dated'
  await makeWindows(name, day === null ? 'null' : `'${day}'`)
  for (const limit of ['null', '39']) {
    const { rows: found } = await db.database.query(
      `select id from geoembeddings.similarity_search(table_name => '${name}', latest => true, patch_id => 3, result_limit => ${limit})`,
    )
    expect(found).toHaveLength(limit === 'null' ? 40 : 39)
  }
})

test('an empty table, and one of a single row, have their newest rows in an area', async () => {
  await streamEmbeddingTable(db.database, { name: 'lone', rows: 0, dims: DIMS, batches: async function* () {} })
  const found = () =>
    db.database.query(`select id from geoembeddings.similarity_search(table_name => 'lone', latest => true,
      query_embedding => '[1,0,0,0,0,0,0,0]', spatial_filter => st_makeenvelope(0, 0, 9, 9, 4326))`)
  expect((await found()).rows).toEqual([])
  await db.database.query(`insert into geoembeddings.lone (id, geom, embedding, tile_x, tile_y, px, py, valid_fraction)
    values (1, st_makeenvelope(1, 1, 2, 2, 4326), '[1,0,0,0,0,0,0,0]', 0, 0, 0, 0, 1)`)
  expect((await found()).rows).toEqual([{ id: 1 }])
})

describe('a search refuses what could find nothing', () => {
  beforeAll(() => makeWindows('refused', 'null'))
  const vector = `query_embedding => '[1,0,0,0,0,0,0,0]'`
  test.each([
    [
      'times in the wrong order',
      `${vector}, since => '2024-06-01', until => '2024-01-01'`,
      'since is later than until',
    ],
    ['an unknown source', `${vector}, sources => array[99]`, 'has no source 99'],
    ['no source', `${vector}, sources => '{}'`, 'sources must be numbers'],
    ['a source without a number', `${vector}, sources => array[1, null]`, 'sources must be numbers'],
    ['a place with latitude first', 'lon => 50.005, lat => 5.005', 'latitude and longitude are swapped'],
    ['an area with latitude first', `query_geometry => 'POINT(50.005 5.005)'`, 'latitude and longitude are swapped'],
    [
      'an example that is also a counterexample',
      `positive => '{"refused": [1, 2]}', negative => '{"refused": ["2"]}'`,
      'both name row 2 ',
    ],
    ['a similarity in percent', `${vector}, similarity_threshold => 95`, 'from -1 to 1'],
    [
      'an area in meters',
      `${vector}, spatial_filter => 'POLYGON((5e5 5e6,6e5 5e6,6e5 6e6,5e5 5e6))'`,
      'are no degrees',
    ],
    ['a place in meters', 'lon => 500000, lat => 5500000', 'are no degrees'],
    ['an empty area', `${vector}, spatial_filter => 'POLYGON EMPTY'`, 'is empty'],
  ])('%s', async (_, args, message) => {
    const search = `select * from geoembeddings.similarity_search(table_name => 'refused', latest => true, ${args})`
    await expect(db.database.query(search)).rejects.toMatchObject({
      code: '22023',
      message: expect.stringContaining(message) as string,
    })
  })

  test('times of a table without any', async () => {
    await makeTable('timeless', 40)
    await db.database.query(`update geoembeddings.embedding_sources set datetime = null where table_name = 'timeless'`)
    const search = `select * from geoembeddings.similarity_search(table_name => 'timeless', latest => true, query_embedding => '[1,0,0,0,0,0,0,0]', since => '2024-01-01')`
    await expect(db.database.query(search)).rejects.toMatchObject({
      message: expect.stringContaining('no source of embedding table "timeless" has a time') as string,
    })
  })
})
