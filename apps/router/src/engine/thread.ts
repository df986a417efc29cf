import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Action, Limits, SearchKind, SentAnswer, SharedNetwork } from '@terrane/routing'
import type { WorkNews, WorkOrder } from './desk.ts'

/** Data with which a thread is started. */
export interface ThreadData {
  readonly shared: SharedNetwork
  readonly limits: Limits
  /** Number of costings with options that the thread caches. */
  readonly costings: number
  readonly search: SearchKind
  /** Actions that `status` lists as served. */
  readonly actions: readonly Action[]
  /** When the graph was made, in milliseconds since 1970; null when unknown. */
  readonly builtAt: number | null
  /** Longest computation of an answer that is made in steps. */
  readonly timeoutMs: number
}

/** An answer, or the message of an unexpected error. */
export type ThreadAnswer = SentAnswer | { readonly failure: string }

/** V8's young generation in MiB. Unbounded it grows to a hundred per thread, and routes become no faster. */
const YOUNG_MB = 24

interface Listeners {
  readonly onAnswer: (answer: ThreadAnswer) => void
  readonly onNews: (news: WorkNews) => void
  readonly onEnd: (error: unknown) => void
}

/** A thread that computes routes, with its requests; it computes the first one. Other work has numbers. */
export class Thread<Job, Other = never> {
  readonly jobs: Job[] = []
  readonly works = new Map<number, Other>()
  readonly #worker: Worker
  #timer: NodeJS.Timeout | undefined

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** Starts a thread; resolves when it reports that it is ready. */
  static async start<Job, Other = never>(program: URL, data: ThreadData): Promise<Thread<Job, Other>> {
    const worker = new Worker(program, { workerData: data, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
    // Rejects with the error of a thread that fails before it is ready.
    await once(worker, 'message')
    return new Thread<Job, Other>(worker)
  }

  /** @param onEnd called once when the thread ends by itself or by `end` */
  listen({ onAnswer, onNews, onEnd }: Listeners): void {
    this.#worker.on('message', (message: ThreadAnswer | WorkNews) => {
      if ('work' in message) onNews(message)
      else onAnswer(message)
    })
    let cause: unknown = null
    this.#worker.on('error', (error) => (cause = error))
    this.#worker.on('exit', () => onEnd(cause))
  }

  send(order: string | WorkOrder): void {
    this.#worker.postMessage(order)
  }

  /** Calls back when the current request takes too long. Each call restarts the time; null stops it. */
  setTimer(milliseconds: number | null, onTimeout?: () => void): void {
    clearTimeout(this.#timer)
    if (milliseconds !== null) this.#timer = setTimeout(onTimeout!, milliseconds)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#worker.terminate()
  }
}
