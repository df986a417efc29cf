import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect as connectTo, openPool } from '../test/clients.ts'
import { startPgliteServer, type PgliteServer } from './server.ts'

let server: PgliteServer
let pool: Pool
beforeAll(async () => {
  server = await startPgliteServer()
  pool = openPool(server.url)
  await pool.query('create table t (a int primary key, b text)')
})
afterAll(async () => {
  await pool.end()
  await server.close()
})

const connect = () => connectTo(server.url)

test('parameters of many clients at once never mix', async () => {
  const answers = await Promise.all(
    Array.from({ length: 400 }, async (_, i) => {
      const text = i % 2 ? 'select $1::int * 2 as n' : 'select $1::text || $2::text as n'
      const { rows } = await pool.query<{ n: unknown }>(text, i % 2 ? [i] : [String(i), 'x'])
      return rows[0]?.n
    }),
  )
  expect(answers).toEqual(Array.from({ length: 400 }, (_, i) => (i % 2 ? i * 2 : `${i}x`)))
})

test('a failing query with parameters leaves its connection usable, in and out of a transaction', async () => {
  const client = await connect()
  for (let i = 0; i < 3; i++) {
    await expect(client.query('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' })
    await client.query('begin')
    await expect(client.query('insert into t values ($1, $2)', [null, 'x'])).rejects.toMatchObject({ code: '23502' })
    await expect(client.query('select $1::int', [1])).rejects.toMatchObject({ code: '25P02' })
    await client.query('rollback')
  }
  expect((await client.query('select $1::int as n', [5])).rows).toEqual([{ n: 5 }])
  await client.end()
})

test('a transaction keeps the others out until it ends', async () => {
  const writer = await connect()
  await writer.query('begin')
  await writer.query('insert into t values (1, $1)', ['mine'])
  let seen: unknown = 'waiting'
  const reader = pool.query('select count(*)::int as n from t where a = 1').then(({ rows }) => (seen = rows[0]))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(seen).toBe('waiting')
  await writer.query('commit')
  await reader
  expect(seen).toEqual({ n: 1 })
  await writer.end()
})

test('a client that connects is told who has the session, and nothing while it is free', async () => {
  const told = async () => {
    const client = new Client({ connectionString: server.url })
    let held: string | null = null
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
    connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
      if (parameterName === 'terrane.held') held = parameterValue!
    })
    await client.connect()
    await client.end()
    return held
  }
  const builder = new Client({ connectionString: server.url, application_name: 'an index\nbuilder' })
  await builder.connect()
  await builder.query('begin')
  expect(await told()).toMatch(/^\d+ an index\?builder$/)
  await builder.query('commit')
  expect(await told()).toBeNull()
  await builder.end()
})

test('a client that dies inside a transaction is rolled back and the others go on', async () => {
  const dying = await connect()
  await dying.query('begin')
  await dying.query(`insert into t values (2, 'lost')`)
  const after = pool.query('select count(*)::int as n from t where a = 2')
  ;(dying as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
  expect((await after).rows).toEqual([{ n: 0 }])
})

test('a parameter of ten megabytes arrives whole', async () => {
  const text = 'x'.repeat(10_000_000)
  expect((await pool.query('select length($1::text) as n', [text])).rows).toEqual([{ n: 10_000_000 }])
})

test('two hundred connections come and go', async () => {
  for (let round = 0; round < 10; round++) {
    const clients = await Promise.all(Array.from({ length: 20 }, connect))
    const answers = await Promise.all(clients.map((client, i) => client.query('select $1::int as n', [i])))
    expect(answers.map(({ rows }) => (rows[0] as { n: number }).n)).toEqual(clients.map((_, i) => i))
    await Promise.all(clients.map((client) => client.end()))
  }
})

test('thousands of errors leave the stack where it was', async () => {
  // Without the reset, each error would leave 1.2 kB on a stack of some megabytes.
  for (let round = 0; round < 25; round++) {
    const failing = Array.from({ length: 100 }, () => pool.query('select 1 / 0'))
    const outcomes = await Promise.allSettled(failing)
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { code?: string }).code : '',
    )
    expect(new Set(codes)).toEqual(new Set(['22012']))
  }
  expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }])
})

test('a connection whose settings are wrong is refused in words', async () => {
  const client = new Client({ connectionString: `${server.url}?options=-c%20statement_timeout%3Dsoon` })
  client.on('error', () => {})
  await expect(client.connect()).rejects.toMatchObject({ code: '22023', severity: 'FATAL' })
})

test('clients connect while a transaction of another client is open', async () => {
  const first = await connect()
  await first.query('begin')
  await expect(connect().then((second) => second.end())).resolves.toBeUndefined()
  await first.query('rollback')
  await first.end()
})

test('encodings other than UTF8 are refused, and the client goes on', async () => {
  const client = await connect()
  for (const sql of [`set client_encoding = 'LATIN1'`, `set names 'WIN1252'`, `select convert_to('a', 'EUC_JP')`]) {
    await expect(client.query(sql)).rejects.toMatchObject({ code: expect.stringMatching(/^(22023|42883|0A000)$/) })
  }
  await client.query(`set client_encoding = 'UTF8'`)
  expect((await client.query(`select 'é' as letter`)).rows).toEqual([{ letter: 'é' }])
  await client.end()
})
