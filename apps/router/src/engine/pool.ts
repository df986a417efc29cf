import {
  type Action,
  ACTIONS,
  RouteProblem,
  shareNetwork,
  type Limits,
  type Network,
  type SearchKind,
  type SentAnswer,
} from '@terrane/routing'
import type { Logger } from '@terrane/service'
import { ANSWERS, Refusal } from '../errors.ts'
import type { WorkAction, WorkNews } from './desk.ts'
import { Thread, type ThreadAnswer, type ThreadData } from './thread.ts'
import { type WorkAnswer, WorkJob } from './work.ts'

export interface PoolOptions {
  readonly threads: number
  readonly limits: Limits
  readonly costings: number
  readonly search: SearchKind
  /** Actions that are served, as `status` lists them; all when absent. */
  readonly actions?: readonly Action[]
  /** Maximum requests that wait for a thread. */
  readonly queue: number
  /** Longest computation of one answer. */
  readonly timeoutMs: number
  readonly logger: Logger
  /** The program of the threads; by default the one that computes routes. */
  readonly program?: URL
  /** Called for each thread that was ended after a timeout, or that ended by itself. */
  readonly onThreadLost?: (reason: 'timeout' | 'crash') => void
}

interface Job {
  readonly text: string
  readonly resolve: (answer: SentAnswer) => void
  readonly reject: (error: unknown) => void
  /** False when the client has disconnected. */
  readonly isWanted: () => boolean
}

const PROGRAM = new URL('./route.worker.ts', import.meta.url)

/** Requests that a thread has at the same time, so that the second one can start without a message. */
const AHEAD = 2
/** Maximum slow requests that take turns in a thread. */
const WORKS = 4

type RouteThread = Thread<Job, WorkJob>

/** Threads that share one graph. A request that takes too long ends only its thread, which is replaced. */
export class Pool {
  readonly network: Network
  readonly #options: PoolOptions
  readonly #threads = new Set<RouteThread>()
  readonly #waiting: Job[] = []
  readonly #waitingWorks: WorkJob[] = []
  /** Set by `close`; settles when all requests are answered. */
  #closing: PromiseWithResolvers<void> | null = null
  #closed = false

  readonly #builtAt: Date | null

  private constructor(network: Network, options: PoolOptions, builtAt: Date | null) {
    this.network = network
    this.#options = options
    this.#builtAt = builtAt
  }

  /** Starts the threads; resolves when all can answer. @param builtAt when the network was made, for `status` */
  static async open(network: Network, options: PoolOptions, builtAt: Date | null = null): Promise<Pool> {
    const pool = new Pool(network, options, builtAt)
    try {
      await Promise.all(Array.from({ length: options.threads }, () => pool.#addThread()))
      return pool
    } catch (error) {
      await pool.close()
      throw error
    }
  }

  /** Number of requests that no thread has yet. */
  get waiting(): number {
    return this.#waiting.length + this.#waitingWorks.length
  }

  /**
   * Answers the text of a request.
   *
   * @param isWanted called when a thread is free; false when the client has disconnected
   * @throws Refusal when too many wait or it took too long, RouteProblem 199 when the computation failed
   */
  answer(text: string, isWanted: () => boolean = () => true): Promise<SentAnswer> {
    return new Promise((resolve, reject) => {
      const job: Job = { text, resolve, reject, isWanted }
      const thread = this.#idlest()
      if (thread !== null) this.#give(thread, job)
      else if (this.#waiting.length < this.#options.queue) this.#waiting.push(job)
      else reject(new Refusal(ANSWERS.busy))
    })
  }

  /**
   * Answers the text of a request for something that takes longer than a route, beside the routes.
   *
   * @param signal ends the work when the caller is gone
   * @throws Refusal when too many wait or it took too long, RouteProblem 199 when the computation failed
   */
  work(action: WorkAction, text: string, signal: AbortSignal): Promise<WorkAnswer> {
    const { queue, timeoutMs } = this.#options
    const job = new WorkJob(action, text, { timeoutMs, signal })
    if (job.isOver) return job.answer
    if (this.#waitingWorks.length >= queue) job.fail(new Refusal(ANSWERS.busy))
    else this.#waitingWorks.push(job)
    this.#feedWorks()
    return job.answer
  }

  /** Ends the threads after their open requests. Nothing may be requested after this call. */
  async close(): Promise<void> {
    this.#closing ??= Promise.withResolvers()
    this.#closeWhenDone()
    await this.#closing.promise
    this.#closed = true
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }

  async #addThread(): Promise<void> {
    const { limits, costings, search, timeoutMs, actions = ACTIONS, program = PROGRAM } = this.#options
    const builtAt = this.#builtAt?.getTime() ?? null
    const shared = shareNetwork(this.network)
    const data: ThreadData = { shared, limits, costings, search, actions, builtAt, timeoutMs }
    const thread = await Thread.start<Job, WorkJob>(program, data)
    if (this.#closed) return thread.end()
    thread.listen({
      onAnswer: (answer) => this.#onAnswer(thread, answer),
      onNews: (news: WorkNews) => thread.works.get(news.work)?.hear(news),
      onEnd: (error) => this.#onEnd(thread, error),
    })
    this.#threads.add(thread)
    this.#feed(thread)
    this.#feedWorks()
  }

  #idlest(): RouteThread | null {
    let best: RouteThread | null = null
    for (const thread of this.#threads) {
      if (thread.jobs.length < (best?.jobs.length ?? AHEAD)) best = thread
    }
    return best
  }

  #give(thread: RouteThread, job: Job): void {
    thread.jobs.push(job)
    thread.send(job.text)
    if (thread.jobs.length === 1) this.#time(thread)
  }

  #feed(thread: RouteThread): void {
    while (thread.jobs.length < AHEAD && this.#waiting.length > 0) {
      const job = this.#waiting.shift()!
      if (job.isWanted()) this.#give(thread, job)
      else job.reject(new Refusal(ANSWERS.busy))
    }
    this.#closeWhenDone()
  }

  /** Assigns waiting work to the threads with the least work. */
  #feedWorks(): void {
    while (this.#waitingWorks.length > 0) {
      let best: RouteThread | null = null
      for (const thread of this.#threads) if (thread.works.size < (best?.works.size ?? WORKS)) best = thread
      if (best === null) break
      const thread = best
      const job = this.#waitingWorks.shift()!
      if (job.isOver) continue
      thread.works.set(job.id, job)
      job.begin({
        send: (order) => thread.send(order),
        onDone: () => {
          thread.works.delete(job.id)
          this.#feedWorks()
        },
        onSilent: () => this.#onTimeout(thread, job.text.length),
      })
    }
    this.#closeWhenDone()
  }

  #onAnswer(thread: RouteThread, answer: ThreadAnswer): void {
    const job = thread.jobs.shift()
    // Messages of a thread that was ended are ignored.
    if (job === undefined) return
    thread.setTimer(null)
    if (thread.jobs.length > 0) this.#time(thread)
    if ('failure' in answer) {
      this.#options.logger.error({ failure: answer.failure }, 'a route could not be computed')
      job.reject(new RouteProblem(199))
    } else job.resolve(answer)
    this.#feed(thread)
  }

  #time(thread: RouteThread): void {
    thread.setTimer(this.#options.timeoutMs, () => this.#onTimeout(thread, thread.jobs[0]!.text.length))
  }

  #onTimeout(thread: RouteThread, bytes: number): void {
    const { timeoutMs, logger } = this.#options
    logger.warn({ timeoutMs, bytes }, 'a request took too long, its thread is replaced')
    this.#replace(thread, new Refusal(ANSWERS.tookTooLong), 'timeout')
  }

  /** A thread that ends by itself also ends its current request. */
  #onEnd(thread: RouteThread, error: unknown): void {
    if (!this.#threads.has(thread) || this.#closed) return
    this.#options.logger.error({ err: error }, 'a routing thread ended')
    this.#replace(thread, new RouteProblem(199), 'crash')
  }

  #replace(thread: RouteThread, verdict: Error, reason: 'timeout' | 'crash'): void {
    if (!this.#threads.delete(thread)) return
    this.#options.onThreadLost?.(reason)
    const [inWork, ...others] = thread.jobs.splice(0)
    inWork?.reject(verdict)
    for (const work of thread.works.values()) work.fail(verdict)
    this.#waiting.unshift(...others)
    void thread.end()
    this.#restart(0)
    for (const other of this.#threads) this.#feed(other)
    this.#closeWhenDone()
  }

  #restart(delayMs: number): void {
    setTimeout(() => {
      if (this.#closed) return
      this.#addThread().catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'a routing thread did not start')
        this.#restart(RESTART_MS)
      })
    }, delayMs)
  }

  #busy(): number {
    let jobs = 0
    for (const thread of this.#threads) jobs += thread.jobs.length + thread.works.size
    return jobs
  }

  #closeWhenDone(): void {
    if (this.waiting === 0 && this.#busy() === 0) this.#closing?.resolve()
  }
}

/** Milliseconds before a failed start of a thread is repeated. */
const RESTART_MS = 1000
