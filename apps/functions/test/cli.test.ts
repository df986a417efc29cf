// Slow: programs of the command line start, and one deploys.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { compileCache } from '@terrane/testing/compile-cache'
import { runCommandLine } from '../src/cli/command-line.ts'
import { SERVICE_KEY, openStatelessApi, startApp, type TestApp } from './support/app.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
let database: TestDatabase
let api: Awaited<ReturnType<typeof openStatelessApi>>
let app: TestApp
let folder: string

beforeAll(async () => {
  database = await openTestDatabase()
  api = await openStatelessApi()
  app = await startApp({ DATABASE_URL: database.url, TERRANE_PROJECT_URL: api.url })
  folder = await mkdtemp(join(tmpdir(), 'terrane-cli-'))
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  api[Symbol.dispose]()
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const environment = (key: string) => ({
  TERRANE_FUNCTIONS_URL: app.origin,
  TERRANE_PROJECT_REF: 'test',
  TERRANE_SERVICE_ROLE_KEY: key,
})

/** Runs the program in the folder. */
function runProgram(args: string[], key = SERVICE_KEY): Promise<{ code: number; out: string; err: string }> {
  const env = { ...compileCache, ...environment(key) }
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { cwd: folder, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
}

/** Runs a command line in this process, on the functions of the folder; looks at no types. */
async function terrane(args: string[], root = 'functions'): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const code = await runCommandLine([...args, '--dir', join(folder, root)], {
    env: environment(SERVICE_KEY),
    print: (line) => (said.out += `${line}\n`),
    printError: (line) => (said.err += `${line}\n`),
    openImports: async () => null,
  })
  return { code, ...said }
}

async function write(path: string, text: string) {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}
const call = async (name: string) => (await fetch(app.url(name), { method: 'POST', body: '{"name":"Ada"}' })).text()

test('help, and what is wrong with a call', { timeout: 120_000 }, async () => {
  expect(await runProgram(['functions'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('deploy [name ...]') as string,
  })
  expect(await terrane(['functions', 'depoly'])).toMatchObject({
    code: 1,
    err: expect.stringContaining("unknown command 'depoly'") as string,
  })
  expect(await terrane(['functions', 'deploy', '--wat'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('--wat') as string,
  })
  expect(await terrane(['functions', 'rollback'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('name of one function') as string,
  })
  expect(await runProgram(['functions', 'deploy'], '')).toMatchObject({
    code: 1,
    err: expect.stringContaining('TERRANE_SERVICE_ROLE_KEY') as string,
  })
})

test('new, deploy, logs, rollback, secrets, prune: the way of a function', { timeout: 120_000 }, async () => {
  expect((await terrane(['functions', 'new', 'greet', '--auth', 'none'])).code).toBe(0)
  expect(JSON.parse(await readFile(join(folder, 'functions/greet/function.json'), 'utf8'))).toEqual({
    auth: 'none',
    methods: ['POST'],
  })
  expect(await terrane(['functions', 'new', 'greet'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('is there already') as string,
  })
  expect(await terrane(['functions', 'new', 'Bad Name'])).toMatchObject({ code: 1 })

  expect(await terrane(['functions', 'logs', 'nowhere'])).toMatchObject({
    code: 1,
    err: expect.stringContaining("There is no function 'nowhere'") as string,
  })

  const deployed = await runProgram(['functions', 'deploy'])
  expect(deployed).toMatchObject({ code: 0, out: expect.stringMatching(/^greet: deployed, version 1 /) as string })
  expect(await call('greet')).toContain('Hello Ada')
  expect((await terrane(['functions', 'deploy', 'greet'])).out).toContain('greet: unchanged, version 1')

  await write(
    'functions/node_modules/pkg/package.json',
    '{"name":"pkg","version":"1.0.0","type":"module","exports":"./i.js"}',
  )
  await write('functions/node_modules/pkg/i.js', 'export const word = "packaged"')
  await write(
    'functions/greet/index.ts',
    `import { word } from 'npm:pkg@1'; export default () => new Response(word + Deno.readTextFileSync(new URL('./s.bin', import.meta.url)).length)`,
  )
  await write('functions/greet/s.bin', 'static')
  await write('functions/greet/function.json', '{"auth":"none","static":["s.bin"]}')
  expect((await terrane(['functions', 'deploy', '--dry-run'])).out).toContain('would be deployed')
  expect(await call('greet')).toContain('Hello Ada')
  expect((await terrane(['functions', 'deploy'])).out).toContain('version 2')
  expect(await call('greet')).toBe('packaged6')

  await write('functions/greet/index.ts', `throw new Error('not today')`)
  const broken = await terrane(['functions', 'deploy'])
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('not today') as string })
  expect(await call('greet')).toBe('packaged6')

  expect((await terrane(['functions', 'rollback', 'greet'])).out).toBe('greet: version 1 answers\n')
  expect((await terrane(['functions', 'list'])).out).toMatch(/^greet {2}version 1 {2}\w+ {2}\d{4}-/m)
  expect(await call('greet')).toContain('Hello Ada')
  const logs = await terrane(['functions', 'logs', 'greet', '--limit', '500'])
  expect(logs.out).toContain('| greeting Ada')
  expect(logs.out).toContain('version live')

  await write('.env', 'TOKEN=secret-value\nOTHER=x')
  expect((await terrane(['functions', 'secrets', '--env-file', join(folder, '.env')])).out).toMatch(/^OTHER .*\nTOKEN /)
  const left = await terrane(['functions', 'secrets', '--unset', 'OTHER'])
  expect(left.out).toMatch(/^TOKEN /)
  expect(left.out).not.toContain('secret-value')

  await app.deploy('elsewhere', `export default () => new Response('')`)
  await rm(join(folder, 'functions/greet/index.ts'))
  await write('functions/greet/index.ts', `export default () => new Response('last')`)
  expect((await terrane(['functions', 'deploy', '--prune'])).out).toContain('elsewhere: removed')
  expect((await terrane(['functions', 'delete', 'greet'])).out).toBe('greet: removed\n')
  expect(await terrane(['functions', 'delete', 'greet'])).toMatchObject({
    err: expect.stringContaining("There is no function 'greet'") as string,
  })
  expect(await call('elsewhere')).toContain('FUNCTION_NOT_FOUND')
})

test('the command test asks a function and shows its log, which can be searched', { timeout: 400_000 }, async () => {
  await terrane(['functions', 'new', 'ask', '--auth', 'none'])
  await terrane(['functions', 'deploy', 'ask'])
  expect((await terrane(['functions', 'logs', 'ask', '--search', 'VERSION LIVE'])).out).not.toContain('greeting')

  await write('request.json', '{"method":"POST","headers":{"x-a":"1"},"body":{"name":"Grace"}}')
  const ask = (...args: string[]) => terrane(['functions', 'test', 'ask', '--as', 'none', ...args])
  const asked = () => ask('--request', join(folder, 'request.json'))
  expect(await asked()).toMatchObject({ code: 0, out: expect.stringContaining('Hello Grace') as string })
  // A line that the function writes may come after its answer.
  await expect.poll(async () => (await asked()).out, { timeout: 200_000 }).toContain('| greeting Grace')
  expect((await asked()).out).toMatch(/ - call status=200 /)
  expect(await ask('--method', 'GET')).toMatchObject({
    code: 1,
    err: expect.stringContaining('ask answered 405') as string,
  })
  expect(await ask('--method', 'GET', '--status', '405')).toMatchObject({ code: 0 })
  expect(await ask('--header', 'nothing')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--header takes') as string,
  })
  expect((await ask('--status', 'good')).err).toContain("--status takes 100 to 599, not 'good'")
  expect((await ask('--path', 'items')).err).toContain("the path begins with / or ?, not 'items'")
  await terrane(['functions', 'delete', 'ask'])
  await rm(join(folder, 'functions/ask'), { recursive: true })
})

test(
  'deploy leaves out what config.toml turns off, refuses it by name, and --prune removes it from the host',
  { timeout: 120_000 },
  async () => {
    const root = 'supabase/functions'
    for (const name of ['on', 'off'])
      await write(`${root}/${name}/index.ts`, `Deno.serve(() => new Response('${name}'))`)
    const config = (enabled: boolean) =>
      write('supabase/config.toml', `[functions.off]\nenabled = ${enabled}\nverify_jwt = false\n`)
    await config(true)
    expect((await terrane(['functions', 'deploy', 'off'], root)).out).toContain('off: deployed, version 1')
    expect(await call('off')).toBe('off')
    await config(false)
    const named = await terrane(['functions', 'deploy', 'off'], root)
    expect(named).toMatchObject({ code: 1, err: expect.stringContaining('config.toml turns off off') as string })
    const all = await terrane(['functions', 'deploy', '--prune'], root)
    expect(all).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^off: left out.*\non: deployed.*\noff: removed$/m) as string,
    })
    expect(await call('off')).toContain('FUNCTION_NOT_FOUND')
  },
)

test('deploy warns of types that are wrong, and with --strict sends nothing', { timeout: 120_000 }, async () => {
  await write('types/wrong/index.ts', `const n: number = 'one'; export default () => new Response(String(n))`)
  await write('types/wrong/function.json', `{"auth":"none"}`)
  const strict = await runProgram(['functions', 'deploy', 'wrong', '--strict', '--dir', 'types'])
  expect(strict).toMatchObject({ code: 1, err: expect.stringContaining('wrong: index.ts:1:7: TS2322') as string })
  expect((await fetch(app.url('wrong'), { method: 'POST' })).status).toBe(404)
  const { code, out } = await runProgram(['functions', 'deploy', 'wrong', '--dir', 'types'])
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/deployed, version 1[^]*wrong: warning: index\.ts:1:7: TS2322/),
  ])
  expect(await call('wrong')).toBe('one')
})
