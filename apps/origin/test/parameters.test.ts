import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
let signed: string
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.spots (id int primary key, name text, geom geometry(Point, 4326));
    insert into public.spots select n, 'spot ' || n, st_setsrid(st_makepoint(11.5 + n / 100.0, 48.1), 4326) from generate_series(1, 9) n;
    grant select on public.spots to anon;
    create function public.twice(n int) returns int language sql immutable as 'select 2 * n';`)
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('open', { public: true })
  await storage.from('open').upload('a.txt', Buffer.from('text'))
  const { data } = await storage.from('open').createSignedUrl('a.txt', 60)
  signed = new URL(data?.signedUrl ?? '').pathname
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (path: string, key = origin.keys.anon) => fetch(origin.url + path, { headers: { apikey: key } })
const code = async (path: string) => {
  const answer = await ask(path)
  const body = (await answer.json()) as { code?: string; hint?: string; message?: string }
  return [answer.status, body.code, body.message?.split(' ')[3]]
}

test('a parameter that may stand once is refused when it stands twice, whichever route reads it', async () => {
  const cases = [
    ['/rest/v1/spots?limit=1&limit=5', 'limit'],
    ['/rest/v1/spots?select=id&select=name', 'select'],
    ['/rest/v1/spots?offset=1&order=id&offset=2', 'offset'],
    ['/rest/v1/?openapi=2&openapi=3.1', 'openapi'],
    ['/rest/v1/rpc/twice?n=1&n=2', 'n'],
    ['/vector/v1/public.spots/9/272/177.pbf?limit=1&limit=2', 'limit'],
    ['/vector/v1/public.spots/9/272/177.pbf?properties=id&properties=name', 'properties'],
    ['/vector/v1/public.spots?buffer=1&buffer=2', 'buffer'],
    ['/export/v1/public.spots?format=CSV&format=GeoJSON', 'format'],
    ['/export/v1/public.spots?format=CSV&columns=id&columns=name', 'columns'],
    ['/storage/v1/object/public/open/a.txt?download=a&download=b', 'download'],
    [`${signed}?token=a&token=b`, 'token'],
  ] as const
  for (const [path, name] of cases) expect(await code(path), path).toEqual([400, 'PARAMETER_REPEATED', name])
})

test('filters, logic trees and orders stand as often as they are needed', async () => {
  const rows = await (
    await ask('/rest/v1/spots?id=gt.2&id=lt.6&or=(id.eq.3,id.eq.5)&order=name.desc&order=id&select=id')
  ).json()
  expect(rows).toEqual([{ id: 5 }, { id: 3 }])
  expect((await ask('/vector/v1/public.spots/9/272/177.pbf?id=gt.2&id=lt.6')).status).toBeLessThan(300)
  expect(await (await ask('/export/v1/public.spots?format=CSV&columns=id&id=gt.2&id=lt.4')).text()).toContain('3')
  expect(await (await ask('/rest/v1/rpc/twice?n=4')).json()).toBe(8)
})

test('a question mark within the query is text of a value', async () => {
  expect(await (await ask('/rest/v1/spots?name=eq.what?&select=id')).json()).toEqual([])
  expect(await (await ask('/export/v1/public.spots?name=eq.what?&format=CSV&columns=id')).text()).not.toContain('POINT')
})
