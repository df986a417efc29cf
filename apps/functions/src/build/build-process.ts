import { spawn, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { bundleFailed, type Bundle, type BundleFailure, type ModuleGraph } from '@terrane/bundler'
import { buildLimit } from '../errors.ts'
import { unpack } from './archive.ts'
import { encodeFrame, readFrames, type Frame } from './frame.ts'

/** A job for a build process. The bytes of `files` follow in order. */
export type BuildJob =
  | { readonly kind: 'folder'; readonly folder: string; readonly fetched: ModuleGraph | null }
  | { readonly kind: 'files'; readonly files: readonly (readonly [path: string, size: number])[] }

/** Messages of a build process: `ready` once, then one answer per job. `broken`: the bundler itself failed. */
export type BuildAnswer =
  | { readonly ready: true }
  | { readonly inputs: readonly string[] }
  | ({ readonly problems: readonly string[] } & BundleFailure)
  | { readonly broken: string }

/** Largest answer: the bundle, its files and its messages. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** Heap of the Node side, and private memory of the bundler's Go side. */
const NODE_HEAP_MB = 192
const BUNDLER_MB = 450
/** Private memory that Node reserves before it does anything, in MB: address space of V8 that counts as data. */
const NODE_BASE_MB = 640
const CPU_SECONDS = 60

const BUNDLER = fileURLToPath(new URL('./bundler.sh', import.meta.url))

/**
 * One disposable process that bundles, with limits set before it runs: memory, CPU time, no core files, no file writes.
 * It is the leader of a process group, so that the bundler it starts ends with it.
 */
export class BuildProcess {
  /** True until it has ended or was ended. */
  alive = true
  readonly #child: ChildProcess
  readonly #frames: AsyncGenerator<Frame>
  readonly #ready: Promise<unknown>

  /** @param program path of the bundled `build.worker.ts` */
  constructor(program: string) {
    const script = [
      'ulimit -c 0',
      `ulimit -t ${CPU_SECONDS}`,
      'ulimit -f 0',
      // macOS accepts no data limit.
      ...(process.platform === 'linux' ? [`ulimit -d ${(NODE_BASE_MB + NODE_HEAP_MB) * 1024}`] : []),
      'exec "$0" "$@"',
    ].join(' && ')
    const command = [process.execPath, `--max-old-space-size=${NODE_HEAP_MB}`, '--no-warnings', program]
    this.#child = spawn('/bin/sh', ['-c', script, ...command], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: bundlerEnvironment(),
    })
    this.#child.on('error', () => (this.alive = false))
    this.#child.on('exit', () => (this.alive = false))
    this.#child.stdin!.on('error', ignore)
    this.#frames = readFrames(this.#child.stdout!, MAX_ANSWER_BYTES)
    this.#ready = this.#frames.next()
    this.#ready.catch(ignore)
  }

  /**
   * Runs one job. The time limit counts from the moment the process is ready.
   *
   * @throws FUNCTION_BUNDLE_FAILED for problems of the function, FUNCTION_BUILD_LIMIT when a limit was exceeded: then
   * the process has ended
   */
  async run(job: BuildJob, payload: Uint8Array, limitMs: number): Promise<Bundle> {
    await this.#ready
    let late = false
    const timer = setTimeout(() => {
      late = true
      this.end()
    }, limitMs)
    let answer: Frame | undefined
    try {
      this.#child.stdin!.write(encodeFrame({ header: job, payload }))
      const next = await this.#frames.next()
      if (!next.done) answer = next.value
    } catch {
      // The process sent something that is not an answer, or more than the limit.
    } finally {
      clearTimeout(timer)
    }
    const header = answer?.header as BuildAnswer | undefined
    if (header && 'inputs' in header) return { ...unpack(Buffer.from(answer!.payload)), inputs: header.inputs }
    if (header && 'problems' in header)
      throw bundleFailed({ problems: header.problems }, { cause: header satisfies BundleFailure })
    this.end()
    throw buildLimit({
      what: late ? `${limitMs / 1000} seconds` : `${BUNDLER_MB} MB of memory and ${CPU_SECONDS} seconds of CPU time`,
    })
  }

  /** Ends the process and everything it has started. */
  end(): void {
    this.alive = false
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // The process group has already ended.
    }
  }
}

/**
 * Environment of the script that limits and starts the bundler. Nothing else of the host's environment is passed on.
 */
function bundlerEnvironment(): Record<string, string> {
  return {
    ESBUILD_BINARY_PATH: BUNDLER,
    TERRANE_BUNDLER: bundlerBinary(),
    TERRANE_BUNDLER_KIB: process.platform === 'linux' ? String(BUNDLER_MB * 1024) : 'unlimited',
    GOMEMLIMIT: `${Math.floor(BUNDLER_MB * 0.8)}MiB`,
  }
}

function bundlerBinary(): string {
  const parent = createRequire(import.meta.url).resolve('esbuild')
  const name = process.platform === 'win32' ? 'esbuild.exe' : 'bin/esbuild'
  return createRequire(parent).resolve(`@esbuild/${process.platform}-${process.arch}/${name}`)
}

function ignore(): void {}
