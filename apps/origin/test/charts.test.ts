import { CHART_PARTS, chartKind, chartSql, type ChartRows } from '@terrane/map-style/chart'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public."Odd parcels" (id integer primary key, "the ""size""" double precision, kind text, built timestamptz, day date, geom geometry(Point, 4326));
    insert into public."Odd parcels" select i, case when i % 11 = 0 then null when i % 50 = 0 then 'infinity' else sqrt(i) end, case when i % 7 = 0 then null else 'kind ' || i % 17 end,
      timestamptz '2021-02-03 22:00Z' + i * interval '9 days', date '2024-01-01' + i % 5, st_setsrid(st_makepoint(6 + i * 0.01, 49), 4326) from generate_series(1, 120) i;
    grant all on public."Odd parcels" to service_role`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ALL: ChartRows = { table: 'public.Odd parcels', filters: [], view: null }
interface Part {
  readonly part: number
  readonly starts: string
  readonly ends: string | null
  readonly rows: number
  readonly total: number
}

async function count(of: ChartRows, column: string, type: string): Promise<readonly Part[]> {
  const response = await fetch(`${origin.url}/sql/v1/rows`, {
    method: 'POST',
    headers: { apikey: origin.keys.service, 'content-type': 'application/json' },
    body: JSON.stringify({ sql: chartSql(of, column, type), parameters: [] }),
  })
  const { rows, message } = (await response.json()) as { rows: readonly Part[]; message?: string }
  expect(message).toBeUndefined()
  return rows
}
const brute = async (sql: string) => Number((await origin.db.database.query<{ n: string }>(sql)).rows[0]!.n)
const sum = (parts: readonly Part[]) => parts.reduce((total, { rows }) => total + rows, 0)

test('ranges of numbers hold the rows that lie in them, each once, without infinite ones', async () => {
  const parts = await count(ALL, 'the "size"', 'double precision')
  const finite = `"the ""size""" < 'infinity'`
  expect(sum(parts)).toBe(await brute(`select count(*) as n from "Odd parcels" where ${finite}`))
  for (const { part, starts, ends, rows } of parts) {
    const upTo = part === CHART_PARTS.number - 1 ? '<=' : '<'
    const within = `"the ""size""" >= ${starts} - 1e-9 and "the ""size""" ${upTo} ${ends} ${upTo === '<' ? '-' : '+'} 1e-9`
    expect([part, rows]).toEqual([part, await brute(`select count(*) as n from "Odd parcels" where ${within}`)])
  }
})

test('periods follow each other without a gap, and hold the rows of their time in UTC', async () => {
  const months = await count(ALL, 'built', 'timestamp with time zone')
  expect([months[0]!.starts, sum(months)]).toEqual(['2021-02', 120])
  const end = Date.UTC(2021, 1, 3, 22) + 120 * 9 * 86_400_000
  const last = new Date(end)
  expect(months.length).toBe((last.getUTCFullYear() - 2021) * 12 + last.getUTCMonth() - 1 + 1)
  const days = await count(ALL, 'day', 'date')
  expect(days.map(({ rows, starts }) => [rows, starts])).toEqual(
    Array.from({ length: 97 }, (_, i) => [
      i % 24 === 0 ? 24 : 0,
      new Date(Date.UTC(2024, 0, 1, i)).toISOString().slice(0, 16).replace('T', ' '),
    ]),
  )
})

test('values are listed by frequency, with the number of all rows that have one', async () => {
  const parts = await count(ALL, 'kind', 'text')
  expect(parts).toHaveLength(CHART_PARTS.category)
  expect(parts[0]!.total).toBe(await brute(`select count(kind) as n from "Odd parcels"`))
  for (const { starts, rows } of parts) {
    expect([starts, rows]).toEqual([
      starts,
      await brute(`select count(*) as n from "Odd parcels" where kind = '${starts}'`),
    ])
  }
})

test('filters of the layer and the view narrow the rows', async () => {
  const view = { geometry: 'geom', box: [6.2, 48, 6.6, 50] } as const
  const filters = [
    { property: 'kind', is: 'contains', value: 'KIND 1' },
    { property: 'the "size"', is: 'more', value: 3 },
    { property: 'kind', is: 'not', value: "o'clock" },
  ] as const
  const where = `kind like '%kind 1%' and "the ""size""" > 3 and id between 20 and 60`
  const parts = await count({ ...ALL, filters, view }, 'kind', 'text')
  expect(sum(parts)).toBe(await brute(`select count(*) as n from "Odd parcels" where ${where}`))
  const none = await count(
    { ...ALL, filters: [{ property: 'kind', is: 'equal', value: ':kind' }] },
    'built',
    'timestamp with time zone',
  )
  expect(sum(none)).toBe(0)
})

test('columns of extreme values have charts', async () => {
  await origin.db.database.query(`
    create table public.extremes (id bigint, most double precision, one numeric, none integer, era date, stamp timestamp, geom geometry(Point, 4326));
    insert into public.extremes values
      (9223372036854775807, 1.7976931348623157e308, 7, null, '0044-03-15 BC', '9999-12-31', st_setsrid(st_makepoint(179.5, 0), 4326)),
      (-9223372036854775808, -1.7976931348623157e308, 7, null, '2024-05-01', '2020-01-01', st_setsrid(st_makepoint(-179.5, 0), 4326)),
      (0, 'nan', 'nan', null, 'infinity', '-infinity', st_setsrid(st_makepoint(0, 0), 4326));
    grant all on public.extremes to service_role`)
  const all = { ...ALL, table: 'public.extremes' }
  const ends = async (column: string, type: string) => {
    const parts = await count(all, column, type)
    return [parts[0]!, parts.at(-1)!].map(({ part, starts, rows, total }) => [part, starts, rows, total])
  }
  expect((await ends('id', 'bigint')).map(([part, , rows, total]) => [part, rows, total])).toEqual([
    [0, 1, 3],
    [19, 1, 3],
  ])
  expect((await ends('most', 'double precision')).map(([part, , rows]) => [part, rows])).toEqual([
    [0, 1],
    [19, 1],
  ])
  expect(await ends('one', 'numeric')).toEqual([
    [0, '7', 2, 2],
    [0, '7', 2, 2],
  ])
  expect(await count(all, 'none', 'integer')).toEqual([])
  expect(await ends('era', 'date')).toEqual([
    [0, '0100 BC', 1, 2],
    [21, '2001', 1, 2],
  ])
  expect((await ends('stamp', 'timestamp without time zone')).map(([, starts, rows]) => [starts, rows])).toEqual([
    ['2001', 1],
    ['9901', 1],
  ])
  for (const box of [
    [179, -1, 181, 1],
    [-181, -1, -179, 1],
    [539, -1, 541, 1],
  ] as const)
    expect(sum(await count({ ...all, view: { geometry: 'geom', box } }, 'id', 'bigint'))).toBe(2)
})

test('geometries, documents and lists have no chart', () => {
  const types = ['geometry(Point,4326)', 'jsonb', 'integer[]', 'text[]', 'bytea', 'interval']
  expect(types.map(chartKind)).toEqual(types.map(() => null))
  expect(['numeric(10,2)', 'character varying(20)', 'timestamp(3) without time zone'].map(chartKind)).toEqual([
    'number',
    'category',
    'time',
  ])
})
