import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../database.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { scan, scanSession } from './scan.ts'
import type { PackedBytes, ScanBatch, ScanColumn } from './columns.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  await db.database.query(
    `create table scanned as select n, case when n % 7 = 0 then null else n * 1e9 end as f, n % 2 = 0 as b,
       repeat('ä', n % 50) as t, case when n % 3 = 0 then null else decode(lpad(to_hex(n), 8, '0'), 'hex') end as y
     from generate_series(1, 12345) as n`,
  )
})
afterAll(() => db[Symbol.asyncDispose]())

const COLUMNS: ScanColumn[] = [
  { sql: 'n', type: 'int8' },
  { sql: 'f', type: 'float8' },
  { sql: 'b', type: 'bool' },
  { sql: 't', type: 'text' },
  { sql: 'y', type: 'bytes' },
]

async function all(from: string, columns = COLUMNS, batchRows?: number): Promise<ScanBatch[]> {
  const batches: ScanBatch[] = []
  const options = batchRows === undefined ? {} : { batchRows }
  for await (const batch of scan(db.database, columns, from, options)) batches.push(batch)
  return batches
}

test('every row comes once, in order, in columns of the types asked for', async () => {
  const batches = await all('scanned order by n', COLUMNS, 1000)
  expect(batches.map(({ rows }) => rows)).toEqual([...Array.from({ length: 12 }, () => 1000), 345])
  let n = 0
  const wrong: number[] = []
  for (const { rows, columns } of batches) {
    const [ns, fs, bs, ts, ys] = columns as [number[], number[], boolean[], string[], PackedBytes]
    for (let i = 0; i < rows; i++) {
      n++
      const bytes = Buffer.from(ys.bytes.subarray(i === 0 ? 0 : ys.ends[i - 1], ys.ends[i])).toString('hex')
      const wanted = n % 3 === 0 ? '' : n.toString(16).padStart(8, '0')
      const isRight =
        ns[i] === n &&
        fs[i] === (n % 7 === 0 ? null : n * 1e9) &&
        bs[i] === (n % 2 === 0) &&
        ts[i] === 'ä'.repeat(n % 50) &&
        bytes === wanted
      if (!isRight) wrong.push(n)
    }
  }
  expect([n, wrong]).toEqual([12345, []])
})

test('extreme numbers are exact', async () => {
  const numbers = ['9223372036854775807', '-9223372036854775808', '9007199254740991', '-9007199254740992', '0', '-1']
  const values = numbers.map((text) => `('${text}'::int8)`).join(', ')
  const [batch] = await all(`(values ${values}) as v (n)`, [{ sql: 'n', type: 'int8' }])
  const narrow = (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))
  expect(batch!.columns[0]).toEqual(numbers.map(narrow))
  const floats = await all(`(values ('NaN'::float8), ('-Infinity'), ('1e-300'), ('0.1')) as v (f)`, [
    { sql: 'f', type: 'float8' },
  ])
  expect(floats[0]!.columns[0]).toEqual([Number.NaN, Number.NEGATIVE_INFINITY, 1e-300, 0.1])
})

test('an empty result gives no batch', async () => {
  expect(await all('scanned where false')).toEqual([])
})

test('a batch ends by rows or by bytes, whichever comes first', async () => {
  const columns: ScanColumn[] = [
    { sql: 'n', type: 'int8' },
    { sql: `repeat('x', case when n % 5 = 0 then 4000 else 10 end)`, type: 'text' },
  ]
  const sizes: number[] = []
  const seen: unknown[] = []
  for await (const batch of scan(db.database, columns, 'generate_series(1, 20) n', {
    batchRows: 6,
    batchBytes: 3000,
  })) {
    sizes.push(batch.rows)
    seen.push(...(batch.columns[0] as readonly unknown[]))
  }
  expect(sizes).toEqual([5, 5, 5, 5])
  expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  const wide = [{ sql: `repeat('x', 1000000)`, type: 'text' }] as const
  const rows: number[] = []
  for await (const batch of scan(db.database, wide, 'generate_series(1, 20) n')) rows.push(batch.rows)
  expect(rows).toEqual([9, 9, 2])
})

test('leaving the loop frees the connection, however much is left', async () => {
  for (let round = 0; round < 12; round++) {
    for await (const batch of scan(db.database, COLUMNS, 'scanned a, generate_series(1, 200) g', { batchRows: 10 })) {
      expect(batch.rows).toBe(10)
      break
    }
  }
  expect((await db.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('leaving the loop of a slow query leaves nothing running', async () => {
  const from = 'generate_series(1, 1000000) n, pg_sleep(0.0005 * sign(n))'
  const columns: ScanColumn[] = [
    { sql: 'n', type: 'int8' },
    { sql: `repeat('x', 2000)`, type: 'text' },
  ]
  for (let round = 0; round < 5; round++) {
    for await (const batch of scan(db.database, columns, from, { batchRows: 2 })) {
      expect(batch.rows).toBe(2)
      break
    }
  }
  const running = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and state = 'active' and query like 'copy (select (n)%'`
  const count = async () => (await db.database.query<{ count: number }>(running)).rows[0]?.count
  while ((await count()) !== 0) await sleep(50)
})

test('leaving the loop needs no second connection', async () => {
  await using single = await openDatabase({ url: db.url, max: 1 })
  for (let round = 0; round < 3; round++) {
    for await (const batch of scan(single, COLUMNS, 'scanned a, generate_series(1, 200) g', { batchRows: 10 })) {
      expect(batch.rows).toBe(10)
      break
    }
    expect((await single.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  }
})

test('leaving the loop within a transaction ends it, and leaves nothing running', async () => {
  const enough = new Error('enough')
  for (let round = 0; round < 3; round++) {
    const work = db.database.transaction(async (session) => {
      for await (const batch of scanSession(session, COLUMNS, 'scanned a, generate_series(1, 200) g', {
        batchRows: 10,
      })) {
        expect(batch.rows).toBe(10)
        throw enough
      }
    })
    await expect(work).rejects.toBe(enough)
  }
  const running = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and state <> 'idle' and query like 'copy (select (n)%'`
  while ((await db.database.query<{ count: number }>(running)).rows[0]?.count !== 0) await sleep(50)
})

test('an error of the server comes through, and the connection is usable', async () => {
  await expect(all('scanned where 1 / (n - 500) > -1 order by n')).rejects.toThrow('division by zero')
  await expect(all('no_such_table')).rejects.toThrow('no_such_table')
  expect((await all('scanned limit 1'))[0]!.rows).toBe(1)
})

test('an abort ends it with its reason', async () => {
  const controller = new AbortController()
  const database = db.database.withSignal(controller.signal)
  const read = async () => {
    for await (const _ of scan(database, COLUMNS, 'scanned a, generate_series(1, 300) g'))
      controller.abort(new Error('enough'))
  }
  await expect(read()).rejects.toThrow('enough')
})

test('a database that is closed right after the last row ends in peace', async () => {
  const unhandled: unknown[] = []
  const onError = (error: unknown) => unhandled.push(error)
  process.on('uncaughtException', onError)
  try {
    for (let n = 0; n < 20; n++) {
      const database = await openDatabase({ url: db.url, max: 1, applicationName: 'test' })
      for await (const _ of scan(database, [{ sql: 'n', type: 'int8' }], 'scanned where n <= 3'));
      await database.close()
    }
    // Errors of sockets come with their events, after the promises.
    await sleep(0)
    expect(unhandled).toEqual([])
  } finally {
    process.off('uncaughtException', onError)
  }
})
