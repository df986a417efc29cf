import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { convertTo, removeFormats, zip } from '@terrane/testing/files'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFile } from './import-file.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await removeFormats()
})

const valuesOf = async (table: string) =>
  (await db.database.query<{ v: string | null }>(`select v::text from ${table} order by n`)).rows.map(({ v }) => v)

/** A point with a number each, as GeoJSON with words that JSON does not have. */
const points = (values: readonly string[]) => {
  const features = values.map(
    (v, n) =>
      `{"type":"Feature","properties":{"n":${n},"v":${v},"whole":0.5},"geometry":{"type":"Point","coordinates":[${n},1]}}`,
  )
  return `{"type":"FeatureCollection","features":[${features.join()}]}`
}

test('NaN of a MapInfo file stays NaN: its numbers are never null', async () => {
  const head =
    'Version 300\nCharset "Neutral"\nDelimiter ","\nCoordSys Earth Projection 1, 104\nColumns 2\n  n Integer\n  v Float\nData\n\n'
  const lines = ['1.5', 'nan', 'inf', '0.3']
  const file = zip([
    { name: 'a.mif', data: Buffer.from(`${head}${lines.map((_, n) => `Point ${n} 1`).join('\n')}\n`) },
    { name: 'a.mid', data: Buffer.from(lines.map((v, n) => `${n},${v}\n`).join('')) },
  ])
  const { tables, warnings } = await importFile(db.database, file)
  expect(await valuesOf(tables[0]!.table)).toEqual(['1.5', 'NaN', 'Infinity', '0.3'])
  expect(warnings).toEqual([])
})

test('NaN of a geodatabase becomes null beside other nulls, and a warning names its column', async () => {
  const lost = await importFile(db.database, await convertTo('OpenFileGDB', points(['1.5', 'NaN', 'null'])))
  expect(await valuesOf(lost.tables[0]!.table)).toEqual(['1.5', null, null])
  expect(lost.warnings).toMatchObject([{ code: 'NUMBERS_NOT_FINITE', count: 1, examples: ['v'] }])
  const kept = await importFile(db.database, await convertTo('OpenFileGDB', points(['1.5', 'null'])))
  expect(kept.warnings).toEqual([])
})

test('texts of a MapInfo file whose character set the engine does not know are said to be unreadable', async () => {
  const head =
    'Version 300\nCharset "CodePage852"\nDelimiter ","\nCoordSys Earth Projection 1, 104\nColumns 1\n  v Char(10)\nData\n\n'
  const file = zip([
    { name: 'a.mif', data: Buffer.from(`${head}Point 0 1\n`) },
    { name: 'a.mid', data: Buffer.from('"\xcc\xee\xf1\xea\xe2\xe0"\n', 'latin1') },
  ])
  const { warnings } = await importFile(db.database, file)
  expect(warnings).toMatchObject([{ code: 'TEXT_NOT_UTF8', count: 1 }])
})
