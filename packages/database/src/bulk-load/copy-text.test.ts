import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../testing/test-database.ts'
import { loadCopyText } from './bulk-load.ts'
import { decodeCopyText, encodeCopyText, type CopyTextRow } from './copy-text.ts'

let test_: TestDatabase
beforeAll(async () => {
  test_ = await openTestDatabase()
})
afterAll(async () => {
  await test_[Symbol.asyncDispose]()
})

const TEXTS = ['', '\\', '\\N', 'a\tb', 'two\nlines', 'cr\rlf\r\n', '\\.', 'é 😀', '{"k": "\\\\ \\"q\\""}', '\\t \\\\t']

test('what is encoded is decoded again', () => {
  const rows = TEXTS.flatMap((text, i): CopyTextRow[] => [
    [text, null, TEXTS[(i + 3) % TEXTS.length]!],
    [null, text, ''],
  ])
  expect(decodeCopyText(encodeCopyText(rows))).toEqual(rows)
  expect(decodeCopyText(Buffer.alloc(0))).toEqual([])
})

test('lines arrive in the types of the table, whatever their texts hold', async () => {
  await test_.database.query('create table public.lines (id int8, t text, f float8, at timestamptz, l varchar[], b bool)')
  const types = ['int8', 'text', 'float8', 'timestamp with time zone', 'varchar[]', 'bool']
  const columns = ['id', 't', 'f', 'at', 'l', 'b'].map((name, i) => ({ name, type: types[i]! }))
  const rows = [...TEXTS, null].map((text, id) => [
    String(id),
    text,
    'inf',
    '2026/11/21 10:00:00+01',
    '{"a,b",NULL}',
    id % 2 ? 't' : '0',
  ])
  await loadCopyText(test_.database, { schema: 'public', table: 'lines', columns }, encodeCopyText(rows))
  const { rows: found } = await test_.database.query('select t, f, at, l, b from public.lines order by id')
  expect(found).toEqual(
    rows.map(([, t], i) => ({
      t,
      f: Infinity,
      at: new Date('2026-11-21T09:00:00Z'),
      l: ['a,b', null],
      b: i % 2 === 1,
    })),
  )
})

test('what the server refuses is BULK_LOAD_FAILED, and the signal stops it', async () => {
  await test_.database.query('create table public.numbers (n int4)')
  const target = { schema: 'public', table: 'numbers', columns: [{ name: 'n', type: 'int4' }] }
  const load = (text: string, signal = new AbortController().signal) =>
    loadCopyText(test_.database, target, Buffer.from(text), { signal })
  await expect(load('1\nx\n')).rejects.toMatchObject({ code: 'BULK_LOAD_FAILED', cause: { code: '22P02' } })
  await expect(load('1\n', AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  expect((await test_.database.query('select n from public.numbers')).rows).toEqual([])
})
