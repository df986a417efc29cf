import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { uuidv7 } from '@terrane/core'
import { openTestDatabase } from '@terrane/database/testing'
import { expect, test } from 'vitest'
import { publishPlaces } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  await using db = await openTestDatabase()
  const places = [['Munich', 1_512_491], ['Milan', 1_371_498]] as const // prettier-ignore
  await publishPlaces(db.url, uuidv7(), places)
  const { rows } = await db.database.query('select * from public.places order by people')
  expect(rows).toEqual([{ name: 'Milan', people: 1_371_498 }, { name: 'Munich', people: 1_512_491 }]) // prettier-ignore
  await expect(publishPlaces(db.url, uuidv7(), places)).rejects.toMatchObject({ code: 'TABLE_EXISTS' })
})
