import { fork, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { printLine } from './log.ts'
import { cpuSeconds } from './progress.ts'

const ROOT = new URL('../../../', import.meta.url)
/** Milliseconds without a log line or CPU use that fail an app's start; a first start may build a graph for an hour. */
const STALL_MS = 180_000
/** Processor time within {@link STALL_MS} that counts as progress, in seconds. */
const LEAST_CPU_SECONDS = 2
const LOOK_MS = 1000
/** Milliseconds after which an app that does not stop is killed. */
const STOP_TIMEOUT_MS = 15_000

/** One app of the stack in a separate process. */
export class App {
  readonly name: string
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  #stopping = false
  #isUp = false
  /** Time of its last output or of noticeable CPU use. */
  #progressAt = performance.now()
  #computed = 0

  private constructor(name: string, child: ChildProcess, onFailure: (message: string) => void) {
    this.name = name
    this.#child = child
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (this.#isUp && !this.#stopping) onFailure(`${name} ended unexpectedly (${signal ?? `exit code ${code}`})`)
        resolve(code)
      })
    })
  }

  /**
   * Starts `apps/{name}/src/main.ts` and waits until it listens, for as long as it makes progress.
   *
   * @param onFailure called when it ends by itself after that
   * @throws when it ends, stalls, or the signal aborts before it listens
   */
  static async start(
    name: string,
    env: Readonly<Record<string, string>>,
    onFailure: (message: string) => void,
    signal?: AbortSignal,
  ): Promise<App> {
    const child = fork(fileURLToPath(new URL(`apps/${name}/src/main.ts`, ROOT)), {
      cwd: fileURLToPath(ROOT),
      env: { ...inherited(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C reaches only this process, which stops the apps in order.
      detached: true,
    })
    const app = new App(name, child, onFailure)
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => app.#print(line))
    }
    try {
      await app.#listening(signal)
    } catch (error) {
      await app.stop()
      throw error
    }
    return app
  }

  /** Process id. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Its exit code; null while it runs, and after it was killed. */
  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** Asks the app to stop and waits; kills it when it does not. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await this.#exited
    clearTimeout(timer)
  }

  #print(line: string): void {
    this.#progressAt = performance.now()
    printLine(this.name, line)
  }

  #listening(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = () => reject(new Error(`${this.name} was stopped before it listened`))
    const look = setInterval(() => void this.#look().catch(reject), LOOK_MS)
    this.#child.on('message', (message: { type?: string }) => {
      if (message.type !== 'listening') return
      this.#isUp = true
      resolve()
    })
    void this.#exited.then((code) =>
      reject(new Error(`${this.name} did not start (exit code ${code}); see its lines above`)),
    )
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    return promise.finally(() => {
      clearInterval(look)
      signal?.removeEventListener('abort', stop)
    })
  }

  /** @throws when there is no progress any more */
  async #look(): Promise<void> {
    const computed = await cpuSeconds(this.pid)
    if (computed === null || computed - this.#computed >= LEAST_CPU_SECONDS) {
      this.#computed = computed ?? 0
      this.#progressAt = performance.now()
    }
    if (performance.now() - this.#progressAt > STALL_MS)
      throw new Error(`${this.name} did not start: for ${STALL_MS / 1000} s it said and computed nothing`)
  }
}

const PASSED: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'TZ',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'HF_TOKEN',
])

/** Environment variables that apps inherit from this process. Settings of the stack itself are passed explicitly. */
function inherited(): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value && (PASSED.has(name) || /^(GEOEMBEDDINGS|TERRANE|AWS)_/.test(name))) env[name] = value
  }
  return env
}
