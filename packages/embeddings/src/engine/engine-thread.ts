import { Worker } from 'node:worker_threads'

import { reviveError } from '@terrane/core'

import { inferenceFailed, threadLost } from '../errors.ts'
import { ON_CPU, type ProviderChoice } from './providers.ts'
import { type BatchMessage, type Job, type ThreadMessage, type ThreadSetup } from './protocol.ts'

/** What to do at the end of the present stage: getting ready, or a job. */
interface Stage {
  readonly onBatch: (batch: BatchMessage) => void
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** A worker thread that is prepared once and then does one job at a time. */
export class EngineThread {
  readonly #worker: Worker
  readonly #modelId: string
  #stage: Stage | null = null
  #lost: Error | null = null
  #choice = ON_CPU

  private constructor(script: URL, setup: ThreadSetup) {
    this.#modelId = setup.manifest.id
    this.#worker = new Worker(script, { workerData: setup })
    this.#worker.on('message', (message: ThreadMessage) => this.#receive(message))
    this.#worker.on('error', (error) => this.#lose(error instanceof Error ? error.message : String(error)))
    this.#worker.on('exit', (code) => this.#lose(`it exited with code ${code}`))
  }

  /**
   * @throws what the thread's preparation throws
   */
  static async start(script: URL, setup: ThreadSetup): Promise<EngineThread> {
    const thread = new EngineThread(script, setup)
    try {
      await thread.#enter(() => undefined)
    } catch (error) {
      await thread.terminate()
      throw error
    }
    return thread
  }

  /** What computes its model. */
  get choice(): ProviderChoice {
    return this.#choice
  }

  /** True when the thread has ended without being told to. */
  get lost(): boolean {
    return this.#lost !== null
  }

  /**
   * Does a job; settles when the thread is idle again, or gone.
   *
   * @throws INFERENCE_THREAD_LOST, or what the job throws
   */
  run(job: Job, onBatch: (batch: BatchMessage) => void): Promise<void> {
    const done = this.#enter(onBatch)
    this.#worker.postMessage(job, [])
    return done
  }

  async terminate(): Promise<void> {
    this.#lose('it was closed')
    await this.#worker.terminate()
  }

  #enter(onBatch: (batch: BatchMessage) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#lost) reject(this.#lost)
      else this.#stage = { onBatch, resolve, reject }
    })
  }

  #receive(message: ThreadMessage): void {
    const stage = this.#stage
    if (message.type === 'batch') {
      stage?.onBatch(message)
      return
    }
    this.#stage = null
    if (message.type === 'ready') this.#choice = message.choice
    if (message.type === 'failed')
      stage?.reject(reviveError(message.error, (why) => inferenceFailed({ id: this.#modelId, why })))
    else stage?.resolve()
  }

  #lose(why: string): void {
    this.#lost ??= threadLost({ why })
    this.#stage?.reject(this.#lost)
    this.#stage = null
  }
}
