import { spawn, spawnSync } from 'node:child_process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import copyStreams from 'pg-copy-streams'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import type { Session } from '../src/index.ts'

let own: TestDatabase
beforeAll(async () => {
  own = await openTestDatabase()
  await own.database.query(`create table public.copied (n int primary key, t text);
    create role loader; grant insert, select on public.copied to loader`)
})
afterAll(async () => {
  await own.database.query('drop table public.copied; drop role loader')
  await own[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await own.database.query('truncate public.copied')
})

const copyIn = ({ client }: Session, sql: string, chunks: Iterable<string | Buffer>) =>
  pipeline(Readable.from(chunks), client.query(copyStreams.from(sql)))
const copyOut = ({ client }: Session, sql: string) => text(client.query(copyStreams.to(sql)))
const contents = async () => (await own.database.query('select * from public.copied order by n')).rows

test('rows go in as text and CSV and come out again', async () => {
  await own.database.session(async (session) => {
    await copyIn(session, 'copy public.copied from stdin', ['1\tone\n2\t', 'tw', 'o\n3\t\\N\n'])
    const csv = 'copy public.copied (t, n) from stdin with (format csv, header)'
    await copyIn(session, csv, ['t,n\n"fo,ur",4\n"fi\nve",5\n'])
    expect(await contents()).toEqual([
      { n: 1, t: 'one' },
      { n: 2, t: 'two' },
      { n: 3, t: null },
      { n: 4, t: 'fo,ur' },
      { n: 5, t: 'fi\nve' },
    ])
    expect(await copyOut(session, 'copy (select n, t from public.copied order by n) to stdout')).toBe(
      '1\tone\n2\ttwo\n3\t\\N\n4\tfo,ur\n5\tfi\\nve\n',
    )
    const binary = await session.client.query(copyStreams.to('copy public.copied to stdout (format binary)')).toArray()
    await session.query('truncate public.copied')
    await copyIn(session, 'copy public.copied from stdin (format binary)', binary as Buffer[])
    expect(await contents()).toHaveLength(5)
  })
})

test('many rows go in and out while the reader takes its time', async () => {
  const lines = function* () {
    for (let i = 0; i < 200_000; i += 1000)
      yield Array.from({ length: 1000 }, (_, j) => `${i + j}\t${'x'.repeat(300)}\n`).join('')
  }
  await own.database.session(async (session) => {
    await copyIn(session, 'copy public.copied from stdin', lines())
    let bytes = 0
    for await (const chunk of session.client.query(copyStreams.to('copy public.copied to stdout'))) {
      bytes += (chunk as Buffer).length
      if (bytes % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const { rows } = await session.query('select sum(length(n::text) + 302) as bytes from public.copied')
    expect(bytes).toBe((rows[0] as { bytes: number }).bytes)
  })
})

test('what is wrong with a COPY is said as a server says it, and the connection goes on', async () => {
  await own.database.session(async (session) => {
    const wrong: [string, string, string][] = [
      ['copy public.nowhere from stdin', '1\tone\n', '42P01'],
      ['copy public.copied from stdin', 'one\t1\n', '22P02'],
      ['copy public.copied from stdin', '1\tone\n1\ttwice\n', '23505'],
      ['copy public.copied from stdin', '1\n', '22P04'],
    ]
    for (const [sql, data, code] of wrong) {
      await expect(copyIn(session, sql, [data])).rejects.toMatchObject({ code })
      expect((await session.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    }
    const failing = function* () {
      yield '1\tone\n'
      throw new Error('the source has failed')
    }
    await expect(copyIn(session, 'copy public.copied from stdin', failing())).rejects.toThrow('the source has failed')
    expect((await session.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    // The driver itself has nothing to send.
    for (const values of [undefined, []]) {
      const asked = session.client.query({ text: 'copy public.copied from stdin', ...(values && { values }) })
      await expect(asked).rejects.toMatchObject({ code: '57014' })
    }
  })
  expect(await contents()).toEqual([])
})

test('a COPY is a part of its transaction and runs under its role', async () => {
  await own.database.session(async (session) => {
    await session.query('begin; set local role loader')
    await copyIn(session, 'copy public.copied from stdin', ['1\tone\n'])
    expect((await session.query('select count(*) as n, current_user::text as who from public.copied')).rows).toEqual([
      { n: 1, who: 'loader' },
    ])
    await session.query('rollback')
    expect(await contents()).toEqual([])
    await session.query('begin; set local role anon')
    await expect(copyIn(session, 'copy public.copied from stdin', ['1\tone\n'])).rejects.toMatchObject({
      code: '42501',
    })
    await expect(session.query('select 1')).rejects.toMatchObject({ code: '25P02' })
    await session.query('rollback')
    await session.query('begin')
    await copyIn(session, 'copy public.copied from stdin', ['1\tone\n'])
    await session.query('commit')
  })
  expect(await contents()).toEqual([{ n: 1, t: 'one' }])
})

test('clients at once copy without touching each other', async () => {
  const load = (i: number) =>
    own.database.session((session) =>
      copyIn(session, 'copy public.copied from stdin', [`${i * 2}\ta\n`, `${i * 2 + 1}\tb\n`]),
    )
  await Promise.all(Array.from({ length: 20 }, (_, i) => load(i)))
  expect(await contents()).toHaveLength(40)
})

const hasPsql = spawnSync('psql', ['--version']).status === 0

test.runIf(hasPsql)('psql copies from and to files (SKIPPED without psql)', async () => {
  const psql = spawn('psql', [own.url, '-v', 'ON_ERROR_STOP=1', '-q'], { stdio: ['pipe', 'pipe', 'inherit'] })
  psql.stdin.end(`copy public.copied from stdin;
1	one
2	two
\\.
\\copy (select t from public.copied order by n) to stdout
`)
  const [said, code] = await Promise.all([text(psql.stdout), new Promise((resolve) => psql.once('exit', resolve))])
  expect([said, code]).toEqual(['one\ntwo\n', 0])
})

test.runIf(testLane() === 'pglite')('one among other statements is refused (embedded database only)', async () => {
  await own.database.session(async (session) => {
    const { client } = session
    for (const values of [undefined, []]) {
      const asked = client.query({ text: 'begin; copy public.copied from stdin', ...(values && { values }) })
      await expect(asked).rejects.toMatchObject({ code: '0A000' })
    }
    expect((await session.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})
