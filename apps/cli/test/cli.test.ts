// Slow: each command starts a separate program.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hashKey } from '@terrane/auth'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { COMMANDS } from '../src/commands/all.ts'
import { run } from '../src/run.ts'

const PROGRAM = fileURLToPath(new URL('../src/terrane.mjs', import.meta.url))
// oxlint-disable-next-line node/no-process-env -- Modules that Node compiled in earlier programs of the run.
const { NODE_COMPILE_CACHE } = process.env
const COMPILE_CACHE = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}

let db: TestDatabase
let folder: string
let file: string
beforeAll(async () => {
  db = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'terrane-cli-'))
  file = join(folder, 'credentials.json')
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Runs a command in this process, or as a separate program. */
async function terrane(
  args: string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
) {
  vi.stubEnv('DATABASE_URL', env['DATABASE_URL'] ?? db.url)
  vi.stubEnv('TERRANE_SECRETS_KEY', 'ef'.repeat(32))
  const [out, err] = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
  const said = [out, err].map((spy) => {
    const lines: string[] = []
    spy.mockImplementation((text) => lines.push(String(text)) > 0)
    return lines
  })
  if (input !== '') await writeFile(file, input)
  try {
    const code = await run(args, COMMANDS)
    return { code, stdout: said[0]!.join(''), stderr: said[1]!.join('') }
  } finally {
    for (const spy of [out, err]) spy.mockRestore()
    vi.unstubAllEnvs()
  }
}
function program(args: string[], input = '') {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { ...COMPILE_CACHE, DATABASE_URL: db.url, TERRANE_SECRETS_KEY: 'ef'.repeat(32) }
    const child = execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}
const json = (text: string) => JSON.parse(text) as Record<string, string>

test('a command whose output is closed ends without a message', async () => {
  const child = spawn(process.execPath, [PROGRAM, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const [code] = (await once(child, 'close')) as [number]
  expect([code, said]).toEqual([0, ''])
})

describe(`terrane (${testLane()})`, () => {
  test('registers an organization and a project for every app, its credentials sealed', async () => {
    const { stdout: organization } = await terrane(['org', 'create', 'Harbour'])
    expect(organization.trim()).toMatch(/^[0-9a-f-]{36}$/)
    const credentials = JSON.stringify({
      databaseUrl: 'postgres://u:hunter2@db/x',
      serviceRoleKey: 'service-of-harbour',
    })
    const made = await program(
      ['project', 'create', 'harbour', '--org', 'Harbour', '--credentials', '-', '--json'],
      credentials,
    )
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(json(made.stdout)).toMatchObject({ ref: 'harbour', organization: 'Harbour', host_label: 'harbour' })
    const { rows } = await db.database.query<{ text: string }>(
      `select (select string_agg(p::text, '') from terrane.projects p) || (select string_agg(k::text, '') from terrane.keys k) as text`,
    )
    expect(rows[0]?.text).not.toMatch(/hunter2|service-of-harbour/)
    expect(rows[0]?.text).toContain(hashKey('service-of-harbour'))
    const again = await terrane(['project', 'create', 'harbour', '--org', 'Harbour'])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already') as string })
    expect((await terrane(['project', 'list'])).stdout).toMatch(/^id +ref +organization .*\n.* harbour +Harbour/)
  })

  test('makes a key and shows it once, rotates it with an overlap, and revokes it', async () => {
    const made = await terrane(['key', 'create', '--org', 'Harbour', '--scope', 'jobs', '--label', 'ci'])
    const key = made.stdout.trim()
    expect(key).toMatch(/^trn_services_[\w-]{43}$/)
    const id = /id is ([0-9a-f-]{36})/.exec(made.stderr)?.[1] ?? ''
    const rotated = await terrane(['key', 'rotate', key.slice(0, 20), '--overlap', '30m', '--json'])
    expect(json(rotated.stdout)).toMatchObject({ role: 'services', scopes: ['jobs'], label: 'ci', expires_at: null })
    const listed = await terrane(['key', 'list', '--org', 'Harbour', '--json'])
    const former = (JSON.parse(listed.stdout) as Record<string, string>[]).find((entry) => entry['id'] === id)
    const left = Date.parse(former?.['expires_at'] ?? '') - Date.now()
    expect([left > 25 * 60_000, left <= 30 * 60_000]).toEqual([true, true])
    expect(await terrane(['key', 'revoke', id])).toMatchObject({ code: 0 })
    expect(await terrane(['key', 'rotate', id])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('key create') as string,
    })
    expect(listed.stdout + rotated.stderr).not.toContain(key)
  })

  test('makes a publishable key of a project, with the tables and pages that it is for', async () => {
    const args = ['key', 'create', '--project', 'harbour', '--role', 'anon', '--table', 'piers', 'survey.depths']
    const made = await terrane([...args, '--origin', 'https://maps.example.org', '--json'])
    expect(json(made.stdout)).toMatchObject({
      role: 'anon',
      scopes: ['table:public.piers', 'table:survey.depths', 'origin:https://maps.example.org'],
    })
    for (const more of [[], ['--origin', 'maps.example.org'], ['--origin', 'https://maps.example.org/']])
      expect(await terrane([...args, ...more])).toMatchObject({ code: 2 })
  })

  test('takes a project away only when that is said twice', async () => {
    expect(await terrane(['project', 'delete', 'harbour'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes') as string,
    })
    expect(await terrane(['project', 'delete', 'harbour', '--yes'])).toMatchObject({ code: 0 })
    expect((await terrane(['project', 'delete', 'harbour', '--yes'])).stderr).toContain("no project 'harbour'")
  })

  test('says how it is called, with exit code 2, and repeats no secret', async () => {
    for (const args of [
      ['nonsense'],
      ['key', 'create'],
      ['key', 'rotate', 'x', '--overlap', 'soon'],
      ['project', 'create', 'a'],
      [],
    ]) {
      const { code, stdout, stderr } = await terrane(args)
      expect([args, code, stdout]).toEqual([args, 2, ''])
      expect(stderr).toMatch(/--help|Usage/)
    }
    expect(await terrane(['key', 'list'], { env: { DATABASE_URL: '' } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('DATABASE_URL') as string,
    })
    const secret = JSON.stringify({ databaseUrl: 'mysql://u:hunter2@db/x', more: 'hunter2' })
    for (const input of [secret, 'hunter2', '{"databaseUrl": "hunter2']) {
      const refused = await terrane(['project', 'create', 'b', '--org', 'Harbour', '--credentials', file], { input })
      expect(refused.code).toBe(1)
      expect(refused.stdout + refused.stderr).not.toContain('hunter2')
    }
    const { code, stdout } = await terrane(['key', 'create', '--help'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('Examples:')])
  })

  test('hands the commands of apps to them as they are', async () => {
    expect((await program(['functions', '--help'])).stdout).toContain('terrane functions <command>')
    expect(await program(['models', 'nonsense'])).toMatchObject({ code: 2 })
  })

  test('who asks a program of an app to stop is heard by it, and hears how it ended', async () => {
    const env = { ...COMPILE_CACHE, TERRANE_HOME: join(folder, 'home'), LOG_LEVEL: 'info' }
    const child = spawn(process.execPath, [PROGRAM, 'functions', 'serve', '--dir', folder, '--port', '0'], { env })
    let said = ''
    // The server is called as soon as its log says that it listens.
    await new Promise<void>((resolve) => {
      const hear = (chunk: unknown) => {
        said += String(chunk)
        if (said.includes('Server listening')) resolve()
      }
      for (const stream of [child.stdout, child.stderr]) stream.on('data', hear)
    })
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(said).toContain('stopped')
  })
})

test('a shell is told what may follow', async () => {
  const asked = (...args: string[]) => promisify(execFile)(process.execPath, [PROGRAM, ...args])
  const script = await asked('completion', 'bash')
  expect(script.stdout).toContain('complete -F')
  const { stdout } = await asked('complete', '--', 'jobs', '')
  expect((await asked('complete', '--', 'jobs', '')).stdout).toBe(stdout)
  expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(
    expect.arrayContaining(['list', 'watch', 'logs', 'cancel', 'retry', 'why']),
  )
})

test('login keeps a checked key under a name, readable by its owner alone', async () => {
  const server = createServer((request, response) => {
    const isKnown = request.headers['apikey'] === 'good'
    response
      .writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
      .end(isKnown ? '{}' : '{"message":"unknown key"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const home = join(folder, 'config')
  const login = (key: string) =>
    new Promise<{ code: number; stderr: string }>((resolve) => {
      const args = [PROGRAM, 'login', 'harbour', '--url', url]
      const child = execFile(
        process.execPath,
        args,
        { env: { ...COMPILE_CACHE, XDG_CONFIG_HOME: home } },
        (error, _, stderr) => resolve({ code: error ? Number(error.code) : 0, stderr }),
      )
      child.stdin?.end(key)
    })
  try {
    expect(await login('bad')).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown key') as string })
    expect(await login('')).toMatchObject({ code: 1, stderr: expect.stringContaining('no key') as string })
    expect((await login('good\n')).code).toBe(0)
    const path = join(home, 'terrane', 'profiles.json')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ harbour: { url, key: 'good' } })
    expect((await stat(path)).mode & 0o077).toBe(0)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('help loads no schema library, no upload client and no app', async () => {
  const trace = join(folder, 'trace.mjs')
  await writeFile(
    trace,
    `import { registerHooks } from 'node:module'
     const seen = []
     registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) })
     const compilers = () => process.moduleLoadList.filter((name) => name.includes('amaro'))
     process.on('exit', () => console.error([...seen, ...compilers()].join('\\n')))`,
  )
  // The first completion after a change of the sources keeps the words.
  await promisify(execFile)(process.execPath, [PROGRAM, 'complete', '--', ''])
  await promisify(execFile)(process.execPath, [PROGRAM, 'complete', '--', ''])
  await promisify(execFile)(process.execPath, [PROGRAM, '--help'])
  for (const args of [['--help'], ['complete', '--', 'jobs', '']]) {
    const { stderr } = await promisify(execFile)(process.execPath, ['--import', trace, PROGRAM, ...args])
    expect(stderr).toContain('/apps/cli/src/')
    expect(stderr.split('\n').filter((url) => /typebox|tus-js-client|fflate|\/apps\/(?!cli\/)/.test(url))).toEqual([])
    // Files that Node has compiled before need no compiler of types, which takes as long as Node itself.
    expect(stderr).not.toContain('amaro')
    // The words of the completion are kept, so that it loads no command.
    expect(stderr.includes('/apps/cli/src/commands/')).toBe(args[0] === '--help')
  }
})
