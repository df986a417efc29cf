import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase, type Session } from '../database.ts'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { scan, scanInTurns, scanSession } from './scan.ts'
import { TableSlices } from './table-slices.ts'
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

describe('a table in slices', () => {
  const table = (name: string, where = '') => ({ table: name, alias: 't', where })
  const lend = (work: (session: Session) => Promise<void>) => db.database.session(work)
  const sliced = (source: ReturnType<typeof table>, columns: readonly ScanColumn[] = [{ sql: 'n', type: 'int8' }]) =>
    scanInTurns(lend, columns, source, { batchRows: 500 })
  const numbers = (batches: readonly ScanBatch[]) => batches.flatMap(({ columns }) => columns[0] as number[])
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

  beforeEach(async () => {
    // Some 260 pages; the first slice has 16 of them.
    await db.database.query(`drop table if exists wide cascade; create table wide (n int, filling text);
      insert into wide select n, repeat('x', 1000) from generate_series(1, 1800) n`)
  })

  test('has every row once, with the filter of its source', async () => {
    expect(numbers(await Array.fromAsync(sliced(table('wide'))))).toEqual(upTo(1800))
    const some = await Array.fromAsync(sliced(table('wide', ' where n > 1000 and t.n % 2 = 0')))
    expect(numbers(some)).toEqual(upTo(1800).filter((n) => n > 1000 && n % 2 === 0))
  })

  test('has functions of its rows as columns', async () => {
    await db.database.query(
      'create or replace function doubled(wide) returns int immutable language sql return $1.n * 2',
    )
    const doubled: ScanColumn[] = [{ sql: 't.doubled', type: 'int8' }]
    const some = await Array.fromAsync(sliced(table('wide', ' where t.doubled > 3000'), doubled))
    expect(numbers(some)).toEqual(
      upTo(1800)
        .map((n) => 2 * n)
        .filter((n) => n > 3000),
    )
  })

  test.runIf(testLane() === 'pglite')('lets other clients have their turn before its end', async () => {
    const order: string[] = []
    let other: Promise<unknown> | null = null
    for await (const _ of scan(db.database, [{ sql: 'n', type: 'int8' }], table('wide'), { batchRows: 10 }))
      other ??= db.database.query('select 1').then(() => order.push('another client'))
    order.push('the end')
    await other
    expect(order).toEqual(['another client', 'the end'])
  })

  test('has no rows that were inserted after its start', async () => {
    const seen: number[] = []
    let later: Promise<unknown> | null = null
    for await (const { columns } of sliced(table('wide'))) {
      seen.push(...(columns[0] as number[]))
      later ??= db.database.query(`insert into wide values (5000, 'later')`)
    }
    await later
    expect(seen).toEqual(upTo(1800))
    expect(numbers(await Array.fromAsync(sliced(table('wide'))))).toEqual([...upTo(1800), 5000])
  })

  // Only the embedded database counts the changes of all clients at once.
  test
    .runIf(testLane() === 'pglite')
    .each([
      `update wide set filling = 'new' where n = 1700`,
      'update wide set n = 0 where n = 1',
      'delete from wide where n = 1700',
      'truncate wide',
      'alter table wide rename to gone',
      'vacuum full wide',
    ])('ends where rows it would miss or repeat are changed: %s', async (change) => {
    const changes: Promise<unknown>[] = []
    const read = async () => {
      for await (const _ of sliced(table('wide'))) if (changes.length === 0) changes.push(db.database.query(change))
    }
    await expect(read()).rejects.toMatchObject({ code: expect.stringMatching(/TABLE_CHANGED|42P01/) as string })
    await Promise.all(changes)
    await db.database.query('drop table if exists gone')
    await db.database.query('create table if not exists wide (n int)')
    const whole = await Array.fromAsync(
      scan(db.database, [{ sql: 'n', type: 'int8' }], table('wide'), { isWhole: true }),
    )
    const { rows } = await db.database.query<{ n: number }>('select n from wide')
    expect(numbers(whole).toSorted((a, b) => a - b)).toEqual(rows.map(({ n }) => n).toSorted((a, b) => a - b))
  })

  test('is without the rows of a table that becomes its child meanwhile', async () => {
    await db.database.query(`drop table if exists later; create table later (like wide);
      insert into later select n, repeat('y', 1000) from generate_series(5001, 6800) n`)
    const seen: number[] = []
    let joined: Promise<unknown> | null = null
    for await (const { columns } of sliced(table('wide'))) {
      seen.push(...(columns[0] as number[]))
      joined ??= db.database.query('alter table later inherit wide')
    }
    await joined
    expect(seen).toEqual(upTo(1800))
  })

  test('that is empty is read all the same, so that a bad condition is refused', async () => {
    await db.database.query('truncate wide')
    expect(await Array.fromAsync(sliced(table('wide')))).toEqual([])
    await expect(Array.fromAsync(sliced(table('wide', ` where n = 'x'`)))).rejects.toMatchObject({ code: '22P02' })
  })

  test('whose values are out of line is read whole, in slices', async () => {
    await db.database.query(`alter table wide alter filling set storage external; truncate wide;
      insert into wide select n, repeat('z', 2000000) from generate_series(1, 12) n`)
    const columns: ScanColumn[] = [
      { sql: 'n', type: 'int8' },
      { sql: 'filling', type: 'text' },
    ]
    const sizes: number[][] = []
    for await (const batch of sliced(table('wide'), columns))
      sizes.push(...(batch.columns[0] as number[]).map((n, i) => [n, (batch.columns[1] as string[])[i]!.length]))
    expect(sizes).toEqual(upTo(12).map((n) => [n, 2_000_000]))
  })

  test('whose policies read another table is read in one piece, one whose policies do not in slices', async () => {
    await db.database.query(`drop role if exists reader_of_wide; create role reader_of_wide;
      drop table if exists members; create table members (n int); insert into members values (1);
      grant select on wide, members to reader_of_wide; alter table wide enable row level security;
      create policy late on wide to reader_of_wide using (n > 900)`)
    const slicesAs = (role: string) =>
      db.database.transaction((session) => TableSlices.of(session, table('wide')), `begin; set local role ${role}`)
    expect(await slicesAs('reader_of_wide')).not.toBeNull()
    await db.database.query('create policy more on wide to reader_of_wide using (exists (select from members))')
    expect(await slicesAs('reader_of_wide')).toBeNull()
    expect(await slicesAs('none')).not.toBeNull()
    await db.database.query(
      'drop policy more on wide; create or replace function seen() returns boolean stable language sql return true',
    )
    await db.database.query('create policy more on wide to reader_of_wide using (seen())')
    expect(await slicesAs('reader_of_wide')).toBeNull()
    await db.database.query('drop owned by reader_of_wide; drop role reader_of_wide; drop table members')
  })

  test('of a view, or with children, is read in one piece', async () => {
    await db.database.query(`create view seen as select * from wide; create table child () inherits (wide);
      insert into child select n, 'y' from generate_series(1801, 1900) n`)
    expect(numbers(await Array.fromAsync(sliced(table('seen')))).length).toBe(1900)
    expect(numbers(await Array.fromAsync(sliced(table('wide')))).length).toBe(1900)
  })

  test('that is left early frees the connection', async () => {
    for (let round = 0; round < 12; round++) for await (const _ of sliced(table('wide'))) break
    expect((await db.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})
