import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { announce } from '../src/announce.ts'
import { runSteps } from '../src/demo/demo.ts'
import { loadKeys } from '../src/keys.ts'

const CLI = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url))
const PORTS = { worker: 61, origin: 62, functions: 63, router: 64, console: 65, database: 66 }

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrane-announce-'))
})
afterEach(() => rm(home, { recursive: true }))

/** The output of `terrane env` in the folder of a stack. */
async function environment(): Promise<string> {
  const child = spawn(process.execPath, [CLI, 'env'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // oxlint-disable-next-line node/no-process-env -- Programs are looked up on PATH.
    env: { ...compileCache, PATH: process.env['PATH'] ?? '', TERRANE_HOME: home },
  })
  return (await Promise.all([text(child.stdout), text(child.stderr)])).join('')
}

test('the command line finds its own stack, whatever its ports, while its origin runs', async () => {
  const keys = await loadKeys(home, 'local')
  const origin = { name: 'origin', isRunning: true }
  const settings = { home, ports: PORTS, databaseUrl: null }
  const announced = await announce(settings, keys, [origin])
  expect((await stat(join(home, 'stack.json'))).mode & 0o777).toBe(0o600)
  expect(await environment()).toContain(`export TERRANE_URL='http://127.0.0.1:62'`)
  origin.isRunning = false
  const said = await environment()
  expect(said).toContain('its origin is being started again')
  expect(said).not.toContain(keys.serviceRoleKey)
  await announced[Symbol.asyncDispose]()
  expect(await readdir(home)).toEqual(['keys.json'])
  // Leftover file of a stack that was killed.
  origin.isRunning = true
  await using other = await announce(settings, { jwtSecret: 'of another stack' }, [origin])
  expect(other).toBeDefined()
  expect(await environment()).toContain('is used by another program')
})

test('a step of the demo that fails is told and passed over', async () => {
  const done: string[] = []
  const step = (name: string) => async () => void done.push(name)
  const fail = () => Promise.reject(new Error('no room left'))
  const { signal } = new AbortController()
  const said: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => said.push(String(line)) > 0)
  onTestFinished(() => write.mockRestore())
  expect(await runSteps({ first: step('first'), second: fail, third: step('third') }, signal)).toBe(false)
  expect(said.join('')).toContain(`The demo's second failed: no room left`)
  expect(said.join('')).toContain('1 of 3 steps of the demo failed; the stack is up.')
  expect(done).toEqual(['first', 'third'])
  expect(await runSteps({ first: step('first') }, signal)).toBe(true)
})
