import type { Model } from '../models/acquire-files.ts'
import { EngineThread } from './engine-thread.ts'
import { ON_CPU, type Provider, type ProviderChoice } from './providers.ts'
import type { EngineMode } from './schedule.ts'

export interface PoolOptions {
  /** Use of the cores when the CPU computes. */
  readonly onCpu: EngineMode
  readonly cores: number
  /** Execution providers, in order of preference. */
  readonly providers: readonly Provider[]
}

const DECODE = new URL('./decode.worker.ts', import.meta.url)
const INFER = new URL('./infer.worker.ts', import.meta.url)
const EMBED = new URL('./embed.worker.ts', import.meta.url)

/** The threads of an engine; after the loss of one all are restarted. */
export class ThreadPool {
  readonly #model: Model
  readonly #options: PoolOptions
  #threads: EngineThread[] = []
  #choice: ProviderChoice | null = null
  #hasFreeBatch = false
  #closed = false

  constructor(model: Model, options: PoolOptions) {
    this.#model = model
    this.#options = options
  }

  /** Execution provider of the model, once it is open. It stays the same for the life of the pool. */
  get choice(): ProviderChoice {
    return this.#choice ?? ON_CPU
  }

  /** Whether a device computes a model that takes any number of tiles per run. */
  get hasFreeBatch(): boolean {
    return this.#hasFreeBatch
  }

  /** On a device, one thread infers and another one decodes. */
  get mode(): EngineMode {
    return this.choice.provider === 'cpu' ? this.#options.onCpu : 'pipeline'
  }

  /**
   * @throws MODEL_MISMATCH when the graph does not fit the manifest, or the device used before is no longer available
   */
  async open(): Promise<readonly EngineThread[]> {
    if (this.#closed) throw new Error('the engine is closed')
    if (this.#threads.length > 0 && this.#threads.every((thread) => !thread.lost)) return this.#threads
    await this.#end()
    const { cores } = this.#options
    const device = await this.#openDevice()
    const starting = device
      ? [this.#start(DECODE, 1), Promise.resolve(device)]
      : this.mode === 'pipeline'
        ? [this.#start(DECODE, 1), this.#start(INFER, cores)]
        : Array.from({ length: cores }, () => this.#start(EMBED, 1))
    const started = await Promise.allSettled(starting)
    this.#threads = started.filter((one) => one.status === 'fulfilled').map(({ value }) => value)
    const failure = started.find((one) => one.status === 'rejected')
    if (failure) {
      await this.#end()
      throw failure.reason
    }
    this.#choice ??= ON_CPU
    return this.#threads
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#end()
  }

  /** Opens the thread with the first available device; null for the CPU. */
  async #openDevice(): Promise<EngineThread | null> {
    const wanted = this.#choice ? [this.#choice.provider] : this.#options.providers
    if (wanted[0] === 'cpu') return null
    const thread = await this.#start(INFER, this.#options.cores, wanted)
    const { choice, hasFreeBatch } = thread.about
    this.#choice ??= choice
    this.#hasFreeBatch = choice.provider !== 'cpu' && hasFreeBatch
    if (choice.provider !== 'cpu') return thread
    await thread.terminate()
    if (this.#choice.provider !== 'cpu') throw new Error(`${this.#choice.provider} is gone`)
    return null
  }

  #start(script: URL, threads: number, providers: readonly Provider[] = ['cpu']): Promise<EngineThread> {
    const { manifest, graph } = this.#model
    return EngineThread.start(script, { manifest, graph, threads, providers })
  }

  async #end(): Promise<void> {
    const threads = this.#threads
    this.#threads = []
    await Promise.all(threads.map((thread) => thread.terminate()))
  }
}
