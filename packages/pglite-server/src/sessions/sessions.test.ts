import type { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { connect as connectTo, type TestClient } from '../../test/clients.ts'
import { openScripts, runAlone, runTogether } from '../../test/session-scripts.ts'
import { startPgliteServer, type PgliteServer } from '../server.ts'

let server: PgliteServer
beforeAll(async () => {
  server = await startPgliteServer({
    limits: { idleInTransactionMs: 300, idleHoldingMs: 300 },
  })
  const client = await connectTo(server.url)
  await client.query('create role reader; create role writer; create schema other')
  await client.query(
    `create function of_its_own() returns text language sql as $$ select set_config('a.b', 'x', false) $$`,
  )
  await client.end()
})
afterAll(() => server.close())

async function connect(query = ''): Promise<TestClient> {
  const client = await connectTo(server.url + query)
  onTestFinished(() => client.end())
  return client
}

const STATE = `select current_user::text as who, current_setting('search_path') as path,
  current_setting('statement_timeout') as timeout, nullif(current_setting('request.jwt.claims', true), '') as claims`
const state = async (client: Client) => (await client.query(STATE)).rows[0] as unknown
const FRESH = { who: 'postgres', path: 'public', timeout: '0', claims: null }

test('what one client sets holds for it alone, for as long as it is connected', async () => {
  const [a, b] = [await connect(), await connect()]
  await a.query(`set search_path to other, public; set statement_timeout = '5s'`)
  await a.query(`select set_config($1, $2, false)`, ['request.jwt.claims', '{"sub": "a"}'])
  await a.query('set role reader')
  const mine = { who: 'reader', path: 'other, public', timeout: '5s', claims: '{"sub": "a"}' }
  expect(await state(b)).toEqual(FRESH)
  await b.query('/* ; */ set role writer')
  expect(await state(a)).toEqual(mine)
  expect(await state(b)).toEqual({ ...FRESH, who: 'writer' })
  await b.query('reset role')
  expect([await state(a), await state(b)]).toEqual([mine, FRESH])
  await a.end()
  expect(await state(await connect())).toEqual(FRESH)
})

test('what a transaction sets holds when it is committed', async () => {
  const [a, b] = [await connect(), await connect()]
  await a.query(
    `begin; set role reader; rollback; begin; set statement_timeout = '7s'; commit; begin; set local role writer; commit`,
  )
  expect(await state(b)).toEqual(FRESH)
  expect(await state(a)).toEqual({ ...FRESH, timeout: '7s' })
})

test('what a block or a function sets behind the text does not reach other clients', async () => {
  const [a, b] = [await connect(), await connect()]
  await a.query(`do $$ begin set role reader; end $$`)
  await a.query('select of_its_own()')
  const { rows } = await b.query(`select current_user::text as who, nullif(current_setting('a.b', true), '') as ab`)
  expect(rows).toEqual([{ who: 'postgres', ab: null }])
  expect(await state(a)).toMatchObject({ who: 'reader' })
})

test('a connection has the settings that it was opened with', async () => {
  const [a, b] = [await connect('?options=-c%20search_path%3Dother%20-c%20statement_timeout%3D9s'), await connect()]
  expect(await state(b)).toEqual(FRESH)
  expect(await state(a)).toEqual({ ...FRESH, path: 'other', timeout: '9s' })
})

test('prepared statements of one name are each client’s own', async () => {
  const [a, b] = [await connect(), await connect()]
  for (let i = 0; i < 3; i++) {
    expect((await a.query({ name: 's', text: 'select $1::int + 1 as n', values: [i] })).rows).toEqual([{ n: i + 1 }])
    expect((await b.query({ name: 's', text: 'select $1::int * 10 as n', values: [i] })).rows).toEqual([{ n: i * 10 }])
  }
  // The statement is parsed, although its first execution fails.
  await expect(a.query({ name: 'f', text: 'select 1 / $1::int as n', values: [0] })).rejects.toMatchObject({
    code: '22012',
  })
  await b.query('select 1')
  expect((await a.query({ name: 'f', text: 'select 1 / $1::int as n', values: [1] })).rows).toEqual([{ n: 1 }])
})

test('a temporary table keeps the session for its client, until that says nothing while others wait', async () => {
  const [a, b] = [await connect(), await connect()]
  await a.query('create temporary table mine as select 1 as n')
  expect((await a.query('select * from mine')).rows).toEqual([{ n: 1 }])
  await expect(b.query('select * from mine')).rejects.toMatchObject({ code: '42P01' })
  await expect.poll(() => a.last).toMatchObject({ code: '57P05' })

  const c = await connect()
  await c.query('create temporary table mine (n int); drop table mine')
  await b.query('select 1')
  expect((await c.query('select 1 as n')).rows).toEqual([{ n: 1 }])
})

test('an idle transaction is ended in words when others wait for it', async () => {
  const [a, b] = [await connect(), await connect()]
  await a.query('begin; create table of_the_idle (n int)')
  expect((await b.query(`select to_regclass('of_the_idle') as t`)).rows).toEqual([{ t: null }])
  await expect.poll(() => a.last).toMatchObject({ code: '25P03' })
})

test('random sessions at once answer as each does alone', async () => {
  const scripts = openScripts(60, 7)
  const alone = await runAlone(server.url, scripts)
  expect(await runTogether(server.url, scripts, 8, 11)).toEqual(alone)
})
