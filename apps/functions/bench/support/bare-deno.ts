import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findDeno } from '../../src/runtime/machine.ts'

export const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** A program in Deno without this host: the peer of a function. */
export interface BareDeno extends AsyncDisposable {
  readonly pid: number
  /** `performance.now()` just before the process was started. */
  readonly started: number
  /** Resolves with its first line of output. */
  readonly firstLine: Promise<string>
}

/** Creates a folder with a program that can import the packages of a folder; by default those of this app. */
export async function program(
  source: string,
  packages = PACKAGES,
): Promise<{ readonly file: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-bare-'))
  const file = join(folder, 'index.ts')
  await symlink(packages, join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await writeFile(file, source)
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

/** Runs a program. Deno's own cache is kept, as for a program that has run before. */
export async function runBare(file: string, env: Readonly<Record<string, string>> = {}): Promise<BareDeno> {
  const deno = await findDeno()
  assert(deno, 'there is no Deno for this platform')
  const started = performance.now()
  const child = spawn(deno, ['run', '--quiet', '--allow-all', '--no-lock', '--node-modules-dir=manual', file], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // The same priority as the processes of functions, because it matters on a busy machine.
  setPriority(child.pid!, 5)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const firstLine = new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    void exited.then(() => reject(new Error('bare Deno ended without a line')))
  })
  firstLine.catch(() => {})
  return {
    pid: child.pid!,
    started,
    firstLine,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
