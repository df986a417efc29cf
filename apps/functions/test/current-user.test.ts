import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ANON_KEY, startApp, token, type TestApp } from './support/app.ts'

const PACKAGES = fileURLToPath(new URL('../node_modules', import.meta.url))
let folder: string
let app: TestApp

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-user-'))
  await symlink(PACKAGES, join(folder, 'node_modules'))
  await mkdir(join(folder, 'who'))
  await writeFile(join(folder, 'who/function.json'), `{"auth":"none","methods":["GET","POST"]}`)
  await writeFile(
    join(folder, 'who/index.ts'),
    `import { createClient } from 'npm:@supabase/supabase-js@2'
     Deno.serve(async (req) => {
       const client = createClient(Deno.env.get('SUPABASE_URL')!, Deno.env.get('SUPABASE_ANON_KEY')!)
       if (req.method === 'POST') {
         const { error } = await client.auth.signUp({ email: 'a@example.org', password: 'secret-123' })
         return Response.json({ error: error?.message ?? null })
       }
       const { data, error } = await client.auth.getUser(req.headers.get('authorization')?.replace('Bearer ', '') ?? '')
       return Response.json({ user: data.user, error: error?.message ?? null })
     })`,
  )
  app = await startApp({ TERRANE_FUNCTIONS_DIR: folder })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const ask = async (authorization: string) => {
  const response = await fetch(app.url('who'), { headers: { apikey: ANON_KEY, authorization } })
  return (await response.json()) as { user: object | null; error: string | null; code?: string }
}

test('supabase-js gets the user that a verified token names', async () => {
  const claims = { role: 'authenticated', sub: 'the-user', email: 'ada@example.org', app_metadata: { plan: 'x' } }
  expect(await ask(`Bearer ${await token(claims)}`)).toEqual({
    error: null,
    user: expect.objectContaining({
      id: 'the-user',
      role: 'authenticated',
      email: 'ada@example.org',
      aud: 'authenticated',
      app_metadata: { plan: 'x' },
      user_metadata: {},
    }) as object,
  })
})

test('a key names no user, and sign-up says that it is elsewhere', async () => {
  const answer = await ask(`Bearer ${await token({ role: 'anon' })}`)
  expect(answer).toMatchObject({ user: null, error: expect.stringContaining('missing sub claim') as string })
  const response = await fetch(app.url('who'), { method: 'POST', headers: { apikey: ANON_KEY } })
  expect(await response.json()).toMatchObject({ error: expect.stringContaining('identity provider') as string })
})
