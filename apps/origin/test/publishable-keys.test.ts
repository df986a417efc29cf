import { Keys } from '@terrane/control'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin, settingsOf } from './harness.ts'

const PAGE = 'https://maps.example.org'

let plain: TestOrigin
let origin: TestOrigin
let keys: Keys
let key: string
let id: string
let anonKey: string
beforeAll(async () => {
  plain = await openOrigin()
  const env = { TERRANE_CONTROL_DATABASE_URL: plain.db.url, ...settingsOf({}, { keys: { cacheMs: 0 } }) }
  origin = await openOrigin(env, plain)
  const { database } = plain.db
  await database.query(`
    create table public.shown (id int primary key, geom geometry(Point, 4326));
    insert into public.shown values (1, 'SRID=4326;POINT(11.58 48.14)');
    create table public.other as select * from public.shown;
    grant select on public.shown, public.other to anon`)
  keys = new Keys(database, null)
  const { rows } = await database.query<{ id: string; organization_id: string }>(
    'select id, organization_id from terrane.projects',
  )
  const project = { projectId: rows[0]!.id, organizationId: rows[0]!.organization_id, role: 'anon' as const }
  const issued = await keys.issue({ ...project, limits: { tables: ['public.shown'], origins: [PAGE] } })
  key = issued.key
  id = issued.record.id
  anonKey = (await keys.issue(project)).key
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  await plain[Symbol.asyncDispose]()
})

const ask = (path: string, headers: Record<string, string> = { origin: PAGE }, base = origin.url) =>
  fetch(`${base}${path}${path.includes('?') ? '&' : '?'}apikey=${key}`, { headers })
const TILE = '/10/544/355'

test('a publishable key in the URL opens tiles of its tables to pages of its origins', async () => {
  expect((await ask(`/vector/v1/public.shown${TILE}`)).status).toBe(200)
  expect((await ask(`/vector/v1/shown${TILE}`, { referer: `${PAGE}/map.html` })).status).toBe(200)
  const { tiles } = (await (await ask('/vector/v1/shown')).json()) as { tiles: string[] }
  // A map with this description requests tiles with the same key.
  expect(tiles[0]).toContain(`apikey=${key}`)
  expect(await (await ask('/vector/v1/catalog')).json()).toMatchObject({ tiles: { 'public.shown': {} } })
  expect(Object.keys(((await (await ask('/vector/v1/catalog')).json()) as { tiles: object }).tiles)).toEqual([
    'public.shown',
  ])
})

test.each([
  [`/vector/v1/other${TILE}`, { origin: PAGE }, 404],
  ['/vector/v1/other', { origin: PAGE }, 404],
  ['/vector/v1/shown/stats?property=id', { origin: PAGE }, 403],
  [`/vector/v1/shown${TILE}`, {}, 403],
  [`/vector/v1/shown${TILE}`, { origin: 'https://elsewhere.example.org' }, 403],
  [`/vector/v1/shown${TILE}`, { origin: 'https://elsewhere.example.org', referer: `${PAGE}/` }, 403],
  [`/vector/v1/shown${TILE}`, { referer: 'https://maps.example.org.evil.example/' }, 403],
  ['/rest/v1/shown', { origin: PAGE }, 401],
  ['/export/v1/shown', { origin: PAGE }, 401],
  ['/storage/v1/bucket', { origin: PAGE }, 401],
])('and nothing else: %s with %o is %i', async (path, headers, status) => {
  expect((await ask(path, headers as Record<string, string>)).status).toBe(status)
})

test('in a header it opens nothing', async () => {
  for (const path of [`/vector/v1/shown${TILE}`, '/rest/v1/shown', '/export/v1/shown', '/storage/v1/bucket']) {
    for (const headers of [{ apikey: key }, { authorization: `Bearer ${key}` }]) {
      const { status } = await fetch(`${origin.url}${path}`, { headers: { ...headers, origin: PAGE } })
      expect([path, status]).toEqual([path, 401])
    }
  }
})

test('no other key is taken from a URL', async () => {
  for (const other of [anonKey, origin.keys.anon, origin.keys.service, origin.keys.user, 'nothing']) {
    const { status } = await fetch(`${origin.url}/vector/v1/shown${TILE}?apikey=${other}`, {
      headers: { origin: PAGE },
    })
    expect(status).toBe(401)
  }
  expect((await fetch(`${origin.url}/vector/v1/shown${TILE}`, { headers: { apikey: anonKey } })).status).toBe(200)
  const alone = await ask(`/vector/v1/shown${TILE}`, { origin: PAGE }, plain.url)
  expect(alone.status).toBe(401)
})

test('it keeps its limits when it is rotated, and ends when it is revoked', async () => {
  const { key: next, record } = await keys.rotate(id, 0)
  const status = async (of: string, table: string) =>
    (await fetch(`${origin.url}/vector/v1/${table}${TILE}?apikey=${of}`, { headers: { origin: PAGE } })).status
  expect([await status(next, 'shown'), await status(next, 'other'), await status(key, 'shown')]).toEqual([
    200, 404, 401,
  ])
  await keys.revoke(record.id)
  expect(await status(next, 'shown')).toBe(401)
})
