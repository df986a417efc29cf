import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bulkLoad } from './bulk-load/bulk-load.ts'
import type { Column, Row } from './bulk-load/columns.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { STAGING_SCHEMA, appliedResult, dropStaging, relationExists, stagedTable, swapIn } from './staging/staging.ts'
import { dropCheckpoint, keepCheckpoint, takeOver } from './staging/checkpoints.ts'
import { beginRun, closeRuns } from './staging/job-runs.ts'

let test_: TestDatabase
beforeAll(async () => {
  test_ = await openTestDatabase()
})
afterAll(async () => {
  await test_[Symbol.asyncDispose]()
})

test('the capabilities say which server it is', () => {
  const { capabilities } = test_.database
  expect(capabilities.engine).toBe(testLane())
  expect(capabilities.parallel).toBe(testLane() === 'postgres')
  expect(capabilities.version).toBeGreaterThanOrEqual(150000)
})

test.runIf(testLane() === 'postgres')(
  'statements are not compiled, which takes seconds for some of PostGIS',
  async () => {
    const { rows } = await test_.database.query('show jit')
    expect(rows).toEqual([{ jit: 'off' }])
  },
)

test('a server that cannot be reached is DATABASE_UNAVAILABLE', async () => {
  await expect(openDatabase({ url: 'postgres://x@127.0.0.1:1/x' })).rejects.toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    retryable: true,
  })
})

test('a transaction that throws leaves nothing and the connection goes on', async () => {
  const { database } = test_
  await database.query('create table rolled (a int)')
  await expect(
    database.transaction(async (session) => {
      await session.query('insert into rolled values (1)')
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  expect((await database.query('select * from rolled')).rows).toEqual([])
})

test('a statement in one round trip has the settings of its beginning, and leaves none behind', async () => {
  const { database } = test_
  const begin = `begin read only; select set_config('terrane.told', 'once', true)`
  const { rows } = await database.statement(`select current_setting('terrane.told') as told`, begin)
  expect(rows).toEqual([{ told: 'once' }])
  await expect(database.statement('create table never (a int)', begin)).rejects.toMatchObject({ code: '25006' })
  await expect(database.statement('select 1 / 0', begin)).rejects.toMatchObject({ code: '22012' })
  // All connections of the pool are checked, because none may stay within a transaction.
  const after = await Promise.all(
    [1, 2, 3].map(() => database.query(`select current_setting('terrane.told', true) as told`)),
  )
  expect(after.flatMap((result) => result.rows).every((row) => !row['told'])).toBe(true)
})

test('a job that is cancelled stops its statement and starts no other', async () => {
  const stop = new AbortController()
  const job = test_.database.withSignal(stop.signal)
  const reason = new Error('cancelled by the test')
  // The embedded database has one session: there a statement runs to its end first.
  const seconds = test_.database.capabilities.locks ? 20 : 0.2
  const running = job.query('select pg_sleep($1)', [seconds])
  setTimeout(() => stop.abort(reason), 100)
  await expect(running.then(() => job.query('select 1'))).rejects.toBe(reason)
  await expect(job.transaction((session) => session.query('select 1'))).rejects.toBe(reason)
  expect((await test_.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('migrations that are applied are not applied again', async () => {
  expect(await migrate(test_.database, ['control', 'project'])).toEqual([])
})

test('the migrations of a database that is up to date are read at once', async () => {
  const transaction = vi.spyOn(test_.database, 'transaction')
  await migrate(test_.database, ['control', 'project'])
  expect(transaction).toHaveBeenCalledTimes(1)
  transaction.mockRestore()
})

test('a migration that was changed after it was applied is refused', async () => {
  await using other = await openTestDatabase()
  await other.database.query(`update terrane.migrations set sha256 = 'another' where id = 'control/0105_backups'`)
  await expect(migrate(other.database, ['control'])).rejects.toMatchObject({
    code: 'DATABASE_SCHEMA',
    message: expect.stringContaining('control/0105_backups was changed') as string,
  })
})

test('a schema of a later version is refused, and nothing is applied to it', async () => {
  await using later = await openTestDatabase()
  await later.database.query(
    `delete from terrane.migrations where id = 'control/0105_backups';
     insert into terrane.migrations (id, sha256) values ('control/9999_of_the_future', ''), ('project/9999_another', '')`,
  )
  const ids = async () => (await later.database.query('select id from terrane.migrations order by id')).rows
  const before = await ids()
  await expect(migrate(later.database, ['control'])).rejects.toMatchObject({
    code: 'SCHEMA_TOO_NEW',
    message: expect.stringMatching(/does not know control\/9999_of_the_future$/) as string,
    hint: expect.stringContaining('later') as string,
  })
  await expect(migrate(later.database, ['control', 'project'])).rejects.toThrow(/of_the_future, project\/9999_another$/)
  expect(await ids()).toEqual(before)
})

test('two processes may migrate at once', async () => {
  const [a, b] = await Promise.all([migrate(test_.database, ['control']), migrate(test_.database, ['control'])])
  expect([...a, ...b]).toEqual([])
})

describe('bulk load', () => {
  const columns: Column[] = [
    { name: 'i2', type: 'int2' },
    { name: 'i4', type: 'int4' },
    { name: 'i8', type: 'int8' },
    { name: 'f4', type: 'float4' },
    { name: 'f8', type: 'float8' },
    { name: 'b', type: 'bool' },
    { name: 't', type: 'text' },
    { name: 'j', type: 'jsonb' },
    { name: 'raw', type: 'bytea' },
    { name: 'u', type: 'uuid' },
    { name: 'at', type: 'timestamptz' },
    { name: 'g', type: 'geometry' },
    { name: 'v', type: 'vector' },
    { name: 'h', type: 'halfvec' },
  ]
  const point = Buffer.from('0101000020e6100000000000000000f03f0000000000000040', 'hex')
  const row: Row = [
    -32768,
    2147483647,
    9007199254740991n,
    0.1,
    Math.PI,
    true,
    'a "b" \\ {c,d} \t\n é 😀 \0end',
    { k: 'v\\ "q"', n: [1, null, '\0x'] },
    Uint8Array.of(0, 92, 255),
    '0199b1f0-0000-7000-8000-00000000002a',
    new Date('2026-11-21T10:11:12.345Z'),
    point,
    Float32Array.of(1.5, -0.1, 3e-8),
    Float32Array.of(1.5, 65504, -0.333251953125),
  ]

  const schemas = ['public', STAGING_SCHEMA]

  async function freshTable(name: string, schema = 'public') {
    await test_.database.query(
      `create table ${schema}.${name} (${columns.map((c) => `${c.name} ${c.type === 'vector' || c.type === 'halfvec' ? `${c.type}(3)` : c.type}`).join(', ')})`,
    )
    return { schema, table: name, columns }
  }

  /** After a failure: the pool works, and no connection is left within a transaction. */
  async function expectNothingOpen() {
    expect((await test_.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    const { rows } = await test_.database.query<{ n: number }>(
      `select count(*) as n from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    )
    expect(rows[0]?.n).toBe(0)
  }

  test('every type makes the round trip, and so does NULL', async () => {
    const target = await freshTable('trip')
    const nulls: Row = columns.map(() => null)
    expect(await bulkLoad(test_.database, target, [[row, nulls]])).toBe(2)
    const { rows } = await test_.database.query(
      `select i2, i4, i8::text, f4, f8, b, t, j, raw, u::text, at, st_asewkb(g) as g, v::text, h::text from public.trip order by i2 nulls last`,
    )
    expect(rows[0]).toEqual({
      i2: -32768,
      i4: 2147483647,
      i8: '9007199254740991',
      f4: 0.1,
      f8: Math.PI,
      b: true,
      t: 'a "b" \\ {c,d} \t\n é 😀 end',
      j: { k: 'v\\ "q"', n: [1, null, 'x'] },
      raw: Buffer.of(0, 92, 255),
      u: '0199b1f0-0000-7000-8000-00000000002a',
      at: new Date('2026-11-21T10:11:12.345Z'),
      g: point,
      v: '[1.5,-0.1,3e-08]',
      h: '[1.5,65504,-0.33325195]',
    })
    expect(Object.values(rows[1] ?? {}).every((value) => value === null)).toBe(true)
  })

  test.for(schemas)('many batches arrive whole in %s and vectors are exact', async (schema) => {
    await test_.database.query(`create table ${schema}.many (id bigint primary key, v vector(64))`)
    const target = {
      schema,
      table: 'many',
      columns: [columns[2], columns[12]].map((c, i) => ({ name: i === 0 ? 'id' : 'v', type: (c as Column).type })),
    }
    const vectorOf = (id: number) => Float32Array.from({ length: 64 }, (_, i) => Math.sin(id * 64 + i))
    async function* batches() {
      for (let b = 0; b < 40; b++)
        yield Array.from({ length: 100 }, (_, i): Row => [b * 100 + i, vectorOf(b * 100 + i)])
    }
    const seen: number[] = []
    expect(await bulkLoad(test_.database, target, batches(), { onRows: (rows) => seen.push(rows) })).toBe(4000)
    expect(seen.at(-1)).toBe(4000)
    const { rows } = await test_.database.query<{ id: number; v: string }>(
      `select id, v::text from ${schema}.many where id in (0, 1234, 3999) order by id`,
    )
    for (const { id, v } of rows) expect(Float32Array.from(JSON.parse(v) as number[])).toEqual(vectorOf(id))
    expect(rows).toHaveLength(3)
  })

  test.for(schemas)(
    'a failing source ends the load into %s, its error comes through and the pool goes on',
    async (schema) => {
      const target = await freshTable('failing', schema)
      async function* batches() {
        yield [row]
        throw new Error('the disk is gone')
      }
      await expect(bulkLoad(test_.database, target, batches())).rejects.toThrow('the disk is gone')
      await expectNothingOpen()
      const { rows } = await test_.database.query<{ n: number }>(`select count(*) as n from ${schema}.failing`)
      expect(rows[0]?.n).toBe(0)
    },
  )

  test.for(schemas)('what the server refuses in %s is BULK_LOAD_FAILED with its words', async (schema) => {
    await test_.database.query(`create table ${schema}.picky (i4 int check (i4 > 0))`)
    const target = { schema, table: 'picky', columns: [{ name: 'i4', type: 'int4' } as const] }
    await expect(bulkLoad(test_.database, target, [[[1], [-1]]])).rejects.toMatchObject({
      code: 'BULK_LOAD_FAILED',
      details: expect.stringContaining('picky') as string,
    })
    await expectNothingOpen()
  })

  test.for(schemas)('the signal stops it in %s', async (schema) => {
    const target = await freshTable('stopped', schema)
    const stop = new AbortController()
    async function* batches() {
      yield [row]
      stop.abort(new Error('cancelled by the test'))
      yield [row]
    }
    await expect(bulkLoad(test_.database, target, batches(), { signal: stop.signal })).rejects.toThrow(
      'cancelled by the test',
    )
    await expectNothingOpen()
  })
})

describe('staging', () => {
  const job = '0199b1f0-0000-7000-8000-000000000001'
  const make = async (jobId: string, table: string) => {
    const run = await beginRun(test_.database, jobId)
    const staged = stagedTable(run, 0, 'public', table)
    await test_.database.query(
      `create table terrane_staging.${staged.staging} (id bigserial constraint ${staged.staging}_pkey primary key, a int)`,
    )
    await test_.database.query(`create index ${staged.staging}_a_idx on terrane_staging.${staged.staging} (a)`)
    return { run, staged }
  }

  const hasStaging = async (id: string) => {
    const { rows } = await test_.database.query(
      `select from pg_class where relnamespace = 'terrane_staging'::regnamespace and starts_with(relname, $1)`,
      [`j_${id.replaceAll('-', '')}_`],
    )
    return rows.length > 0
  }

  test('a swap moves the table with its index, constraint and sequence and records the result', async () => {
    const { run, staged } = await make(job, 'swapped')
    expect(await hasStaging(job)).toBe(true)
    await swapIn(test_.database, run, [staged], { rows: 0 })
    await test_.database.query('insert into public.swapped (a) values (7)')
    const { rows } = await test_.database.query(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relname like 'swapped%' order by 1`,
    )
    expect(rows.map((r) => (r as { relname: string }).relname)).toEqual([
      'swapped',
      'swapped_a_idx',
      'swapped_id_seq',
      'swapped_pkey',
    ])
    expect(await appliedResult(test_.database, job)).toEqual({ rows: 0 })
    expect(await hasStaging(job)).toBe(false)
  })

  test('of two swaps to one name at once one is made and the other finds the name taken', async () => {
    const jobs = ['0199b1f0-0000-7000-8000-000000000003', '0199b1f0-0000-7000-8000-000000000004']
    const made = [await make(jobs[0]!, 'contested'), await make(jobs[1]!, 'contested')]
    const held = Promise.withResolvers<void>()
    const swaps = made.map(({ run, staged }, i) =>
      swapIn(test_.database, run, [staged], { i }, async () => {
        // The other transaction has begun: a server lets it wait, the embedded database delays its begin.
        if (i === 0) await held.promise
      }),
    )
    setTimeout(held.resolve, 300)
    const ended = await Promise.allSettled(swaps)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(ended.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'TABLE_EXISTS' } })
    for (const id of jobs) await dropStaging(test_.database, id)
  })

  test('a target that is there by then stops the swap and nothing is changed', async () => {
    const other = '0199b1f0-0000-7000-8000-000000000002'
    const { run, staged } = await make(other, 'swapped')
    await expect(swapIn(test_.database, run, [staged], {})).rejects.toMatchObject({ code: 'TABLE_EXISTS' })
    expect(await appliedResult(test_.database, other)).toBeNull()
    expect(await relationExists(test_.database, 'terrane_staging', staged.staging)).toBe(true)
    await dropStaging(test_.database, other)
    expect(await relationExists(test_.database, 'terrane_staging', staged.staging)).toBe(false)
  })
  test('only the latest run of a job can publish, and none once the job is closed', async () => {
    const id = '0199b1f0-0000-7000-8000-000000000005'
    const [first, second] = [await make(id, 'fenced'), await make(id, 'fenced')]
    expect(first.staged.staging).not.toBe(second.staged.staging)
    expect(second.run).toMatchObject({ number: first.run.number + 1, earlier: [first.run.number] })
    const registered: string[] = []
    const publish = ({ run, staged }: typeof first) =>
      swapIn(test_.database, run, [staged], {}, async () => void registered.push(staged.staging))
    await expect(publish(first)).rejects.toMatchObject({ code: 'RUN_SUPERSEDED' })
    await expect(beginRun(test_.database, id, first.run.number)).rejects.toMatchObject({ code: 'RUN_SUPERSEDED' })
    await closeRuns(test_.database, id)
    await expect(publish(second)).rejects.toMatchObject({ code: 'RUN_SUPERSEDED' })
    await expect(beginRun(test_.database, id)).rejects.toMatchObject({ code: 'RUN_SUPERSEDED' })
    expect(registered).toEqual([])
    expect(await relationExists(test_.database, 'public', 'fenced')).toBe(false)
    expect(await appliedResult(test_.database, id)).toBeNull()

    await dropStaging(test_.database, id, { of: first.run })
    expect(await relationExists(test_.database, 'terrane_staging', first.staged.staging)).toBe(false)
    expect(await relationExists(test_.database, 'terrane_staging', second.staged.staging)).toBe(true)
    await dropStaging(test_.database, id)
    expect(await relationExists(test_.database, 'terrane_staging', second.staged.staging)).toBe(false)
  })

  test('a later run takes the tables over from the one that kept a checkpoint, which keeps none any more', async () => {
    const id = '0199b1f0-0000-7000-8000-000000000007'
    const first = await make(id, 'taken_over')
    await test_.database.query(`insert into terrane_staging.${first.staged.staging} (a) values (7)`)
    expect(await takeOver(test_.database, first.run)).toBeNull()
    await keepCheckpoint(test_.database, first.run, { tiles: 1 })
    const kept = { tiles: 2, at: { y: 1, x: 2 } }
    await keepCheckpoint(test_.database, first.run, kept)

    const lost = await make(id, 'taken_over')
    const run = await beginRun(test_.database, id)
    // Unchanged, including the order of its keys, because files are made from it.
    expect(JSON.stringify(await takeOver(test_.database, run))).toBe(JSON.stringify(kept))
    await expect(keepCheckpoint(test_.database, first.run, { tiles: 3 })).rejects.toMatchObject({
      code: 'RUN_SUPERSEDED',
    })
    await expect(takeOver(test_.database, lost.run)).rejects.toMatchObject({ code: 'RUN_SUPERSEDED' })
    const { rows: left } = await test_.database.query<{ name: string }>(
      `select relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'terrane_staging' and relname like 'j\\_%' order by 1`,
    )
    const { staging } = stagedTable(run, 0, 'public', 'taken_over')
    expect(left.map(({ name }) => name)).toEqual(
      ['', '_a_idx', '_id_seq', '_pkey'].map((end) => staging + end).toSorted(),
    )
    await swapIn(test_.database, run, [stagedTable(run, 0, 'public', 'taken_over')], {})
    expect((await test_.database.query('select a from public.taken_over')).rows).toEqual([{ a: 7 }])
    expect((await test_.database.query('select 1 from terrane.job_checkpoints')).rows).toEqual([])
  })

  test('rows that came after a checkpoint with rows to follow are taken out, and stay after one without', async () => {
    const id = '0199b1f0-0000-7000-8000-000000000009'
    const { run, staged } = await make(id, 'followed')
    const add = (table: string, value: number) =>
      test_.database.query(`insert into terrane_staging.${table} (a) values (${value})`)
    await add(staged.staging, 1)
    await keepCheckpoint(test_.database, run, 'one row', { rowsFollow: true })
    await add(staged.staging, 2)
    const values = async (of: typeof run) => {
      const { staging } = stagedTable(of, 0, 'public', 'followed')
      return (await test_.database.query(`select a from terrane_staging.${staging} order by a`)).rows.map(({ a }) => a)
    }
    const second = await beginRun(test_.database, id)
    expect([await takeOver(test_.database, second), await values(second)]).toEqual(['one row', [1]])
    await add(stagedTable(second, 0, 'public', 'followed').staging, 3)
    const third = await beginRun(test_.database, id)
    expect([await takeOver(test_.database, third), await values(third)]).toEqual(['one row', [1]])
    await keepCheckpoint(test_.database, third, 'all')
    await add(stagedTable(third, 0, 'public', 'followed').staging, 4)
    const last = await beginRun(test_.database, id)
    expect([await takeOver(test_.database, last), await values(last)]).toEqual(['all', [1, 4]])
    // A job cannot continue without its staging tables, e.g. in a database that was restored without them.
    await dropStaging(test_.database, id)
    expect(await takeOver(test_.database, await beginRun(test_.database, id))).toBeNull()
    await dropCheckpoint(test_.database, id)
  })

  test.runIf(testLane() === 'postgres')('tables that a lost run still writes into are not waited for', async () => {
    const id = '0199b1f0-0000-7000-8000-000000000008'
    const { run, staged } = await make(id, 'held')
    await keepCheckpoint(test_.database, run, { tiles: 1 })
    const later = await beginRun(test_.database, id)
    await test_.database.transaction(async (session) => {
      await session.query(`insert into terrane_staging.${staged.staging} (a) values (1)`)
      expect(await takeOver(test_.database, later)).toBeNull()
    })
    await dropCheckpoint(test_.database, id)
    await dropStaging(test_.database, id)
  })

  test('a run that begins while an earlier one is swapping in waits for it and finds its result', async () => {
    const id = '0199b1f0-0000-7000-8000-000000000006'
    const { run, staged } = await make(id, 'in_time')
    const { promise: inside, resolve: enter } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const swap = swapIn(test_.database, run, [staged], { by: run.number }, async () => {
      enter()
      await released
    })
    await inside
    const next = beginRun(test_.database, id).then(() => appliedResult(test_.database, id))
    release()
    await swap
    expect(await next).toEqual({ by: run.number })
  })
})
