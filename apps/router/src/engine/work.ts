import { Readable } from 'node:stream'
import { RouteProblem } from '@terrane/routing'
import { ANSWERS, Refusal } from '../errors.ts'
import type { WorkAction, WorkNews, WorkOrder } from './desk.ts'

/** An answer that is sent whole, as text or bytes, or a stream of its text. */
export interface WorkAnswer {
  readonly status: number
  readonly body: string | Uint8Array | Readable
}

/** Callbacks through which a `WorkJob` sends to its thread and reports its end. */
export interface WorkHost {
  readonly send: (order: WorkOrder) => void
  /** Called once, when no further message of the work will come. */
  readonly onDone: () => void
  /** Called when the thread has sent nothing for too long. */
  readonly onSilent: () => void
}

let latest = 0

/**
 * An answer that a thread makes in steps: whole when it is short, otherwise as a stream. The thread computes only a few
 * parts ahead of the reader, and stops when the reader has disconnected or does not read.
 */
export class WorkJob {
  readonly id = ++latest
  readonly action: WorkAction
  readonly text: string
  readonly answer: Promise<WorkAnswer>
  readonly #settle: PromiseWithResolvers<WorkAnswer> = Promise.withResolvers()
  readonly #timeoutMs: number
  #host: WorkHost | null = null
  #stream: Readable | null = null
  /** Number of parts that the thread may send once the reader continues. */
  #owed = 0
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  /** @param signal ends the work when the caller is gone */
  constructor(action: WorkAction, text: string, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }) {
    this.action = action
    this.text = text
    this.#timeoutMs = timeoutMs
    this.answer = this.#settle.promise
    if (signal.aborted) this.fail(new Refusal(ANSWERS.busy))
    else signal.addEventListener('abort', () => this.fail(new Refusal(ANSWERS.busy)), { once: true })
  }

  /** True when the client has disconnected or has its answer. */
  get isOver(): boolean {
    return this.#isOver
  }

  begin(host: WorkHost): void {
    this.#host = host
    host.send({ type: 'begin', id: this.id, action: this.action, text: this.text })
    this.#watch()
  }

  /** Handles a message of the thread. */
  hear(news: WorkNews): void {
    if (this.#isOver) return
    this.#watch()
    switch (news.type) {
      case 'answer':
        this.#settle.resolve(news.answer)
        this.#end()
        return
      case 'part':
        this.#owed++
        this.#open().push(news.text)
        return
      case 'end':
        this.#stream!.push(null)
        this.#end()
        return
      case 'tookTooLong':
        this.#fail(new Refusal(ANSWERS.tookTooLong))
        return
      case 'failed':
        this.#fail(new RouteProblem(199))
        return
      case 'alive':
    }
  }

  /** Ends the work without an answer, or in the middle of one. */
  fail(error: Error): void {
    if (this.#isOver) return
    this.#host?.send({ type: 'cancel', id: this.id })
    this.#fail(error)
  }

  #fail(error: Error): void {
    if (this.#stream === null) this.#settle.reject(error)
    this.#end()
    this.#stream?.destroy(error)
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#host?.onDone()
  }

  /** The stream of the answer, started with its first part. */
  #open(): Readable {
    if (this.#stream !== null) return this.#stream
    this.#stream = new Readable({
      encoding: 'utf8',
      read: () => {
        if (this.#isOver) return
        if (this.#owed > 0) this.#watch()
        for (; this.#owed > 0; this.#owed--) this.#host!.send({ type: 'more', id: this.id })
      },
      destroy: (error, done) => {
        this.fail(error ?? new Refusal(ANSWERS.busy))
        done(error)
      },
    })
    this.#settle.resolve({ status: 200, body: this.#stream })
    return this.#stream
  }

  /** Limits the time to the next message of the thread, or to the next read of the client. */
  #watch(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (this.#owed > 0) this.fail(new Refusal(ANSWERS.tookTooLong))
      else this.#host!.onSilent()
    }, this.#timeoutMs)
  }
}
