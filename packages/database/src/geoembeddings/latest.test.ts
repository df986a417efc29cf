import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streamEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { EmbeddingRow } from './embedding-table.ts'
import { writeSources } from './sources.ts'

const DIMS = 8
const DAYS = [null, '2024-01-15', '2024-03-15', '2024-03-15', '2024-06-15', '2024-09-15']
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

async function makeTable(name: string, rows: number): Promise<void> {
  const made = Array.from({ length: rows }, (_, i): EmbeddingRow => {
    // The last source has rows and is not listed.
    const id = Math.floor(random() * (DAYS.length + 1)) * 2 ** 32 + i
    const embedding = Float32Array.from({ length: DIMS }, () => random() - 0.5)
    return { id, polygons: footprint(), embedding, attributes: [i, 0, 0, 0, 1], label: pick(['a', 'b', null]) }
  })
  async function* batches(): AsyncGenerator<EmbeddingRow[]> {
    yield made
  }
  await streamEmbeddingTable(db.database, { name, rows, dims: DIMS, batches })
  const about = { profile: null, crs: null, dataType: null, bbox: null, version: null, error: null }
  const counts = { status: 'done', skipped: 0, zeroVectors: 0 } as const
  const sources = DAYS.map((datetime, source) => {
    const count = made.filter(({ id }) => Math.floor(id / 2 ** 32) === source).length
    return { ...about, ...counts, source, name: `${source}`, datetime, rows: count }
  })
  await writeSources(db.database, name, '0199b1f0-0000-7000-8000-00000000ffff', sources)
}

/** The same rows with a time of their own. */
async function giveTimes(name: string): Promise<void> {
  const days = DAYS.map((day) => (day === null ? 'null' : `'${day}'`)).join()
  await db.database.query(`alter table geoembeddings.${name} add datetime timestamptz;
    update geoembeddings.${name} set datetime = (array[${days}]::timestamptz[])[1 + (id >> 32) % ${DAYS.length}]`)
}

/** Newest rows of a part by one look at each pair, as it is documented. */
async function expected(name: string, part: string, area: string, isTimed: boolean): Promise<number[]> {
  const age = isTimed
    ? `t.datetime as day, t.id as rank, true as listed`
    : `s.datetime as day, s.source as rank, s.source is not null as listed`
  const { rows } = await db.database.query<{ id: number }>(
    `with part as (
       select t.id, t.geom, t.source, ${age} from (select *, (id >> 32)::int as source from geoembeddings.${name}) t
       left join geoembeddings.embedding_sources s on s.table_name = '${name}' and s.source = t.source
     ), chosen as (select * from part where ${part})
     select t.id from chosen t where ${area} and not exists (
       select from chosen o where o.listed and t.listed
         and (coalesce(o.day, '-infinity'), o.rank) > (coalesce(t.day, '-infinity'), t.rank)
         and o.geom && case when st_numgeometries(t.geom) > 1 then t.geom else st_centroid(t.geom) end
         and (o.geom ~= t.geom or (${isTimed ? 'o.day is distinct from t.day or t.day is null' : 'true'})
           and (select shared / nullif(st_area(o.geom) + st_area(t.geom) - shared, 0) >= 0.5
             from (select st_area(st_intersection(o.geom, t.geom)) as shared) s)))
     order by t.id`,
  )
  return rows.map(({ id }) => id)
}

const PARTS = [
  { args: '', condition: 'true' },
  { args: `, until => '2024-06-15'`, condition: `day <= '2024-06-15'` },
  { args: `, since => '2024-03-01', until => '2024-06-15'`, condition: `day between '2024-03-01' and '2024-06-15'` },
  { args: ', sources => array[4, 1, 3, 0]', condition: 'source in (4, 1, 3, 0)' },
]
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
]

describe.each([false, true])('newest rows, rows with times of their own: %s', (isTimed) => {
  const name = isTimed ? 'timed' : 'listed'
  const cases = PARTS.flatMap((part) =>
    AREAS.map((area) => ({ title: `${part.args}${area.args}` || 'of all', part, area })),
  )
  beforeAll(async () => {
    await makeTable(name, 260)
    if (isTimed) await giveTimes(name)
  })

  const idsOf = async (call: string): Promise<number[]> => {
    const { rows } = await db.database.query<{ id: number }>(`select id from geoembeddings.${call} order by id`)
    return rows.map(({ id }) => id)
  }

  test.each(cases)('equal a look at each pair: $title', async ({ part, area }) => {
    const wanted = await expected(name, part.condition, area.condition, isTimed)
    expect(wanted.length).toBeGreaterThan(3)
    const search = (more: string) =>
      `similarity_search(table_name => '${name}', latest => true, query_embedding => '[1,0,0,0,0,0,0,0]', similarity_threshold => -1
        ${part.args} ${area.args} ${more})`
    expect(await idsOf(search(''))).toEqual(wanted)
    const { rows: pages } = await db.database.query<{ id: number }>(`select id from geoembeddings.${search('')}`)
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
    const [part, area] = [PARTS[1]!, AREAS[1]!]
    const wanted = await expected(name, part.condition, area.condition, isTimed)
    const args = `table_name => '${name}', latest => true, result_limit => null ${part.args} ${area.args}`
    expect(await idsOf(`embedding_colors(${args})`)).toEqual(wanted)
    expect(await idsOf(`embedding_outliers(${args})`)).toEqual(wanted)
  })
})

test('windows of one time that overlap by more than half are places of their own', async () => {
  const rows = Array.from({ length: 40 }, (_, i): EmbeddingRow => {
    const [west, east] = [5 + i * 0.002, 5.01 + i * 0.002]
    const ring = Float64Array.of(west, 50, east, 50, east, 50.01, west, 50.01)
    return { id: i, polygons: [ring], embedding: new Float32Array(DIMS).fill(1), attributes: [i, 0, 0, 0, 1] }
  })
  async function* batches(): AsyncGenerator<EmbeddingRow[]> {
    yield rows
  }
  await streamEmbeddingTable(db.database, { name: 'windows', rows: rows.length, dims: DIMS, batches })
  await db.database.query(`alter table geoembeddings.windows add datetime timestamptz default '2024-05-01'`)
  for (const limit of ['null', '39']) {
    const { rows: found } = await db.database.query(
      `select id from geoembeddings.similarity_search(table_name => 'windows', latest => true, patch_id => 3, result_limit => ${limit})`,
    )
    expect(found).toHaveLength(limit === 'null' ? 40 : 39)
  }
})

describe('a search refuses what could find nothing', () => {
  beforeAll(() => makeTable('refused', 40))
  const vector = `query_embedding => '[1,0,0,0,0,0,0,0]'`
  test.each([
    [
      'times in the wrong order',
      `${vector}, since => '2024-06-01', until => '2024-01-01'`,
      'since is later than until',
    ],
    ['an unknown source', `${vector}, sources => array[1, 99]`, 'has no source 99'],
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
