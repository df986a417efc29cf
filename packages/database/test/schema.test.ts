import { readFile } from 'node:fs/promises'
import { beforeEach, afterEach, expect, test } from 'vitest'
import { migrate, refuseOtherVersion } from '@terrane/database'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { SCHEMA_LISTING } from './schema-listing.ts'

let db: TestDatabase
beforeEach(async () => {
  db = await openTestDatabase()
})
afterEach(() => db[Symbol.asyncDispose]())

async function listing(): Promise<string> {
  const { rows } = await db.database.query<{ line: string }>(SCHEMA_LISTING)
  return rows.map(({ line }) => `${line}\n`).join('')
}

async function recorded(): Promise<{ id: string; sha256: string }[]> {
  return (
    await db.database.query<{ id: string; sha256: string }>('select id, sha256 from terrane.migrations order by id')
  ).rows
}

/**
 * Replaces the records of the baseline by those of the former migrations, as in a database from before the baseline;
 * records of later migrations stay.
 */
async function recordFormer(): Promise<string[]> {
  const lines = (await readFile(new URL('../migrations/former.txt', import.meta.url), 'utf8')).trimEnd().split('\n')
  await db.database.query(
    `delete from terrane.migrations where id like '%/01%';
     insert into terrane.migrations (id, sha256) values ${lines.map((line) => `('${line.replace(' ', `', '`)}')`).join(', ')}`,
  )
  return lines.map((line) => line.split(' ')[0]!)
}

test('the migrations make this schema, on PostgreSQL and on the embedded database', async () => {
  await expect(await listing()).toMatchFileSnapshot('schema.txt')
})

test('a database of the last migration before the baseline is recognised and keeps its data', async () => {
  const baseline = await recorded()
  const former = await recordFormer()
  await db.database.query(
    `insert into terrane.organizations (id, name) values ('00000000-0000-7000-8000-000000000001', 'Acme');
     insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows) values ('tiles', 'm', 2, 0)`,
  )
  const before = await listing()
  expect(before).toMatch(/rows of terrane.organizations: 1 /)
  await refuseOtherVersion(former)
  expect(await migrate(db.database, ['control'])).toEqual([])
  expect(await migrate(db.database, ['control', 'project'])).toEqual([])
  expect(await listing()).toBe(before)
  expect(await recorded()).toEqual(expect.arrayContaining(baseline))
  expect(await recorded()).toHaveLength(former.length + baseline.length)
})

test('two processes may recognise a database at once', async () => {
  await recordFormer()
  const both = await Promise.all([migrate(db.database, ['project']), migrate(db.database, ['project'])])
  expect(both).toEqual([[], []])
})

test('a database of an earlier migration is refused as it is, by a backup too', async () => {
  const last = 'project/0097_readers_of_embedding_tables'
  const former = await recordFormer()
  await db.database.query(`delete from terrane.migrations where id = '${last}'`)
  const before = await recorded()
  const refusal = {
    code: 'SCHEMA_TOO_OLD',
    message: expect.stringMatching(new RegExp(`lacks ${last}$`)) as string,
    hint: expect.stringContaining('commit 9c1944f8') as string,
  }
  await expect(migrate(db.database, ['project'])).rejects.toMatchObject(refusal)
  await expect(refuseOtherVersion(former.filter((id) => id !== last))).rejects.toMatchObject(refusal)
  expect(await recorded()).toEqual(before)
  expect(await migrate(db.database, ['control'])).toEqual([])
})

test('a migration of before the baseline that was another is refused', async () => {
  await recordFormer()
  await db.database.query(`update terrane.migrations set sha256 = 'another' where id = 'control/0046_turns'`)
  await expect(migrate(db.database, ['control'])).rejects.toMatchObject({
    code: 'DATABASE_SCHEMA',
    message: expect.stringContaining('control/0046_turns was changed') as string,
  })
})
