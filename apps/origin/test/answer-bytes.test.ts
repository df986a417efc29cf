import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

const MIB = 1024 * 1024

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.large (id int primary key, name text, mark int default 1);
    insert into public.large select i, repeat('x', 1000000) from generate_series(1, 80) i;
    create function public.large_text(mib int) returns text language sql stable as $$ select repeat('x', mib * 1048576) $$;
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
  for (const path of [large, `/rpc/large_text?mib=${mib}`]) {
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
  expect(
    (await get('/large?id=eq.1&select=a:count(),b:count(),c:id.max(),d:id.min()', origin.keys.service)).status,
  ).toBeLessThan(500)
})
