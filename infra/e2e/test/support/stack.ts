import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { freePorts } from '@terrane/testing/ports'
import { compileCache } from '@terrane/testing/compile-cache'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const NAMES = ['WORKER', 'ORIGIN', 'FUNCTIONS', 'ROUTER', 'CONSOLE', 'DATABASE'] as const

/** A busy machine takes minutes for a start that takes 20 s on an idle one. */
export const START_TIMEOUT_MS = 800_000

/** The local stack, started like `npm start` with its own ports and state folder. */
export interface RunningStack extends AsyncDisposable {
  readonly home: string
  /** Process id of the parent of the apps. */
  readonly pid: number
  readonly consoleUrl: string
  readonly urls: Readonly<Record<'origin' | 'functions' | 'worker' | 'database', string>>
  /** Secrets that must never be visible outside. */
  readonly keys: Readonly<Record<string, string>>
  readonly password: string
  output(): string
}

export async function startStack(settings: Readonly<Record<string, string>>): Promise<RunningStack> {
  const home = await mkdtemp(join(tmpdir(), 'terrane-e2e-'))
  const free = await freePorts(NAMES.length)
  const ports = Object.fromEntries(NAMES.map((name, i) => [name, free[i]])) as Record<(typeof NAMES)[number], number>
  const child = spawn(process.execPath, ['infra/local/src/main.ts'], {
    cwd: ROOT,
    env: {
      ...compileCache,
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TERRANE_HOME: home,
      ...Object.fromEntries(NAMES.map((name) => [`TERRANE_${name}_PORT`, String(ports[name])])),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    await rm(home, { recursive: true, force: true })
  }
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!output.includes('Ctrl-C stops everything')) {
    const late = performance.now() > deadline
    if (late) await stop()
    if (late || child.exitCode !== null) throw new Error(`the stack ${late ? 'did not come up' : 'ended'}:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const { consolePassword: password = '', ...keys } = JSON.parse(
    await readFile(join(home, 'keys.json'), 'utf8'),
  ) as Record<string, string>
  return {
    home,
    pid: child.pid ?? 0,
    consoleUrl: `http://127.0.0.1:${ports.CONSOLE}`,
    urls: {
      origin: `http://127.0.0.1:${ports.ORIGIN}`,
      functions: `http://127.0.0.1:${ports.FUNCTIONS}`,
      worker: `http://127.0.0.1:${ports.WORKER}`,
      database: `postgres://postgres@127.0.0.1:${ports.DATABASE}/postgres`,
    },
    keys,
    password,
    output: () => output,
    [Symbol.asyncDispose]: stop,
  }
}
