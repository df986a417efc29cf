import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { literals, Parameters, whereClause } from './build-sql.ts'
import { parseQuery } from './parse-query.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

test('values written into a statement equal the same values as parameters, for all characters', async () => {
  const random = seededRandom(11)
  const letters = [`'`, '"', '\\', '{', '}', ',', ';', '--', '$1', 'ä', '🐎', ' ', '\n', 'NULL', 'x']
  const text = () =>
    Array.from({ length: Math.floor(random() * 6) }, () => letters[Math.floor(random() * letters.length)]!).join('')
  const wrong: string[] = []
  for (let round = 0; round < 150; round++) {
    const one = text()
    const many = Array.from({ length: Math.floor(random() * 4) }, text)
    const sql = `select ${literals.add(one)}::text = $1::text and ${literals.add(many)}::text[] = $2::text[] as same`
    const { rows } = await db.database.query<{ same: boolean }>(sql, [one, many])
    if (!rows[0]!.same) wrong.push(JSON.stringify([one, many]))
  }
  expect(wrong).toEqual([])
})

test('a filter gives the same rows both ways', async () => {
  await db.database.query(
    `create table filtered as select n, 'it''s "' || n || '"\\' as name, jsonb_build_object('a', n % 3) as doc from generate_series(1, 50) n`,
  )
  for (const filter of [
    'n=in.(3,4,50)',
    `name=eq.it's "7"\\`,
    'doc->a=eq.1&n=lt.20',
    'n=gt(any).{48,49}',
    'name=like.*1*',
    'or=(n.eq.1,not.and(n.gt.2,n.lt.49))',
  ]) {
    const { conditions } = parseQuery(new URLSearchParams(filter))
    const parameters = new Parameters()
    const from = 'select n from filtered as source'
    const wanted = await db.database.query(
      `${from}${whereClause(conditions, 'source', parameters)} order by n`,
      parameters.values,
    )
    const got = await db.database.query(`${from}${whereClause(conditions, 'source', literals)} order by n`)
    expect([filter, got.rows]).toEqual([filter, wanted.rows])
    expect(got.rows.length).toBeGreaterThan(0)
  }
})
