// Slow: functions are deployed, and each starts in a sandbox.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { runCommandLine } from '../src/cli/command-line.ts'
import { ANON_KEY, SERVICE_KEY, startApp, type TestApp } from './support/app.ts'

let database: TestDatabase
let app: TestApp
let folder: string

beforeAll(async () => {
  database = await openTestDatabase()
  app = await startApp({ DATABASE_URL: database.url })
  folder = await mkdtemp(join(tmpdir(), 'terrane-import-'))
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function write(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

async function terrane(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const code = await runCommandLine(['functions', ...args], {
    env: { TERRANE_FUNCTIONS_URL: app.origin, TERRANE_PROJECT_REF: 'test', TERRANE_SERVICE_ROLE_KEY: SERVICE_KEY },
    print: (line) => (said.out += `${line}\n`),
    printError: (line) => (said.err += `${line}\n`),
    openImports: async () => null,
  })
  return { code, ...said }
}

test('the folder of a Supabase project is deployed as it is, and the report tells what runs and what it wants', async () => {
  await write({
    'shop/supabase/config.toml': `project_id = "shop"\n[functions.hook]\nverify_jwt = false\n[functions.off]\nenabled = false\n`,
    'shop/supabase/functions/.env': 'MAIL_KEY=a-secret-value\nSUPABASE_URL=http://other\n',
    'shop/supabase/functions/_shared/cors.ts': `export const headers = { 'access-control-allow-origin': 'https://shop.example' }`,
    'shop/supabase/functions/hook/index.ts': `import { headers } from '../_shared/cors.ts'
      // fetch('https://in.a.comment.org')
      const api = 'https://api.mail.dev/v1'
      Deno.serve((request) => Response.json([request.method, Deno.env.get('MAIL_KEY'), Deno.env.get('PAY_KEY') ?? null, typeof api], { headers }))`,
    'shop/supabase/functions/Guarded_1/index.ts': `Deno.serve(() => new Response(Deno.env.get('SUPABASE_URL') + Deno.env.get('SUPABASE_SMTP')))`,
    'shop/supabase/functions/off/index.ts': `Deno.serve(() => new Response('on'))`,
    'shop/supabase/functions/broken/index.ts': `import './missing.ts'`,
    'shop/supabase/functions/silent/index.ts': `throw new Error('STRIPE is not set')`,
    'shop/supabase/functions/bad name/index.ts': `Deno.serve(() => new Response('x'))`,
  })
  const { code, out, err } = await terrane('import', join(folder, 'shop/supabase'))
  expect(code).toBe(1)
  expect(err).toContain('2 of 4 functions do not run')
  expect(out).toMatch(/^hook: deployed, version 1/m)
  expect(out).toMatch(/^Guarded_1: deployed, version 1/m)
  expect(out).toMatch(/^broken: does not run: .*missing\.ts/m)
  expect(out).toMatch(/^silent: does not run: .*STRIPE is not set/m)
  expect(out).toMatch(/^off: left out, config\.toml turns it off/m)
  expect(out).toMatch(/^bad name: left out, its name/m)
  expect(out).toMatch(/^2 of 4 functions run\.$/m)
  expect(out).toMatch(/^hook: names the hosts api\.mail\.dev, shop\.example$/m)
  expect(out).toMatch(/^hook: wants secrets that are not set: PAY_KEY$/m)
  expect(out).toMatch(/^Guarded_1: reads variables that only the host sets, and it does not: SUPABASE_SMTP$/m)
  expect(out + err).not.toContain('a-secret-value')
  const answer = await fetch(app.url('hook'), { method: 'DELETE' })
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example')
  expect(await answer.json()).toEqual(['DELETE', 'a-secret-value', null, 'string'])
  expect((await fetch(app.url('Guarded_1'))).status).toBe(401)
  expect((await fetch(app.url('Guarded_1'), { headers: { apikey: ANON_KEY } })).status).toBe(200)
})

test('a folder of the name supabase needs no config.toml', async () => {
  await write({ 'plain/supabase/functions/plain/index.ts': `Deno.serve(() => new Response('plain'))` })
  const { code, out } = await terrane('import', '--dry-run', join(folder, 'plain/supabase'))
  expect([code, out]).toEqual([0, expect.stringMatching(/^plain: would be deployed/)])
})

test('a Worker has the variables of its configuration and its secrets, and what is not offered is named', async () => {
  await write({
    'worker/wrangler.jsonc': `{ // a comment
      "name": "my-worker", "main": "src/main.ts", "vars": { "GREETING": "hello", "LIST": [1, 2], "__proto__": "x" },
      "d1_databases": [{ "binding": "DB", "database_id": "1" }],
      "durable_objects": { "bindings": [{ "name": "ROOM", "class_name": "Room" }] },
      "triggers": { "crons": ["0 3 * * 1", "*/5 * * * MON-FRI", "0 0 1 * 2-7"] },
      "queues": { "producers": [{ "binding": "MAIL", "queue": "mail" }], "consumers": [{ "queue": "mail", "max_batch_size": 5, "max_retries": 2 }] },
    }`,
    'worker/.dev.vars': 'TOKEN="a secret"\n',
    'worker/src/main.ts': `import { WorkerEntrypoint, env as all } from 'cloudflare:workers'
      export default class extends WorkerEntrypoint<{ GREETING: string }> {
        async fetch(request: Request) {
          this.ctx.waitUntil(Promise.resolve())
          return Response.json([this.env.GREETING, this.env.LIST, this.env.TOKEN, all.GREETING, request.method])
        }
        scheduled() {}
        queue() {}
      }`,
  })
  const { code, out, err } = await terrane('import', join(folder, 'worker'))
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('my-worker: is not offered here: d1_databases: DB\n')
  expect(out).toContain('my-worker: is not offered here: durable_objects: ROOM\n')
  expect(out).not.toContain('a secret')
  const answer = await fetch(app.url('my-worker'), { method: 'PATCH' })
  expect(await answer.json()).toEqual(['hello', [1, 2], 'a secret', 'hello', 'PATCH'])
  const { body } = await app.control('GET', '/functions')
  const listed = (body['data'] as { name: string; policy: object }[]).find(({ name }) => name === 'my-worker')
  expect(listed?.policy).toMatchObject({
    auth: 'none',
    schedule: ['0 3 * * 0', '*/5 * * * MON-FRI', '0 0 1 * 1-6'],
    queue: 'mail',
    batch: 5,
    attempts: 3,
  })
})

test('the .env of a folder of Workers is not sent, and names that are not taken are told', async () => {
  await write({
    'workers/.env': 'AWS_SECRET=of-this-machine\n',
    'workers/one/wrangler.toml':
      '[vars]\nSUPABASE_URL = "http://other"\n[[kv_namespaces]]\nbinding = "CACHE"\nid = "c"\n',
    'workers/one/.dev.vars': 'CACHE=x\nSUPABASE_KEY=y\nOWN=z\n',
    'workers/one/index.js': `export default { fetch: (_request, env) => Response.json([env.AWS_SECRET ?? null, env.OWN, typeof env.CACHE.get]) }`,
  })
  const dry = await terrane('import', '--dry-run', join(folder, 'workers'))
  expect(dry.out).toContain('one: secrets that would be set: CACHE, OWN\n')
  const { code, out } = await terrane('import', join(folder, 'workers'))
  expect([code, out]).toEqual([0, expect.stringContaining('one: secrets set: CACHE, OWN\n')])
  expect(out).toContain('one: secrets not taken, which only the host sets or whose names are none: SUPABASE_KEY\n')
  expect(out).toContain('one: only the host sets var:SUPABASE_URL\n')
  expect(out).toContain('one: its secret CACHE is not used: a binding has the name\n')
  expect(await (await fetch(app.url('one'))).json()).toEqual([null, 'z', 'function'])
  expect((await terrane('import', join(folder, 'workers'))).out).toContain('one: secrets replaced: CACHE, OWN\n')
})

test('a project reads no file outside of itself, by no link and no path', async () => {
  await write({
    'outside/secret.json': '{"key": "of-another-project"}',
    'outside/.env': 'KEY=of-another-project',
    'hostile/supabase/config.toml':
      'project_id = "hostile"\n[functions.climbs]\nentrypoint = "../../outside/../hostile/supabase/functions/climbs/index.ts"\n',
    'hostile/supabase/functions/paths/index.ts': `import secret from '../../../../outside/secret.json' with { type: 'json' }
      Deno.serve(() => Response.json(secret))`,
    'outside/.terrane/keys.json': '{"key": "of-the-stack"}',
    'outside/node_modules/a/keys.json': '{"key": "of-another-project"}',
    'hostile/supabase/functions/stack/index.ts': `import keys from '../../../../outside/.terrane/keys.json' with { type: 'json' }
      Deno.serve(() => Response.json(keys))`,
    'hostile/supabase/functions/packages/index.ts': `import keys from './node_modules/a/keys.json' with { type: 'json' }
      Deno.serve(() => Response.json(keys))`,
    'hostile/supabase/functions/linked/index.ts': `import secret from './data.json' with { type: 'json' }
      Deno.serve(() => Response.json(secret))`,
    'hostile/supabase/functions/vars/index.ts': `Deno.serve(() => Response.json(Deno.env.get('KEY')))`,
    'hostile/supabase/functions/climbs/index.ts': `Deno.serve(() => Response.json('within'))`,
    'hostile/.git/HEAD': '',
  })
  await symlink(join(folder, 'outside/secret.json'), join(folder, 'hostile/supabase/functions/linked/data.json'))
  await symlink(join(folder, 'outside/node_modules'), join(folder, 'hostile/supabase/functions/packages/node_modules'))
  await symlink(join(folder, 'outside/.env'), join(folder, 'hostile/supabase/functions/vars/.env'))
  await symlink(join(folder, 'outside'), join(folder, 'hostile/supabase/functions/away'))
  const { code, out } = await terrane('import', join(folder, 'hostile/supabase'))
  expect(code).toBe(1)
  for (const name of ['paths', 'linked', 'vars', 'stack', 'packages'])
    expect(out).toMatch(new RegExp(`^${name}: does not run: .*is outside of`, 'm'))
  expect(out).toMatch(/^climbs: deployed/m)
  expect(out).toMatch(/^away: left out/m)
  expect((await fetch(app.url('linked'))).status).toBe(404)
  await rm(join(folder, 'hostile/supabase/functions/vars/.env'))
  await symlink(join(folder, 'outside/.env'), join(folder, 'hostile/supabase/functions/.env'))
  expect((await terrane('import', join(folder, 'hostile/supabase'))).err).toContain('is outside of')
})
