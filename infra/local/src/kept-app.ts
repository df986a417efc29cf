import { setTimeout as sleep } from 'node:timers/promises'
import { App } from './apps.ts'
import { printLine } from './log.ts'

/** Minimum delay between two starts of an app that ends repeatedly. */
const LEAST_WAIT_MS = 500
const MOST_WAIT_MS = 30_000

/** An app of the stack that is restarted when it ends. */
export class KeptApp implements AsyncDisposable {
  readonly name: string
  readonly #env: Readonly<Record<string, string>>
  readonly #stopping = new AbortController()
  #app: App | null = null
  #waitMs = LEAST_WAIT_MS
  #restarting: Promise<void> = Promise.resolve()

  private constructor(name: string, env: Readonly<Record<string, string>>) {
    this.name = name
    this.#env = env
  }

  /** @throws when its first start fails, or the signal aborts meanwhile */
  static async start(name: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<KeptApp> {
    const kept = new KeptApp(name, env)
    kept.#app = await kept.#start(signal)
    return kept
  }

  /** True while the app runs, as far as this process knows; false during a restart. */
  get isRunning(): boolean {
    return this.#app !== null
  }

  /** Process id; null during a restart. */
  get pid(): number | null {
    return this.#app?.pid ?? null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#restarting
    const app = this.#app
    this.#app = null
    await app?.stop()
  }

  #start(signal: AbortSignal): Promise<App> {
    return App.start(this.name, this.#env, (message) => this.#ended(message), signal)
  }

  #ended(message: string): void {
    const { signal } = this.#stopping
    this.#app = null
    if (signal.aborted) return
    printLine(this.name, `${message}; it is started again, the other apps go on`)
    this.#restarting = this.#restart(signal)
  }

  async #restart(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const began = performance.now()
      this.#waitMs = Math.min(MOST_WAIT_MS, this.#waitMs * 2)
      try {
        const app = await this.#start(signal)
        this.#app = app
        printLine(this.name, `is back after ${((performance.now() - began) / 1000).toFixed(1)} s`)
        this.#forgetWaits(app)
        return
      } catch (error) {
        if (!signal.aborted) printLine(this.name, (error as Error).message)
      }
    }
  }

  /** Resets the delay when an app has run for a while, so that it is restarted at once. */
  #forgetWaits(app: App): void {
    setTimeout(() => {
      if (this.#app === app) this.#waitMs = LEAST_WAIT_MS
    }, MOST_WAIT_MS).unref()
  }
}
