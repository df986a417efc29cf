import { expect, test } from 'vitest'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { DatabaseReader } from './read-database.ts'
import { refuseOtherVersion } from '../migrate.ts'
import { refuseUnlessEmpty } from './write-database.ts'

// Too slow for the embedded database, which test/long/move.long.test.ts moves.
test.runIf(testLane() === 'postgres')('a database is outlined, and one with something in it is no target', async () => {
  await using own = await openTestDatabase()
  await own.database
    .query(`create table public.places (id int generated always as identity primary key, t text, u text generated always as (t) stored);
    insert into public.places (t) values ('a'), ('b\tc'); create index places_t on public.places (t);
    create table terrane_staging.j_half (n int)`)
  await using reader = await DatabaseReader.open(own.url)
  const { before, after, tables, inventory, migrations } = reader.outline
  const places = tables.find(({ table }) => table === 'places')!
  expect(places).toMatchObject({ schema: 'public', columns: ['id', 't'], condition: '' })
  expect(tables.filter(({ schema }) => schema === 'terrane_staging')).toEqual([])
  const text = Buffer.concat(await Array.fromAsync(reader.rows(places))).toString()
  expect(text).toBe('1\ta\n2\tb\\tc\n')
  expect(before.join('\n')).toContain('CREATE TABLE public.places')
  expect(before.join('\n')).not.toMatch(/OWNER TO|j_half|FOR ROLE/)
  expect(after.join('\n')).toContain('CREATE INDEX places_t')
  expect(after.join('\n')).toContain(`setval('public.places_id_seq', 2)`)
  expect(inventory.filter((line) => line.includes('places'))).not.toEqual([])
  expect(migrations).toContain('project/0100_roles')
  await reader[Symbol.asyncDispose]()

  await expect(refuseUnlessEmpty(own.url)).rejects.toMatchObject({ code: 'DATABASE_NOT_EMPTY' })
  await expect(refuseOtherVersion(migrations)).resolves.toBeUndefined()
  await expect(refuseOtherVersion(['control/9999_of_the_future'])).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
})
