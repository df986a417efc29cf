import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { buildFailed } from '../errors.ts'

/** Options for building graphs from extracts. */
export interface BuildChoices {
  readonly drivingSide: 'country' | 'left' | 'right'
  /** Includes streets under construction. */
  readonly construction: boolean
}

/** Request to the build process. */
export interface BuildTask {
  readonly extracts: readonly { readonly name: string; readonly path: string }[]
  readonly choices: BuildChoices
  /** Fingerprint of the inputs, which is stored in the graph file. */
  readonly inputs: string
  /** Path of the graph file. */
  readonly output: string
  /** Folder of this build, which is removed when the router has ended. */
  readonly draft: string
}

export type BuildMessage =
  | { readonly type: 'progress'; readonly phase: string; readonly message: string | null }
  | { readonly type: 'failed'; readonly reason: string }

/** Builds a graph file. @throws GRAPH_BUILD_FAILED, and the reason of the signal when it is aborted */
export type BuildGraph = (
  task: BuildTask,
  onProgress: (phase: string, message: string | null) => void,
  signal: AbortSignal,
) => Promise<void>

/** Builds a graph file in a separate process. */
export const buildInProcess: BuildGraph = async (task, onProgress, signal) => {
  signal.throwIfAborted()
  const child = fork(fileURLToPath(new URL('./build-process.ts', import.meta.url)), {
    stdio: 'inherit',
    // The build drops large arrays step by step and calls `gc` after it.
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  try {
    let reason: string | null = null
    child.on('message', (message: BuildMessage) => {
      if (message.type === 'failed') reason = message.reason
      else onProgress(message.phase, message.message)
    })
    const ended = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
    child.send(task)
    const [code, killedBy] = await ended
    signal.throwIfAborted()
    if (code !== 0) throw buildFailed({ reason: reason ?? `the process ended with ${killedBy ?? `exit code ${code}`}` })
  } finally {
    signal.removeEventListener('abort', kill)
  }
}
