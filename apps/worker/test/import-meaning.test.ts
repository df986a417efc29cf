import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFile } from './import-file.ts'
import { workbook } from './workbook-writer.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

const imported = (file: string | Buffer, options: object = {}) =>
  importFile(db.database, typeof file === 'string' ? Buffer.from(file) : file, options)
const typesOf = ({ columns }: { columns: readonly { name: string; type: string }[] }) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]))
const rowsOf = async (table: string, columns: string) =>
  (await db.database.query(`select ${columns} from ${table} order by id`)).rows

test('a table of text is stored as people mean it', async () => {
  const text =
    "sep=;\nname;lat;lon;hoehe;plz;telefon;datum;anteil\nA;48,137;11,575;519,25;01067;+4915112345678;31.12.2024;12 %\nB;52°30'N;13°30'E;34,0;80331;+34123456789;1.1.2025;7 %\n"
  const { tables, warnings } = await imported(text)
  expect(typesOf(tables[0]!)).toEqual({
    name: 'text',
    lat: 'text',
    lon: 'text',
    hoehe: 'float8',
    plz: 'text',
    telefon: 'text',
    datum: 'date',
    anteil: 'text',
  })
  expect(
    await rowsOf(tables[0]!.table, 'hoehe, plz, telefon, datum::text as datum, anteil, st_astext(geom) as geom'),
  ).toEqual([
    {
      hoehe: 519.25,
      plz: '01067',
      telefon: '+4915112345678',
      datum: '2024-12-31',
      anteil: '12 %',
      geom: 'POINT(11.575 48.137)',
    },
    { hoehe: 34, plz: '80331', telefon: '+34123456789', datum: '2025-01-01', anteil: '7 %', geom: 'POINT(13.5 52.5)' },
  ])
  expect(warnings).toMatchObject([{ code: 'VALUES_NOT_PLAIN', examples: ['anteil'] }])
})

test('the caller decides the types of columns', async () => {
  const text = 'a,b,c\n1.10,ja,3\n1.9,vielleicht,4\n'
  const { tables, warnings } = await imported(text, { types: { a: 'text', B: 'bool' } })
  expect(await rowsOf(tables[0]!.table, 'a, b, c')).toEqual([
    { a: '1.10', b: true, c: 3 },
    { a: '1.9', b: null, c: 4 },
  ])
  expect(warnings).toMatchObject([{ code: 'VALUES_UNREADABLE', count: 1, examples: [2] }])
  const json = JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: null, properties: { code: 12, day: '2024-02-29', part: '0.5' } }],
  })
  const other = await imported(json, { types: { code: 'text', day: 'text', part: 'float8' } })
  expect(await rowsOf(other.tables[0]!.table, 'code, day, part')).toEqual([
    { code: '12', day: '2024-02-29', part: 0.5 },
  ])
  await expect(imported(text, { types: { d: 'text' } })).rejects.toMatchObject({ code: 'TYPES_UNKNOWN' })
})

test('times without a zone are those of a clock, and stay so', async () => {
  const { tables } = await imported('local,world\n2024-02-29 13:45:10,2024-02-29T13:45:10+01:00\n')
  expect(typesOf(tables[0]!)).toEqual({ local: 'timestamp', world: 'timestamptz' })
  const texts = await rowsOf(tables[0]!.table, `local::text as local, (world at time zone 'UTC')::text as world`)
  expect(texts).toEqual([{ local: '2024-02-29 13:45:10', world: '2024-02-29 12:45:10' }])
})

test('days of a workbook keep their time of day, whatever their format', async () => {
  const value = 45_351.573_032_407_41
  const formats = [
    'yyyy-mm-dd h:mm:ss',
    'dd.mm.yyyy h:mm',
    'm/d/yy h:mm AM/PM',
    '[$-407]d. mmm yy" um "h',
    'd\\.m\\.yyyy',
  ]
  const clocks = ['h:mm:ss', '[$-F400]h:mm:ss AM/PM']
  const others = ['0.00" h"', '[h]:mm']
  const all = [...formats, ...clocks, ...others]
  const { tables, warnings } = await imported(
    workbook([
      ['name', ...all.map((_, i) => `c${i}`)],
      ['A', ...all.map((format) => ({ value, format }))],
    ]),
  )
  const types = typesOf(tables[0]!)
  expect(all.map((_, i) => types[`c${i}`])).toEqual([
    ...Array.from({ length: 4 }, () => 'timestamp'),
    'date',
    'time',
    'time',
    'float8',
    'float8',
  ])
  const [row] = await rowsOf(tables[0]!.table, all.map((_, i) => `c${i}::text`).join(', '))
  expect(Object.values(row!).slice(0, 7)).toEqual([
    ...Array.from({ length: 4 }, () => '2024-02-29 13:45:10'),
    '2024-02-29',
    '13:45:10',
    '13:45:10',
  ])
  expect(warnings).toEqual([])
})
