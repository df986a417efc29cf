import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SyncMode } from '../../src/index.ts'

/** A server in a separate process. */
export interface ServerProcess {
  readonly url: string
  /** Sends SIGKILL, and resolves when the process has ended. */
  kill(): Promise<void>
}

interface ProcessOptions {
  readonly stuckMs?: number
  readonly sync?: SyncMode
  /** A module that its threads load first. */
  readonly preload?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a server process on a folder. */
export async function startProcess(dataDir: string, options: ProcessOptions = {}): Promise<ServerProcess> {
  const { stuckMs = 10_000, sync = 'soon', preload, env } = options
  const script = fileURLToPath(new URL('./serve.ts', import.meta.url))
  const child: ChildProcess = spawn(
    process.execPath,
    [...(preload === undefined ? [] : ['--import', preload]), script, dataDir, String(stuckMs), sync],
    // oxlint-disable-next-line node/no-process-env -- Programs are looked up on PATH.
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  )
  const exited = once(child, 'exit')
  const [line] = (await Promise.race([
    once(child.stdout!, 'data'),
    exited.then(() => Promise.reject(new Error('the database did not start'))),
  ])) as [Buffer]
  return {
    url: line.toString().trim(),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** A new folder that is deleted after the test. */
export async function openFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'terrane-embedded-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
