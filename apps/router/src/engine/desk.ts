import { type Action, refusalOf, type Router, type SentAnswer, type TileAnswer, type Work } from '@terrane/routing'

/** Messages to a thread about requests other than routes. */
export type WorkOrder =
  | { readonly type: 'begin'; readonly id: number; readonly action: WorkAction; readonly text: string }
  /** The client has read a part, so another one may be sent. */
  | { readonly type: 'more'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }

/** Actions that are answered in steps. */
export type WorkAction = Exclude<Action, 'route'>

/** Messages of a thread about a request: the whole answer, or its parts and the end. */
export type WorkNews = { readonly work: number } & (
  | { readonly type: 'answer'; readonly answer: SentAnswer | TileAnswer }
  | { readonly type: 'part'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'alive' }
  | { readonly type: 'tookTooLong' }
  | { readonly type: 'failed'; readonly reason: string }
)

/** Milliseconds per turn of one work, after which other work and routes continue. */
const SLICE_MS = 8
/** Characters of a part of an answer. */
const PART = 2 ** 16
/** Maximum parts that are sent before the first of them is read. */
const AHEAD = 4
/** Milliseconds between two checks of work that waits, and between two `alive` messages. */
const LOOK_MS = 10
const ALIVE_MS = 500

interface Running {
  readonly id: number
  readonly text: string
  readonly work: Work
  part: string
  /** The answer if it is binary. */
  bytes: Uint8Array | null
  hasSent: boolean
  ahead: number
  /** Milliseconds of computing so far. */
  spent: number
  saidAt: number
  waits: boolean
}

/** Answers slow requests in turns of some milliseconds, routes between them; work whose answer is not read pauses. */
export class Desk {
  readonly #router: Router
  readonly #post: (news: WorkNews) => void
  readonly #timeoutMs: number
  readonly #running = new Map<number, Running>()
  #scheduled = false

  /** @param timeoutMs longest computation of one answer */
  constructor(router: Router, post: (news: WorkNews) => void, timeoutMs: number) {
    this.#router = router
    this.#post = post
    this.#timeoutMs = timeoutMs
  }

  take(order: WorkOrder): void {
    if (order.type === 'cancel') this.#running.delete(order.id)
    else if (order.type === 'begin') this.#begin(order)
    else {
      const running = this.#running.get(order.id)
      if (running !== undefined) running.ahead--
    }
    this.#schedule()
  }

  #begin({ id, action, text }: Extract<WorkOrder, { type: 'begin' }>): void {
    const now = performance.now()
    try {
      const work = this.#router.work(text, action, { mayWait: true })
      const state = { part: '', bytes: null, hasSent: false, ahead: 0, spent: 0, saidAt: now, waits: false }
      this.#running.set(id, { id, text, work, ...state })
    } catch (error) {
      this.#refuse({ id, text, hasSent: false }, error)
    }
  }

  #schedule(): void {
    if (this.#scheduled) return
    const open = [...this.#running.values()].filter(({ ahead }) => ahead < AHEAD)
    if (open.length === 0) return
    this.#scheduled = true
    // Messages to the thread are read between two turns.
    if (open.some(({ waits }) => !waits)) setImmediate(() => this.#turn())
    else setTimeout(() => this.#turn(), LOOK_MS)
  }

  /** Gives each work that does not wait a slice of time. */
  #turn(): void {
    this.#scheduled = false
    for (const running of this.#running.values()) if (running.ahead < AHEAD) this.#advance(running)
    this.#schedule()
  }

  #advance(running: Running): void {
    const began = performance.now()
    let done: boolean
    try {
      done = this.#step(running, began + SLICE_MS)
    } catch (error) {
      this.#running.delete(running.id)
      this.#refuse(running, error)
      return
    }
    const now = performance.now()
    running.spent += now - began
    if (done) this.#finish(running)
    else if (running.spent > this.#timeoutMs) {
      this.#running.delete(running.id)
      this.#post({ work: running.id, type: 'tookTooLong' })
    } else if (running.part.length >= PART) this.#send(running)
    else if (now - running.saidAt > ALIVE_MS) {
      running.saidAt = now
      this.#post({ work: running.id, type: 'alive' })
    }
  }

  /** Computes until a time, a full part, or a wait; returns whether the work is done. */
  #step(running: Running, until: number): boolean {
    running.waits = false
    do {
      const { done, value } = running.work.next()
      if (done === true) return true
      if (value === null) {
        running.waits = true
        return false
      }
      if (typeof value === 'string') running.part += value
      else running.bytes = value
    } while (running.part.length < PART && performance.now() < until)
    return false
  }

  #send(running: Running): void {
    this.#post({ work: running.id, type: 'part', text: running.part })
    running.part = ''
    running.hasSent = true
    running.ahead++
    running.saidAt = performance.now()
  }

  #finish(running: Running): void {
    this.#running.delete(running.id)
    if (!running.hasSent) {
      this.#post({ work: running.id, type: 'answer', answer: { status: 200, body: running.bytes ?? running.part } })
      return
    }
    if (running.part !== '') this.#send(running)
    this.#post({ work: running.id, type: 'end' })
  }

  #refuse({ id, text, hasSent }: Pick<Running, 'id' | 'text' | 'hasSent'>, error: unknown): void {
    try {
      const answer = refusalOf(error, text)
      if (!hasSent) {
        this.#post({ work: id, type: 'answer', answer })
        return
      }
    } catch {
      // Not a problem of the request: reported below as a failure.
    }
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#post({ work: id, type: 'failed', reason })
  }
}
