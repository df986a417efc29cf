import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '@terrane/database'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'

const SOMEBODY = '33333333-3333-4333-8333-333333333333'
let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  await migrate(db.database, ['project'])
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Rights of a role on a table that has an owner and is not public. */
async function rightsOf(role: string): Promise<{ read: boolean; write: boolean }> {
  return db.database.transaction(async (session) => {
    await session.query('grant usage on schema geoembeddings to public')
    await session.query(
      'grant execute on function geoembeddings.can_read(uuid, boolean), geoembeddings.can_write(uuid), geoembeddings.caller_id(), geoembeddings.is_trusted() to public',
    )
    await session.query(`select set_config('role', $1, true)`, [role])
    const { rows } = await session.query<{ read: boolean; write: boolean }>(
      'select geoembeddings.can_read($1, false) as read, geoembeddings.can_write($1) as write',
      [SOMEBODY],
    )
    await session.query(`select set_config('role', 'none', true)`)
    return rows[0]!
  })
}

test.each([
  ['none', true],
  ['service_role', true],
  ['anon', false],
  ['authenticated', false],
  ['pg_monitor', false],
])('role %s is trusted with what is somebody’s: %s', async (role, trusted) => {
  expect(await rightsOf(role)).toEqual({ read: trusted, write: trusted })
})

test('functions look for names first in schemas that no other role writes', async () => {
  const { rows } = await db.database.query<{ name: string; setting: string }>(
    `select p.oid::regprocedure::text as name, setting from pg_proc p join pg_namespace n on n.oid = p.pronamespace,
       unnest(p.proconfig) setting
     where n.nspname = 'geoembeddings' and setting like 'search_path=%'`,
  )
  expect(rows.length).toBeGreaterThan(5)
  expect(rows.filter(({ setting }) => !setting.startsWith('search_path=pg_catalog'))).toEqual([])
})
