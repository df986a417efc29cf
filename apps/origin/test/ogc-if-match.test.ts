import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

// `If-Match` is evaluated in the transaction of the change, for tables, views, and roles that may only remove.

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.held (id int primary key, name text, geom geometry(Point, 4326));
    insert into public.held select i, 'n' || i, 'SRID=4326;POINT(1 2)' from generate_series(1, 9) i;
    create view public.seen as select * from public.held;
    create view public.grouped as select id, min(name) as name, st_union(geom)::geometry(Point, 4326) as geom from public.held group by id;
    create function public.rename() returns trigger language plpgsql as
      $$ begin update public.held set name = new.name where id = old.id; return new; end $$;
    create trigger renamed instead of update on public.grouped for each row execute function public.rename();
    create table public.ended (id int primary key, name text, geom geometry(Point, 4326));
    insert into public.ended select * from public.held;
    revoke all on public.held, public.seen, public.grouped, public.ended from service_role;
    grant all on public.held, public.seen, public.grouped to service_role;
    grant select, delete on public.ended to service_role`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (method: string, path: string, tag?: string, name = 'x') =>
  fetch(`${origin.url}/ogc/v1/collections/public.${path}`, {
    method,
    headers: {
      apikey: origin.keys.service,
      ...(tag !== undefined && { 'if-match': tag }),
      ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }),
    },
    ...(method === 'PATCH' && { body: JSON.stringify({ properties: { name } }) }),
  })
const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status
const tagOf = async (path: string) => (await ask('GET', path)).headers.get('etag')!
const nameOf = async (id: number) =>
  (await origin.db.database.query(`select name from public.held where id = ${id}`)).rows[0]?.['name']

test.each(['held', 'seen'])('one of many changes at once of %s wins, and the others are told', async (table) => {
  const path = `${table}/items/1`
  const tag = await tagOf(path)
  const names = Array.from({ length: 8 }, (_, i) => `${table} ${i}`)
  const all = await Promise.all(names.map((name) => statusOf('PATCH', path, tag, name)))
  expect(all.toSorted((a, b) => a - b)).toEqual([204, 412, 412, 412, 412, 412, 412, 412])
  expect(await nameOf(1)).toBe(names[all.indexOf(204)])
})

test('the rows of a view with groups are compared without a lock', async () => {
  const tag = await tagOf('grouped/items/2')
  expect(await statusOf('PATCH', 'grouped/items/2', tag, 'first')).toBe(204)
  expect(await statusOf('PATCH', 'grouped/items/2', tag, 'second')).toBe(412)
  expect(await nameOf(2)).toBe('first')
})

test('a role that may only remove removes the feature that it has seen', async () => {
  const path = 'ended/items/3'
  const tag = await tagOf(path)
  await origin.db.database.query(`update public.ended set name = 'changed' where id = 3`)
  expect([await statusOf('DELETE', path, tag), await statusOf('GET', path)]).toEqual([412, 200])
  expect([await statusOf('DELETE', path, await tagOf(path)), await statusOf('GET', path)]).toEqual([204, 404])
})

test('an id that the key cannot have is no feature', async () => {
  for (const method of ['PATCH', 'DELETE']) expect(await statusOf(method, 'held/items/none', '*')).toBe(412)
  expect(await statusOf('DELETE', 'held/items/none')).toBe(404)
})

test('an ETag of an encoded answer names the feature, and a weak one does not', async () => {
  const tag = await tagOf('held/items/4')
  const encoded = `${tag.slice(0, -1)}-br"`
  expect([await statusOf('PATCH', 'held/items/4', `W/${encoded}`), await nameOf(4)]).toEqual([412, 'n4'])
  expect([await statusOf('PATCH', 'held/items/4', `"other", ${encoded}`), await nameOf(4)]).toEqual([204, 'x'])
})

test('features may be asked for by the names of other services', async () => {
  const idsOf = async (query: string) => {
    const body = (await (await ask('GET', `held/items?${query}`)).json()) as { features: { id: number }[] }
    return body.features.map(({ id }) => id)
  }
  expect(await idsOf('f=geojson&limit=2&startindex=3')).toEqual([4, 5])
  const page = (await (await ask('GET', 'held/items?limit=2&startindex=3')).json()) as {
    links: Record<string, string>[]
  }
  const next = page.links.find(({ rel }) => rel === 'next')!['href']!
  expect(await idsOf(new URL(next).search.slice(1))).toEqual([6, 7])
  expect(await statusOf('GET', 'held/items/1?f=geojson')).toBe(200)
  for (const query of ['startindex=1&offset=1', 'startindex=-1', 'f=csv'])
    expect(await statusOf('GET', `held/items?${query}`)).toBe(400)
  expect(await statusOf('GET', 'held?f=geojson')).toBe(400)
})
