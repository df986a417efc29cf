import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

const MIB = 1024 * 1024

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.large (id int primary key, name text);
    insert into public.large values (1, repeat('x', 1000000));
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
  const large = `/large?id=eq.1&select=${aliases(mib + 6)}`
  for (const path of [large, `/rpc/large_text?mib=${mib}`]) {
    const refused = await get(path, key)
    expect(refused.status).toBe(413)
    expect(await refused.json()).toMatchObject({
      code: 'ANSWER_TOO_LARGE',
      message: expect.stringContaining(String(mib * MIB)) as string,
      hint: expect.stringContaining('fewer rows or columns') as string,
    })
  }
  const small = await get(`/large?id=eq.1&select=${aliases(mib / 2)}`, key)
  expect(small.status).toBe(200)
  expect((await small.text()).length).toBeGreaterThan(1_000_000 * (mib / 2))
})

test('a change that answers more is undone', async () => {
  const changed = await fetch(`${origin.url}/rest/v1/large?id=eq.1&select=${aliases(70)}`, {
    method: 'PATCH',
    headers: { apikey: origin.keys.service, 'content-type': 'application/json', prefer: 'return=representation' },
    body: '{"id":2}',
  })
  expect(changed.status).toBe(413)
  expect(await (await get('/large?select=id', origin.keys.anon)).json()).toEqual([{ id: 1 }])
})
