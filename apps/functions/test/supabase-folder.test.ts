import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readProjectRules } from '@terrane/bundler'
import { readAdmission } from '../src/sources/admission.ts'
import { readFolderPolicy } from '../src/sources/folder-policy.ts'
import { ANON_KEY, SERVICE_KEY, startApp, type TestApp } from './support/app.ts'

const CONFIG = `project_id = "maps"
[functions.Open-Hook]
verify_jwt = false
import_map = "./functions/Open-Hook/imports.json"
entrypoint = "./functions/Open-Hook/main.ts"
static_files = ["./functions/Open-Hook/pages/*.html"]
[functions.off]
enabled = false
`
const FILES: Record<string, string> = {
  'functions/_shared/name.ts': `export const name = 'shared'`,
  'functions/Open-Hook/imports.json': '{"imports":{"@shared/":"../_shared/"}}',
  'functions/Open-Hook/pages/a.html': '<p>a</p>',
  'functions/Open-Hook/main.ts': `import { name } from '@shared/name.ts'
    Deno.serve(async (req) => Response.json([req.method, name, await Deno.readTextFile('pages/a.html')]))`,
  'functions/guarded/index.ts': `Deno.serve(async () => {
    const url = Deno.env.get('SUPABASE_URL'), key = Deno.env.get('SUPABASE_SERVICE_ROLE_KEY')
    const asked = [await fetch(url), await fetch(url, { headers: { apikey: key } })]
    return Response.json(await Promise.all(asked.map((answer) => answer.json())))
  })`,
  'functions/off/index.ts': `Deno.serve(() => Response.json('on'))`,
}

let project: string
let app: TestApp
let api: Server

const write = async (path: string, text: string) => {
  await mkdir(dirname(join(project, path)), { recursive: true })
  await writeFile(join(project, path), text)
}

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'terrane-project-'))
  for (const [path, text] of Object.entries({ ...FILES, 'config.toml': CONFIG })) await write(path, text)
  api = createServer((request, response) => response.end(JSON.stringify(request.headers['apikey'] ?? null)))
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done))
  app = await startApp({
    TERRANE_FUNCTIONS_DIR: project,
    TERRANE_PROJECT_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  api.close()
  await rm(project, { recursive: true, force: true })
})

const call = async (name: string, method: string, headers: Record<string, string> = {}) => {
  const response = await fetch(app.url(name), { method, headers })
  return [response.status, response.ok ? await response.json() : null]
}

test('the folder of a Supabase project is served by the rules of its config.toml', async () => {
  for (const method of ['PUT', 'DELETE'])
    expect(await call('Open-Hook', method)).toEqual([200, [method, 'shared', '<p>a</p>']])
  expect(await call('guarded', 'GET')).toEqual([401, null])
  expect(await call('off', 'GET')).toEqual([404, null])
})

test('its functions have the service key, which goes only with calls that send it', async () => {
  expect(await call('guarded', 'PATCH', { apikey: ANON_KEY })).toEqual([200, [ANON_KEY, SERVICE_KEY]])
})

test('a table of config.toml that stands there twice with the same values counts once', async () => {
  const table = '[functions.guarded]\nverify_jwt = false\n'
  await write('twice/supabase/config.toml', `${table}# again\n${table}\n[auth]\nsite_url = ""\n`)
  const rules = () => readProjectRules(join(project, 'twice/supabase/functions/guarded'))
  expect(rules()).toMatchObject({ verifyJwt: false })
  await write('twice/supabase/config.toml', table + table.replace('false', 'true'))
  expect(rules).toThrow('already defined')
})

test.each([
  ['a comment after a value', '[functions.guarded]\nverify_jwt = false # for tests\n'],
  ['a quoted name', '[functions."guarded"]\nverify_jwt=false\n'],
  ['a list of lines', '[functions.guarded]\nverify_jwt = false\n[other]\nof = [\n[1],\n[2],\n]\n'],
])('a repeated table counts once beside %s', async (_, more) => {
  await write('odd/supabase/config.toml', `[functions.guarded]\nverify_jwt = false\n${more}`)
  expect(readProjectRules(join(project, 'odd/supabase/functions/guarded'))).toMatchObject({ verifyJwt: false })
})

test('what looks like a table within a text of config.toml is no table', async () => {
  const text = `[other]\nof = """\n[functions.guarded]\nverify_jwt = true\n"""\n[functions.guarded]\nverify_jwt = false\n`
  await write('text/supabase/config.toml', `${text}[functions.a]\n[functions.a]\n`)
  expect(readProjectRules(join(project, 'text/supabase/functions/guarded'))).toMatchObject({ verifyJwt: false })
})

test('max_chain of config.toml is in the policy, and has to be a whole number', async () => {
  const folder = join(project, 'chain/supabase/functions/guarded')
  await mkdir(folder, { recursive: true })
  await write('chain/supabase/config.toml', '[functions.guarded]\nmax_chain = 500\n')
  expect(await readFolderPolicy(folder)).toMatchObject({ max_chain: 500 })
  await write('chain/supabase/functions/guarded/function.json', '{"max_chain":20}')
  expect(await readFolderPolicy(folder)).toMatchObject({ max_chain: 20 })
  await write('chain/supabase/config.toml', '[functions.guarded]\nmax_chain = 0\n')
  expect(() => readProjectRules(folder)).toThrow('functions.guarded.max_chain must be a whole number above 0')
})

test('function.json comes before config.toml', async () => {
  const folder = join(project, 'functions/both')
  await write('functions/both/function.json', '{"auth":"service","net":["a.example"],"privileged":false}')
  expect(await readFolderPolicy(folder)).toMatchObject({ auth: 'service', net: ['a.example'], privileged: false })
  expect((await readFolderPolicy(folder)).methods).toContain('PUT')
})

test('a wrangler file beside a function does not open what function.json or config.toml guards', async () => {
  await write('other/config.toml', 'project_id = "o"\n[functions.toml]\nenabled = false\n')
  const folder = (name: string) => join(project, 'other/functions', name)
  for (const name of ['toml', 'json', 'plain']) {
    await write(`other/functions/${name}/wrangler.toml`, '[vars]\nA = "1"\nSUPABASE_URL = "http://other"\n')
    await write(`other/functions/${name}/index.js`, 'export default { fetch: () => new Response() }')
  }
  await write('other/functions/json/function.json', '{"timeout_ms":1000}')
  const bindings = ['var:A=1', 'worker:crons={}']
  expect(await readFolderPolicy(folder('toml'))).toMatchObject({ auth: 'anon', bindings })
  expect(readProjectRules(folder('toml'))).toMatchObject({ enabled: false, verifyJwt: true })
  expect(await readFolderPolicy(folder('json'))).toMatchObject({ auth: 'anon', methods: ['POST'], net: [], bindings })
  expect(readAdmission(folder('json'))).toEqual({ auth: 'anon', methods: null })
  expect(await readFolderPolicy(folder('plain'))).toMatchObject({ auth: 'none', net: ['*'] })
})

test('a folder with the configuration of a Worker is one, and follows it', async () => {
  await write(
    'functions/worker/src/main.js',
    `export default { fetch: (request, env, ctx) => Response.json([request.method, env.NAME]) }`,
  )
  await write('functions/worker/wrangler.toml', 'main = "src/main.js"\n[vars]\nNAME = "first"\n')
  await expect.poll(() => call('worker', 'DELETE')).toEqual([200, ['DELETE', 'first']])
  await write('functions/worker/wrangler.toml', 'main = "src/main.js"\n[vars]\nNAME = "second"\n')
  await expect.poll(() => call('worker', 'GET')).toEqual([200, ['GET', 'second']])
})

test('a change of config.toml is served, and what is wrong in it is told by its field', async () => {
  await write('config.toml', CONFIG.replace('verify_jwt = false', ''))
  await expect.poll(() => call('Open-Hook', 'GET')).toEqual([401, null])
  await write('config.toml', CONFIG.replace('verify_jwt = false', 'verify_jwt = "no"'))
  const failure = () => app.deps.control.functions.failuresOf('test').get('Open-Hook')?.message
  await expect.poll(failure).toContain('config.toml: functions.Open-Hook.verify_jwt must be true or false')
  await write('config.toml', CONFIG.replace('main.ts', 'none.ts'))
  await expect.poll(failure).toContain(`config.toml: there is no file 'none.ts', the entrypoint`)
  await write('config.toml', CONFIG.replace('*.html', '*.css'))
  await expect.poll(failure).toContain(`config.toml: static_files 'pages/*.css': there is no such file`)
  await write('config.toml', CONFIG.replace('enabled = false', ''))
  await expect.poll(() => call('Open-Hook', 'GET')).toEqual([200, ['GET', 'shared', '<p>a</p>']])
  await expect.poll(() => call('off', 'GET', { apikey: ANON_KEY })).toEqual([200, 'on'])
})
