import { fork, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { printLine } from './log.ts'

const ROOT = new URL('../../../', import.meta.url)
/** Longest time for an app to start listening. Its first start may have to build a graph or a model. */
const START_TIMEOUT_MS = 180_000
/** An app that does not stop by itself is killed after this time. */
const STOP_TIMEOUT_MS = 15_000

/** One app of the stack, in a process of its own. */
export class App {
  readonly name: string
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  #stopping = false

  private constructor(name: string, child: ChildProcess, onFailure: (message: string) => void) {
    this.name = name
    this.#child = child
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (!this.#stopping) onFailure(`${name} ended unexpectedly (${signal ?? `exit code ${code}`})`)
        resolve(code)
      })
    })
  }

  /** Starts `apps/{name}/src/main.ts` and waits until it listens. */
  static async start(
    name: string,
    env: Readonly<Record<string, string>>,
    onFailure: (message: string) => void,
  ): Promise<App> {
    const child = fork(fileURLToPath(new URL(`apps/${name}/src/main.ts`, ROOT)), {
      cwd: fileURLToPath(ROOT),
      env: { ...inherited(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C reaches this process only; it stops the apps in order.
      detached: true,
    })
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => printLine(name, line))
    }
    const app = new App(name, child, onFailure)
    await app.#listening()
    return app
  }

  /** The code that it ended with; null while it runs, and after it was killed. */
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

  #listening(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${this.name} did not start within ${START_TIMEOUT_MS / 1000} s`)),
        START_TIMEOUT_MS,
      )
      this.#child.on('message', (message: { type?: string }) => {
        if (message.type !== 'listening') return
        clearTimeout(timer)
        resolve()
      })
      void this.#exited.then((code) => {
        clearTimeout(timer)
        return reject(new Error(`${this.name} did not start (exit code ${code}); see its lines above`))
      })
    })
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
