import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ANON_KEY, SERVICE_KEY, startApp, token, type TestApp } from './support/app.ts'
import { PACKAGES } from './support/host.ts'

const PUBLIC = 'https://maps.example/base'
const es256 = await generateKeyPair('ES256')
let folder: string
let app: TestApp
let api: Server
let calls: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = []

const FILES = {
  '.env': 'SUPABASE_URL=http://127.0.0.1:54321\nFINE=1\nTERRANE_X=1\n',
  'compare/function.json': '{"auth":"service","privileged":true,"methods":["GET","POST"]}',
  'compare/index.ts': `Deno.serve(async (req) => {
    const key = Deno.env.get('SUPABASE_SERVICE_ROLE_KEY')
    const { role } = JSON.parse(atob(key.split('.')[1]))
    if (req.method === 'POST') await fetch(Deno.env.get('SUPABASE_URL') + '/rest/v1/t?a=1', { headers: { apikey: key, authorization: 'Bearer ' + key } })
    const { authorization, apikey = null } = Object.fromEntries(req.headers)
    return Response.json({ bearer: authorization === 'Bearer ' + key, apikey: apikey === key ? 'key' : apikey, role, key })
  })`,
  'beside/function.json': '{"auth":"user","methods":["GET"]}',
  'beside/index.ts': `Deno.serve((req) => Response.json({
    apikey: req.headers.get('apikey') === Deno.env.get('SUPABASE_SERVICE_ROLE_KEY'), authorization: req.headers.get('authorization') }))`,
  'links/function.json': '{"auth":"none","methods":["GET"]}',
  'links/index.ts': `import { createClient } from 'npm:@supabase/supabase-js@2'
    Deno.serve(async () => {
      const client = createClient(Deno.env.get('SUPABASE_URL')!, Deno.env.get('SUPABASE_ANON_KEY')!)
      const { data } = await client.from('t').select()
      const denied = await fetch('https://maps.example/elsewhere').then(String, (error) => error.message)
      const admin = createClient(Deno.env.get('SUPABASE_URL')!, Deno.env.get('SUPABASE_SERVICE_ROLE_KEY')!)
      const { error } = await admin.from('t').select()
      return Response.json({ url: client.storage.from('avatars').getPublicUrl('me.png').data.publicUrl, data, denied, error })
    })`,
  ...Object.fromEntries(
    ['none', 'publishable', 'secret', 'user'].flatMap((mode) => [
      [`server-${mode}/function.json`, '{"auth":"none","privileged":true,"methods":["GET"]}'],
      [
        `server-${mode}/index.ts`,
        `import { withSupabase } from 'npm:@supabase/server'
         export default { fetch: withSupabase({ auth: '${mode}' }, async (_req: Request, ctx: any) => {
           const { data } = await ctx.supabaseAdmin.from('t').select()
           return Response.json({ data, user: ctx.userClaims?.id ?? null })
         }) }`,
      ],
    ]),
  ),
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-supabase-'))
  await symlink(PACKAGES, join(folder, 'node_modules'))
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const keys = [
    { ...(await exportJWK(es256.publicKey)), kid: 'e', alg: 'ES256' },
    { kty: 'oct', kid: 's', k: 'secret' },
  ]
  api = createServer((request, response) => {
    if (request.url !== '/keys') calls.push({ path: request.url!, headers: request.headers })
    response.setHeader('content-type', 'application/json')
    response.end(request.url === '/keys' ? JSON.stringify({ keys }) : '[{"id":1}]')
  })
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  app = await startApp({
    TERRANE_FUNCTIONS_DIR: folder,
    TERRANE_PROJECT_URL: url,
    TERRANE_PROJECT_PUBLIC_URL: PUBLIC,
    TERRANE_JWKS_URL: `${url}/keys`,
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  api.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  calls = []
})

const call = async (name: string, headers: Record<string, string>, method = 'GET') => {
  const response = await fetch(app.url(name), { method, headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('the service key of a privileged function compares equal to what callers of the service role send, and is worth nothing outside', async () => {
  const seen = async (headers: Record<string, string>) => (await call('compare', headers)).body
  const bearer = `Bearer ${SERVICE_KEY}`
  expect(await seen({ authorization: bearer })).toMatchObject({ bearer: true, apikey: null, role: 'service_role' })
  expect(await seen({ apikey: SERVICE_KEY, authorization: bearer })).toMatchObject({ bearer: true, apikey: 'key' })
  expect(await seen({ apikey: ANON_KEY, authorization: bearer })).toMatchObject({ bearer: true, apikey: ANON_KEY })
  const { key } = await seen({ apikey: SERVICE_KEY })
  const signed = await token({ role: 'service_role' })
  expect(await seen({ authorization: `bearer ${signed}` })).toMatchObject({ bearer: true })
  // Two different keys of the service role, an empty header, and a user beside a key of the service role.
  expect(await seen({ apikey: SERVICE_KEY, authorization: `Bearer ${signed}` })).toMatchObject({ apikey: 'key' })
  expect(await seen({ apikey: SERVICE_KEY, authorization: '' })).toMatchObject({ apikey: 'key' })
  const user = await token({ role: 'authenticated', sub: 'ada' })
  const { body } = await call('beside', { apikey: SERVICE_KEY, authorization: `Bearer ${user}` })
  expect(body).toEqual({ apikey: true, authorization: `Bearer ${user}` })
  expect((await call('compare', { authorization: `Bearer ${String(key)}` })).status).toBe(401)
  expect((await call('compare', { apikey: ANON_KEY })).status).toBe(403)
  expect(String(key)).not.toContain(SERVICE_KEY)
  await call('compare', { apikey: SERVICE_KEY }, 'POST')
  expect(calls).toMatchObject([{ path: '/rest/v1/t?a=1', headers: { apikey: SERVICE_KEY, authorization: bearer } }])
})

test('SUPABASE_URL is the public address, calls to it stay inside, and the key of a function without the right says so', async () => {
  const { body } = await call('links', {})
  expect(body).toEqual({
    url: `${PUBLIC}/storage/v1/object/public/avatars/me.png`,
    data: [{ id: 1 }],
    denied: expect.stringContaining('not allowed') as string,
    error: expect.objectContaining({
      code: 'FUNCTION_NOT_PRIVILEGED',
      hint: 'Set "privileged" to true or "key" in function.json.',
    }) as object,
  })
  expect(calls.map(({ path }) => path)).toEqual(['/rest/v1/t?select=*'])
})

test('variables of .env that only the host sets are named in the log', async () => {
  await call('links', {})
  const lines = app.deps.control.logBook.latest('test', 'links', 100)
  expect(lines.flatMap(({ fields }) => (fields?.['variables'] as string[] | undefined) ?? [])).toEqual([
    'SUPABASE_URL',
    'TERRANE_X',
  ])
})

test('@supabase/server runs as it is: without auth, with keys, and with tokens of the project’s key set', async () => {
  const user = await new SignJWT({ role: 'authenticated', sub: 'ada', ref: 'test' })
    .setProtectedHeader({ alg: 'ES256', kid: 'e' })
    .setExpirationTime('1h')
    .sign(es256.privateKey)
  const sent = {
    none: {},
    publishable: { apikey: ANON_KEY },
    secret: { apikey: SERVICE_KEY },
    user: { authorization: `Bearer ${user}` },
  }
  for (const [mode, headers] of Object.entries(sent)) {
    const expected = { data: [{ id: 1 }], user: mode === 'user' ? 'ada' : null }
    expect([mode, await call(`server-${mode}`, headers)]).toEqual([mode, { status: 200, body: expected }])
    if (mode !== 'none') expect((await call(`server-${mode}`, {})).status).toBe(401)
  }
  expect(calls.map(({ headers }) => headers['apikey'])).toEqual(Array.from({ length: 4 }, () => SERVICE_KEY))
})
