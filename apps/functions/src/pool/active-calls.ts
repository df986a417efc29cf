import type { Caller } from '../gateway/caller.ts'
import { deepest, OUTSIDE, type Depth } from '../gateway/depth.ts'

/** A request that an instance handles, or whose background work still runs in it. */
export interface Call {
  /** Unique on this host; never chosen by a caller. */
  readonly id: string
  readonly requestId: string
  /** Caller of the function; null until it is known. */
  readonly caller: Caller | null
  /** Depth of the call in a chain of functions. */
  readonly depth: Depth
  /** Moment after which it is ended, in `performance.now()` milliseconds. */
  readonly deadline: number
  expire(): void
}

interface ActiveCall {
  readonly call: Call
  answered: boolean
  /** Whether it has background work, according to the shim. */
  held: boolean | null
  /** Time at which the call is ended; after its answer, time at which it is forgotten. */
  until: number
}

/** Number of ended calls that are remembered for their log lines. */
const MOST_LEFT = 256

/** The calls in an instance: until they are answered, and while their background work continues. */
export class ActiveCalls {
  /** Requests that are not answered yet. */
  unanswered = 0
  readonly #here = new Map<string, ActiveCall>()
  /** Request ids of the last ended calls: their output may arrive after their answer. */
  readonly #left: { id: string; requestId: string }[] = []
  #nextLeft = 0
  readonly #holdMs: number

  /** @param holdMs longest background work after an answer */
  constructor(holdMs: number) {
    this.#holdMs = holdMs
  }

  /** True while the instance has a request or background work. */
  get any(): boolean {
    return this.#here.size > 0
  }

  /** Depth of the deepest call in a chain of functions. */
  get depth(): Depth {
    return this.#here.values().reduce((depth, { call }) => deepest(depth, call.depth), OUTSIDE)
  }

  get(id: string): Call | undefined {
    return this.#here.get(id)?.call
  }

  /** Request id of a log line's call, if the call is here or has just ended; null otherwise. */
  requestIdOf(id: string): string | null {
    return this.get(id)?.requestId ?? this.#left.find((left) => left.id === id)?.requestId ?? null
  }

  enter(call: Call): void {
    this.unanswered++
    this.#here.set(call.id, { call, answered: false, held: null, until: call.deadline })
  }

  /** Extends the deadline of a call that has become a WebSocket. */
  prolong({ id }: Call, until: number): void {
    const presence = this.#here.get(id)
    if (presence) presence.until = until
  }

  /**
   * The call is answered.
   *
   * @param heldByAnswer whether the answer announced background work; a line from the shim has priority, but may
   *   arrive later
   */
  answer({ id }: Call, heldByAnswer: boolean, now: number): void {
    this.unanswered--
    const presence = this.#here.get(id)!
    presence.answered = true
    if (presence.held ?? heldByAnswer) presence.until = now + this.#holdMs
    else this.#forget(id)
  }

  /**
   * Records whether a call has background work. Calls that are not in the instance are ignored. After the answer the
   * work is limited in time.
   */
  hold(id: string, held: boolean, now: number): void {
    const presence = this.#here.get(id)
    if (!presence) return
    presence.held = held
    if (!presence.answered) return
    if (held) presence.until = now + this.#holdMs
    else this.#forget(id)
  }

  /** Ends the calls whose time is up, and forgets answered ones. */
  sweep(now: number): void {
    for (const [id, { call, answered, until }] of this.#here) {
      if (now < until) continue
      if (answered) this.#forget(id)
      else call.expire()
    }
  }

  #forget(id: string): void {
    const { requestId } = this.#here.get(id)!.call
    this.#here.delete(id)
    const slot = this.#left[this.#nextLeft]
    if (slot) {
      slot.id = id
      slot.requestId = requestId
    } else this.#left.push({ id, requestId })
    this.#nextLeft = (this.#nextLeft + 1) % MOST_LEFT
  }
}
