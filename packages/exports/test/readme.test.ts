import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Warnings } from '@terrane/core/errors'
import { openTestDatabase } from '@terrane/database/testing'
import { expect, test } from 'vitest'
import { geoJsonOf } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  await using db = await openTestDatabase()
  await db.database.query(
    `create table places as select 1 as id, 'NaN'::float8 as share, 'SRID=4326;POINT(1 2)'::geometry(Point, 4326) as geom`,
  )
  const losses = new Warnings()
  const text = (await Array.fromAsync(geoJsonOf(db.database, 'places', losses))).join('')
  expect(JSON.parse(text)).toMatchObject({
    features: [{ properties: { id: 1, share: null }, geometry: { type: 'Point', coordinates: [1, 2] } }],
  })
  expect(losses.list().map(({ code }) => code)).toEqual(['NUMBERS_NOT_FINITE'])
})
