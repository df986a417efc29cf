import { sqlOf, type Question, type QuestionTable } from '@terrane/map-style/question'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
/** Points and squares between the equator and the far north, where a degree of longitude is short. */
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public."Odd shops" (id integer primary key, "the ""key""" text, nearest_name text, geom geometry(Point, 4326));
    insert into public."Odd shops" select i, 'k' || i % 5, 'x', st_setsrid(st_makepoint(10 + (i * 37 % 97) * 0.001, (i * 53 % 89) * 0.9), 4326) from generate_series(1, 80) i;
    create table public.stops (id integer primary key, name text, riders integer, geom geometry(Point, 4326));
    insert into public.stops select i, 'k' || i, i * 10, st_setsrid(st_makepoint(10 + (i * 29 % 97) * 0.001, (i * 31 % 89) * 0.9), 4326) from generate_series(1, 60) i;
    create table public.cells (id integer primary key, geom geometry(Polygon, 4326));
    insert into public.cells select i, st_makeenvelope(9.9, i * 8, 10.2, i * 8 + 8, 4326) from generate_series(0, 9) i;
    create index on public.stops using gist (geom);
    grant all on public."Odd shops", public.stops, public.cells to service_role`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const shops: QuestionTable = {
  table: 'public.Odd shops',
  columns: ['id', 'the "key"', 'nearest_name', 'geom'],
  geometry: 'geom',
}
const stops: QuestionTable = { table: 'public.stops', columns: ['id', 'name', 'riders', 'geom'], geometry: 'geom' }
const cells: QuestionTable = { table: 'public.cells', columns: ['id', 'geom'], geometry: 'geom' }

async function ask(question: Question, distance = '0'): Promise<Record<string, unknown>[]> {
  const sql = `select to_jsonb(x) - 'geom' as row from (${sqlOf(question)}) x order by x.id`
  const response = await fetch(`${origin.url}/sql/v1/rows`, {
    method: 'POST',
    headers: { apikey: origin.keys.service, 'content-type': 'application/json' },
    body: JSON.stringify({ sql, parameters: [{ name: 'distance', type: 'double precision', value: distance }] }),
  })
  const { rows, message } = (await response.json()) as { rows: { row: Record<string, unknown> }[]; message?: string }
  expect(message).toBeUndefined()
  return rows.map(({ row }) => row)
}

const brute = async <Row extends object>(sql: string) => (await origin.db.database.query<Row>(sql)).rows

test.each([0, 900, 40_000, 250_000])('rows within %d m are the rows of all pairs within it', async (meters) => {
  const expected = await brute<{ id: number }>(
    `select distinct a.id from "Odd shops" a, stops b where st_distance(a.geom::geography, b.geom::geography) <= ${meters} order by 1`,
  )
  const found = await ask({ verb: 'within', table: shops, other: stops }, String(meters))
  expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
})

test('the nearest row is the one that all pairs give, also where degrees mislead', async () => {
  const expected = await brute<{ id: number; meters: number }>(
    `select a.id, min(st_distance(a.geom::geography, b.geom::geography)) as meters from "Odd shops" a, stops b group by 1 order by 1`,
  )
  const found = await ask({ verb: 'nearest', table: shops, other: stops })
  expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  for (const [i, { meters }] of expected.entries()) expect(found[i]!['distance_m']).toBeCloseTo(meters, 3)
  expect(Object.keys(found[0]!)).toEqual(
    expect.arrayContaining(['nearest_name', 'nearest_name_2', 'nearest_id', 'nearest_riders']),
  )
})

test('areas count and sum the rows that touch them, and areas without rows stay', async () => {
  const expected = await brute(
    `select a.id, count(b.id)::integer as stops_count, sum(b.riders)::integer as riders_sum from cells a left join stops b on st_intersects(a.geom, b.geom) group by 1 order by 1`,
  )
  expect(await ask({ verb: 'place', table: cells, other: stops, sum: 'riders' })).toEqual(expected)
})

test('a join by key keeps rows without a match, and renames columns of one name', async () => {
  const found = await ask({ verb: 'key', table: shops, other: stops, keys: ['the "key"', 'name'] })
  expect(found).toHaveLength(80)
  expect(found[0]).toEqual({ id: 1, 'the "key"': 'k1', nearest_name: 'x', id_2: 1, riders: 10 })
  expect(found[4]).toMatchObject({ id: 5, 'the "key"': 'k0', id_2: null, riders: null })
})
