import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convertTo, type NewValues, removeFormats, writeGeodatabase, zip } from '@terrane/testing/files'
import { importFile } from './import-file.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await removeFormats()
})

const NOON = 0.5
/** 2024-02-29 in days since 1899-12-30. */
const LEAP_DAY = 45_351
const NONE: NewValues = { big: null, day: null, at: null, stamp: null }
const rows: readonly NewValues[] = [
  { big: 2n ** 63n - 1n, day: LEAP_DAY, at: NOON, stamp: [LEAP_DAY + NOON, 345] },
  { big: -1n, day: 0, at: 1.5 / 86_400, stamp: [LEAP_DAY, -210] },
  NONE,
  { ...NONE, day: -1, at: 0 },
]
const VALUES = `name, i, big::text, day::text, at::text, to_char(stamp at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as stamp, st_astext(geom) as geom`
const valuesOf = async (table: string) =>
  (await db.database.query(`select ${VALUES} from ${table} order by i`)).rows.map((row) => Object.values(row))

test.each([
  ['', {}],
  [' and objects numbered in 64 bits', { version: 4 }],
  [' and texts in UTF-16', { isUtf16: true }],
] as const)('a geodatabase with types of ArcGIS Pro 3.2%s keeps their values', async (_, options) => {
  const { tables, warnings } = await importFile(db.database, zip(await writeGeodatabase(rows, options)))
  const [made] = tables
  expect(made!.columns.map(({ name, type }) => [name, type])).toEqual([
    ['name', 'text'],
    ['i', 'int4'],
    ['big', 'int8'],
    ['day', 'date'],
    ['at', 'time'],
    ['stamp', 'timestamptz'],
  ])
  expect(await valuesOf(made!.table)).toEqual([
    ['n0', 0, '9223372036854775807', '2024-02-29', '12:00:00', '2024-02-29 06:15:00', 'POINT(0 1)'],
    ['n1', 1, '-1', '1899-12-30', '00:00:01.5', '2024-02-29 03:30:00', 'POINT(1 2)'],
    ['n2', 2, null, null, null, null, 'POINT(2 3)'],
    ['n3', 3, null, '1899-12-29', '00:00:00', null, 'POINT(3 4)'],
  ])
  expect(warnings).toEqual([])
})

// Lengths are numbers in groups of seven bits: these texts and names have lengths of one, two and three bytes.
test.each([
  ['UTF-8', {}, 1],
  ['UTF-16', { isUtf16: true }, 2],
] as const)(
  'texts and names of layers are read whole, however many bytes their length has: %s',
  async (_, options, unit) => {
    const lengths = [0x7f, 0x80, 0x3fff, 0x4000].map((bytes) => Math.floor(bytes / unit))
    const layer = `long_${'x'.repeat(140)}`
    const texts = lengths.map((length, i) => `${i}`.repeat(length))
    const files = await writeGeodatabase(
      texts.map((name, i) => ({ ...NONE, name, big: BigInt(i) })),
      { ...options, layer },
    )
    const { tables } = await importFile(db.database, zip(files))
    const [{ table, columns }] = tables as [(typeof tables)[0]]
    expect(columns.map(({ type }) => type)).toEqual(['text', 'int4', 'int8', 'date', 'time', 'timestamptz'])
    const { rows: read } = await db.database.query<{ name: string; big: string }>(
      `select name, big::text from ${table} order by i`,
    )
    expect(read).toEqual(texts.map((name, i) => ({ name, big: `${i}` })))
  },
)

test('a geodatabase as it was is imported as before', async () => {
  const features = [0, 1].map((i) => ({
    type: 'Feature',
    properties: { i },
    geometry: { type: 'Point', coordinates: [i, i] },
  }))
  const file = await convertTo('OpenFileGDB', JSON.stringify({ type: 'FeatureCollection', features }))
  const { tables } = await importFile(db.database, file)
  expect(tables.map(({ rows: count, srid }) => [count, srid])).toEqual([[2, 4326]])
})

test('a list of places that makes a small table large is refused', async () => {
  const files = await writeGeodatabase(rows)
  const places = files.find(({ name }) => name.endsWith('a00000009.gdbtablx'))!
  const [head, width, count] = [16, 5, 1024]
  const same = Buffer.from(places.data)
  for (let i = 1; i < count; i++) same.copyWithin(head + i * width, head, head + width)
  const large = files.map((file) => (file === places ? { name: file.name, data: same } : file))
  await expect(importFile(db.database, zip(large))).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: expect.stringContaining('are damaged') as string,
  })
})

test('a layer that cannot be read is refused by its name', async () => {
  const files = await writeGeodatabase(rows)
  const table = files.find(({ name }) => name.endsWith('a00000009.gdbtable'))!
  // A type that no version has.
  const damaged = Buffer.from(table.data)
  const name = Buffer.from('stamp', 'utf16le')
  damaged[damaged.indexOf(name) + name.length + 1] = 99
  const broken = files.map((file) => (file === table ? { name: file.name, data: damaged } : file))
  await expect(importFile(db.database, zip(broken))).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: expect.stringMatching(/the rows of things\d+ are damaged or of a kind that the engine does not know/),
  })
})
