import { seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'
import { randomQuery } from './random-queries.ts'
import { randomTables, TABLES_SQL } from './random-tables.ts'

const tables = randomTables(seededRandom(39))
let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin({ TERRANE_REST_SCHEMAS: 'public,cases' })
  await origin.db.database.query(TABLES_SQL)
  for (const [name, rows] of Object.entries(tables)) {
    const text = `insert into cases.${name} select * from json_populate_recordset(null::cases.${name}, $1::json)`
    await origin.db.database.query(text, [JSON.stringify(rows)])
  }
})
afterAll(() => origin[Symbol.asyncDispose]())

/** A value with sorted members of objects, and with sorted groups, whose order is undefined. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(canonical)
    const isGrouped = list.some((item) => Object.keys(item ?? {}).some((key) => key.startsWith('group_')))
    return isGrouped ? list.map((item) => JSON.stringify(item)).toSorted() : list
  }
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([key, member]) => [key, canonical(member)]))
}

test('a random query over related tables gives what brute force over their rows gives', async () => {
  await randomCases(
    300,
    async (random) => {
      const query = randomQuery(random)
      const wanted = query.evaluate(tables)
      const response = await fetch(`${origin.url}/rest/v1/${query.table}?${query.parameters.toString()}`, {
        headers: { apikey: origin.keys.anon, 'accept-profile': 'cases', prefer: 'count=exact' },
      })
      const about = decodeURIComponent(query.parameters.toString())
      const rows = (await response.json()) as unknown[]
      if (response.status === 416) return
      expect([about, response.ok, rows]).toEqual([about, true, expect.any(Array)])
      expect([about, canonical(rows)]).toEqual([about, canonical(wanted.rows)])
      expect([about, response.headers.get('content-range')?.split('/')[1]]).toEqual([about, String(wanted.total)])
    },
    { least: 60 },
  )
})
