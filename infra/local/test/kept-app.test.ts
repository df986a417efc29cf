import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '@terrane/testing/ports'
import { KeptApp } from '../src/kept-app.ts'
import { makeKeys } from '../src/keys.ts'
import { functionsFor } from './support/processes.ts'

let folder: string
let env: Record<string, string>
let url: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-kept-'))
  const [port] = await freePorts(1)
  const keys = await makeKeys('local')
  url = `http://127.0.0.1:${port}`
  env = {
    HOST: '127.0.0.1',
    PORT: String(port),
    LOG_LEVEL: 'warn',
    TERRANE_HOME: folder,
    TERRANE_JWT_SECRET: keys.jwtSecret,
    TERRANE_SERVICE_ROLE_KEY: keys.serviceRoleKey,
    TERRANE_FUNCTIONS_STORAGE: `file:${join(folder, 'archives')}`,
    TERRANE_PROJECT_URL: 'http://127.0.0.1:9',
    TERRANE_FUNCTIONS_DIR: await functionsFor(folder, {
      open: [{ auth: 'none' }, `export default () => new Response('in')`],
    }),
  }
})
afterAll(() => rm(folder, { recursive: true }))

test('an app that dies is started again, as often as it dies, and stopped when that is asked', async () => {
  const app = await KeptApp.start('functions', env, new AbortController().signal)
  try {
    const pids: (number | null)[] = [app.pid]
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      process.kill(app.pid!, signal)
      await expect.poll(() => app.isRunning).toBe(false)
      expect(app.pid).toBeNull()
      await expect.poll(() => app.isRunning, { timeout: 120_000 }).toBe(true)
      expect((await fetch(`${url}/health/live`)).status).toBe(200)
      pids.push(app.pid)
    }
    expect(new Set(pids).size).toBe(3)
  } finally {
    await app[Symbol.asyncDispose]()
  }
  expect(app.isRunning).toBe(false)
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('an app that does not start once is not started again, and one that is told to stop meanwhile ends', async () => {
  const start = (own: Record<string, string>, signal: AbortSignal) =>
    KeptApp.start('functions', { ...env, ...own }, signal)
  await expect(start({ PORT: 'none' }, new AbortController().signal)).rejects.toThrow(
    'functions did not start (exit code 1)',
  )
  await expect(start({}, AbortSignal.abort())).rejects.toThrow('functions was stopped before it listened')
})
