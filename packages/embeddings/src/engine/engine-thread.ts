import { Thread } from '@terrane/core/threads'

import { inferenceFailed, threadLost } from '../errors.ts'
import { ON_CPU } from './providers.ts'
import type { BatchMessage, Job, ReadyThread, ThreadEvent, EngineMethods, ThreadSetup } from './protocol.ts'

/** A worker thread that is prepared once and then does one job at a time. */
export class EngineThread {
  readonly #thread: Thread<EngineMethods, ThreadEvent>
  #onBatch: ((batch: BatchMessage) => void) | null = null
  #ready: ReadyThread = { choice: ON_CPU, hasFreeBatch: false }

  private constructor(script: URL, setup: ThreadSetup) {
    this.#thread = new Thread(script, {
      setup,
      onEvent: (event) => {
        if (event.type === 'batch') this.#onBatch?.(event)
        else this.#ready = event
      },
      toLostError: (why) => threadLost({ why }),
      toError: (why) => inferenceFailed({ id: setup.manifest.id, why }),
    })
  }

  /** @throws what the thread's preparation throws */
  static async start(script: URL, setup: ThreadSetup): Promise<EngineThread> {
    const thread = new EngineThread(script, setup)
    await thread.#thread.ready
    return thread
  }

  /** Execution provider of the thread's model, and whether it takes any number of tiles. */
  get about(): ReadyThread {
    return this.#ready
  }

  /** Whether the thread has ended unexpectedly. */
  get lost(): boolean {
    return this.#thread.hasEnded
  }

  /**
   * Runs a job; settles when the thread is idle again, or has ended.
   *
   * @throws INFERENCE_THREAD_LOST, or what the job throws
   */
  run(job: Job, onBatch: (batch: BatchMessage) => void): Promise<void> {
    this.#onBatch = onBatch
    return this.#thread.call('run', job)
  }

  async terminate(): Promise<void> {
    await this.#thread[Symbol.asyncDispose]()
  }
}
