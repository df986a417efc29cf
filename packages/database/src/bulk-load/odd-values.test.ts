import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { bulkLoad } from './bulk-load.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

test('dates, times and numbers of any size arrive as they are written', async () => {
  const dates = ['-0044-03-15', '0000-01-01', '1999-12-31', '2000-02-29', '9999-12-31']
  const stamps = ['-0044-03-15T12:00:00Z', '2020-02-29T23:59:59.123456+05:30', '1900-01-01 00:00', '2021-07-01']
  const times = ['00:00', '23:59:59.5', '12:30:01']
  const numbers = ['0', '-1', '18446744073709551615', '0.0001', '-12345.678', '1e30', '1.50', '100000000']
  await db.database.query('create table odd (d date, s timestamptz, t time, n numeric)')
  const columns = [
    { name: 'd', type: 'date' },
    { name: 's', type: 'timestamptz' },
    { name: 't', type: 'time' },
    { name: 'n', type: 'numeric' },
  ] as const
  const rows = numbers.map((number, i) => [dates[i] ?? null, stamps[i] ?? null, times[i] ?? null, number])
  await bulkLoad(db.database, { schema: 'public', table: 'odd', columns }, [rows])
  const { rows: found } = await db.database.query(
    `select d::text, to_char(s at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US BC') as s, t::text, n::text from odd`,
  )
  expect(found.map(({ d }) => d)).toEqual([
    '0045-03-15 BC',
    '0001-01-01 BC',
    '1999-12-31',
    '2000-02-29',
    '9999-12-31',
    null,
    null,
    null,
  ])
  expect(found.slice(0, 4).map(({ s }) => s)).toEqual([
    '0045-03-15 12:00:00.000000 BC',
    '2020-02-29 18:29:59.123456 AD',
    '1900-01-01 00:00:00.000000 AD',
    '2021-07-01 00:00:00.000000 AD',
  ])
  expect(found.slice(0, 3).map(({ t }) => t)).toEqual(['00:00:00', '23:59:59.5', '12:30:01'])
  expect(found.map(({ n }) => n)).toEqual([...numbers.slice(0, 5), `1${'0'.repeat(30)}`, '1.50', '100000000'])
})
