// Slow: the database makes answers of many megabytes.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

const MIB = 1024 * 1024

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.large (id int primary key, name text, mark int default 1);
    insert into public.large select i, repeat('x', 1000000) from generate_series(1, 80) i;
    create table public.copies (large int references public.large (id), name text);
    insert into public.copies select 1, repeat('x', 1000000) from generate_series(1, 1100) i;
    grant select on public.copies to anon, authenticated, service_role;
    create function public.large_text(mib int) returns text language sql stable as $$ select repeat('x', mib * 1048576) $$;
    create function public.large_texts(n int) returns setof text language sql stable as $$ select repeat('x', 1048576) from generate_series(1, n) $$;
    grant select on public.large to anon, authenticated;
    grant all on public.large to service_role;
  `)
})
afterAll(() => origin[Symbol.asyncDispose]())

const get = (path: string, key: string) => fetch(`${origin.url}/rest/v1${path}`, { headers: { apikey: key } })
const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${i}:name`).join(',')
const KEYS = [
  ['anon', 16],
  ['user', 32],
  ['service', 64],
] as const

test.each(KEYS)('an answer for the key %s has at most %i MiB, however few its rows are', async (name, mib) => {
  const key = origin.keys[name]
  const large = `/large?select=name&limit=${mib + 6}`
  const paths = [large, `/large?select=id,name`, `/rpc/large_text?mib=${mib}`, `/rpc/large_texts?n=${mib + 6}`]
  for (const path of paths) {
    const refused = await get(path, key)
    expect(refused.status).toBe(413)
    expect(await refused.json()).toMatchObject({
      code: 'ANSWER_TOO_LARGE',
      message: expect.stringContaining(String(mib * MIB)) as string,
      hint: expect.stringContaining('fewer rows or columns') as string,
    })
  }
  const small = await get(`/large?select=name&limit=${mib / 2}`, key)
  expect(small.status).toBe(200)
  expect((await small.text()).length).toBeGreaterThan(1_000_000 * (mib / 2))
})

test('rows are counted before the database server has made an answer of them', async () => {
  // The answer would have 1.2 GB, more than a text of the server can hold, so the server would fail or run out of
  // memory.
  for (const path of ['/rpc/large_texts?n=1200', '/large?select=name,copies:copies!inner(name)&limit=1']) {
    const refused = await get(path, origin.keys.service)
    expect([refused.status, await refused.json()]).toMatchObject([413, { code: 'ANSWER_TOO_LARGE' }])
  }
})

test('large rows of lists that are within their bytes are whole', async () => {
  const texts = (await (await get('/rpc/large_texts?n=12', origin.keys.anon)).json()) as string[]
  expect(texts.map((text) => text.length)).toEqual(Array.from({ length: 12 }, () => 1_048_576))
  const [row] = (await (
    await get('/large?select=id,copies(name)&limit=1&copies.limit=5', origin.keys.anon)
  ).json()) as [{ copies: { name: string }[] }]
  expect(row.copies.map(({ name }) => name.length)).toEqual(Array.from({ length: 5 }, () => 1_000_000))
})

test('a change that answers more is undone', async () => {
  const changed = await fetch(`${origin.url}/rest/v1/large?select=name`, {
    method: 'PATCH',
    headers: { apikey: origin.keys.service, 'content-type': 'application/json', prefer: 'return=representation' },
    body: '{"mark":2}',
  })
  expect(changed.status).toBe(413)
  expect(await (await get('/large?select=id&mark=neq.1', origin.keys.anon)).json()).toEqual([])
})

test('one column under many names is refused before the server makes them all', async () => {
  for (const select of [aliases(34), `${aliases(20)},b0:name::varchar,${aliases(14)}`]) {
    const refused = await get(`/large?id=eq.1&select=${select}`, origin.keys.service)
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { code: 'PGRST100', details: '32 items at most read a column or path that another one reads' },
    ])
  }
  expect((await get(`/large?id=eq.1&select=${aliases(33)}`, origin.keys.service)).status).toBe(200)
})
