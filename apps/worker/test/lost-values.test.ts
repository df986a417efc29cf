import { TerraneError } from '@terrane/core/errors'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { Engine } from '@terrane/files'
import { convertTo, removeFormats, zip } from '@terrane/testing/files'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { READ_HERE, importFile, type ImportResult } from './import-file.ts'

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

const ofNumbers = ({ warnings }: Pick<ImportResult, 'warnings'>) =>
  warnings.filter(({ code }) => code.startsWith('NUMBERS_'))

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

/** A system without an EPSG code makes the engine read these formats. */
const ELSEWHERE = ['-a_srs', '+proj=robin +datum=WGS84']

test.each([
  ['OpenFileGDB', []],
  ['FlatGeobuf', ELSEWHERE],
  ['ESRI Shapefile', ELSEWHERE],
] as const)('NaN of %s becomes null beside other nulls, and a warning names its column', async (format, options) => {
  const lost = await importFile(db.database, await convertTo(format, points(['1.5', 'NaN', 'null']), options))
  expect(await valuesOf(lost.tables[0]!.table)).toEqual(['1.5', null, null])
  expect(ofNumbers(lost)).toMatchObject([{ code: 'NUMBERS_NOT_FINITE', count: 1, examples: ['v'] }])
  const kept = await importFile(db.database, await convertTo(format, points(['1.5', 'null']), options))
  expect(ofNumbers(kept)).toEqual([])
})

test('each column with NaN is named, and none beside it that has nulls only', async () => {
  const row = (n: number, rest: string) =>
    `{"type":"Feature","properties":{"n":${n},${rest}},"geometry":{"type":"Point","coordinates":[${n},1]}}`
  const rows = [
    row(0, '"a":0.5,"b":0.5,"c":0.5,"d":0.5,"e \\"q\\" \\\\":0.5'),
    row(1, '"a":NaN,"b":null,"c":null,"d":0.5,"e \\"q\\" \\\\":NaN'),
  ]
  const file = await convertTo('FlatGeobuf', `{"type":"FeatureCollection","features":[${rows.join()}]}`, ELSEWHERE)
  const { warnings } = await importFile(db.database, file)
  expect(ofNumbers({ warnings })).toMatchObject([{ code: 'NUMBERS_NOT_FINITE', count: 2, examples: ['a', 'e "q" \\'] }])
})

test('a search for NaN that fails is a warning, and the import succeeds', async () => {
  const engine: Engine = {
    convert: async (conversion, workdir, signal) => {
      if (conversion.options.includes('-where'))
        throw new TerraneError('CONVERSION_FAILED', 'invalid', 'The file could not be read.')
      return READ_HERE.engine.convert(conversion, workdir, signal)
    },
  }
  const file = await convertTo('OpenFileGDB', points(['1.5', 'NaN', 'null']))
  const readers = { ...READ_HERE, engine }
  const { tables, warnings } = await importFile(db.database, file, {}, new AbortController().signal, readers)
  expect(await valuesOf(tables[0]!.table)).toEqual(['1.5', null, null])
  expect(warnings).toMatchObject([{ code: 'NUMBERS_DOUBTFUL', count: 1, examples: ['v'] }])
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
