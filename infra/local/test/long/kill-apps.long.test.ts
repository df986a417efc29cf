// Slow: starts the whole stack, and each of its apps once more.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { freePorts } from '@terrane/testing/ports'
import { CONSOLE_EMAIL } from '../../src/keys.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const APPS = ['worker', 'functions', 'router', 'console', 'origin'] as const
const BACK_MS = 300_000
let home: string
let stack: ChildProcess
let output = ''
const urls = {} as Record<(typeof APPS)[number], string>

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrane-kill-apps-'))
  const ports = await freePorts(APPS.length + 1)
  const env: Record<string, string> = {
    ...compileCache,
    TERRANE_HOME: home,
    TERRANE_DATABASE_PORT: String(ports.at(-1)),
  }
  for (const [i, name] of APPS.entries()) {
    env[`TERRANE_${name.toUpperCase()}_PORT`] = String(ports[i])
    urls[name] = `http://127.0.0.1:${ports[i]}`
  }
  // oxlint-disable-next-line node/no-process-env -- Programs are looked up on PATH.
  const { PATH = '', HOME = '' } = process.env
  stack = spawn(process.execPath, ['infra/local/src/main.ts', '--no-demo'], {
    cwd: ROOT,
    env: { ...env, PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [stack.stdout!, stack.stderr!]) stream.on('data', (chunk) => (output += String(chunk)))
})
afterAll(async () => {
  stack.kill('SIGINT')
  if (stack.exitCode === null) await once(stack, 'exit')
  await rm(home, { recursive: true, force: true })
})

/** Process ids of the apps, by name. */
async function pids(): Promise<Record<string, number>> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'args='])
  const found: Record<string, number> = {}
  for (const line of stdout.split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/, 2).map(Number)
    const name = /apps\/(\w+)\/src\/main\.ts/.exec(line)?.[1]
    if (parent === stack.pid && name !== undefined) found[name] = pid!
  }
  return found
}

async function isReady(name: (typeof APPS)[number]): Promise<boolean> {
  return fetch(`${urls[name]}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

test('each app that is killed returns, the others stay, and who is signed in goes on', async () => {
  await expect.poll(() => output, { timeout: 800_000 }).toContain('Ctrl-C stops everything')
  const keys = JSON.parse(await readFile(join(home, 'keys.json'), 'utf8')) as Record<string, string>
  const signIn = await fetch(`${urls.console}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: CONSOLE_EMAIL, password: keys['consolePassword'] }),
  })
  expect(signIn.status).toBe(200)
  const cookie = (signIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  for (const name of APPS) await expect.poll(() => isReady(name), { timeout: BACK_MS }).toBe(true)
  for (const name of APPS) {
    const before = await pids()
    expect(Object.keys(before).toSorted()).toEqual([...APPS].toSorted())
    process.kill(before[name]!, 'SIGKILL')
    await expect
      .poll(() => output, { timeout: BACK_MS })
      .toContain(`${name} ended unexpectedly (SIGKILL); it is started again`)
    await expect.poll(() => isReady(name), { timeout: BACK_MS }).toBe(true)
    const after = await pids()
    expect(after[name]).not.toBe(before[name])
    expect({ ...after, [name]: 0 }).toEqual({ ...before, [name]: 0 })
    const session = await fetch(`${urls.console}/api/session`, { headers: { cookie } })
    expect(session.status).toBe(200)
    const headers = { apikey: keys['serviceRoleKey']!, authorization: `Bearer ${keys['serviceRoleKey']}` }
    await expect
      .poll(async () => (await fetch(`${urls.origin}/worker/capacity`, { headers })).status, { timeout: BACK_MS })
      .toBe(200)
  }
})
