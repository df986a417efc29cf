import { decodeCopyText, type CopyTextRow } from '@terrane/database'
import { expect, test } from 'vitest'
import { PgdumpReader } from './pgdump-reader.ts'

const HEADER = [
  'SET standard_conforming_strings = ON;',
  'CREATE TABLE "layer"();',
  'ALTER TABLE "layer" ADD COLUMN "na""me" VARCHAR;',
  'ALTER TABLE "layer" ADD COLUMN "n" INTEGER;',
  `SELECT AddGeometryColumn('public','layer','__geometry__',4326,'POINT',2);`,
  'COPY "layer" ("__geometry__", "na""me", "n") FROM STDIN;',
]
const ROWS = ['00AA\ta\\tb\\\tc\\\\\t1', '\\N\tline\\\nnext\t\\N', '\t\t', '00BB\tä€😀\t-5']
const WANTED: CopyTextRow[] = [
  ['00AA', 'a\tb\tc\\', '1'],
  [null, 'line\nnext', null],
  ['', '', ''],
  ['00BB', 'ä€😀', '-5'],
]
const DUMP = Buffer.from([...HEADER, ...ROWS, '\\.', 'COMMIT;', 'DROP TABLE x;\n'].join('\n'))

function read(bytes: Buffer, chunkBytes: number): { reader: PgdumpReader; rows: CopyTextRow[] } {
  const reader = new PgdumpReader()
  const rows: CopyTextRow[] = []
  const onRow = (line: Buffer, start: number, end: number) =>
    rows.push(...decodeCopyText(Buffer.concat([line.subarray(start, end), Buffer.from('\n')])))
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes), onRow)
  return { reader, rows }
}

test('rows are the same wherever chunks end', () => {
  for (let chunkBytes = 1; chunkBytes <= DUMP.length; chunkBytes++) {
    const { reader, rows } = read(DUMP, chunkBytes)
    reader.end()
    expect(rows).toEqual(WANTED)
    expect(reader.header).toEqual({
      srid: 4326,
      geometryType: 'POINT',
      dimensions: 2,
      geometryAt: 0,
      columns: [
        { name: 'na"me', type: 'text' },
        { name: 'n', type: 'int4' },
      ],
    })
  }
})

test('names of columns made of quotes take no time that grows with them', () => {
  const name = '","'.repeat(20_000)
  const quoted = `"${name.replaceAll('"', '""')}"`
  const header = [
    `ALTER TABLE "layer" ADD COLUMN ${quoted} numeric(10,2);`,
    `COPY "layer" (${quoted}, "other") FROM STDIN;`,
  ]
  const { reader } = read(Buffer.from([...header, '1\t2', '\\.', 'COMMIT;\n'].join('\n')), 1_000_000)
  reader.end()
  expect(reader.header?.columns).toEqual([
    { name, type: 'float8' },
    { name: 'other', type: 'text' },
  ])
})

test('a row of many megabytes among small ones comes whole', () => {
  const long = 'x'.repeat(20_000_000)
  const dump = Buffer.from([...HEADER, ...ROWS, `\t${long}\t7`, ROWS[0], '\\.\n'].join('\n'))
  expect(read(dump, 1 << 16).rows).toEqual([...WANTED, ['', long, '7'], WANTED[0]])
})

test('a dump that is cut off is an error, one without rows is not', () => {
  const cut = read(DUMP.subarray(0, DUMP.indexOf('\\.')), 100).reader
  expect(() => cut.end()).toThrow(expect.objectContaining({ code: 'CONVERSION_FAILED' }))
  const empty = read(Buffer.from('BEGIN;\nEND;\n'), 5).reader
  empty.end()
  expect(empty.header).toBeNull()
})

test('names may hold newlines and semicolons, and the geometry need not be first', () => {
  const header = [
    'ALTER TABLE "layer" ADD COLUMN "a;',
    'b" INTEGER;',
    "SELECT AddGeometryColumn('public','layer','__geometry__',0,'POINT',2);",
  ]
  const dump = [...header, 'COPY "layer" ("__fid__", "__geometry__", "a;', 'b") FROM STDIN;', '3\t00AA\t4', '\\.\n']
  const { reader, rows } = read(Buffer.from(dump.join('\n')), 7)
  expect(reader.header).toMatchObject({
    geometryAt: 1,
    columns: [
      { name: '__fid__', type: 'text' },
      { name: 'a;\nb', type: 'int4' },
    ],
  })
  expect(rows).toEqual([['3', '00AA', '4']])
})

test('a header without end is an error', () => {
  const statements = Buffer.from('ALTER TABLE x ADD COLUMN y VARCHAR;\n'.repeat(40_000))
  expect(() => read(statements, 1 << 16)).toThrow(expect.objectContaining({ code: 'CONVERSION_FAILED' }))
})
