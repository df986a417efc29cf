/** Facts about one call for the log. */
export interface CallFacts {
  readonly version: number
  readonly requestId: string
  readonly status: number
  /** Why the answer is the host's; empty when it is the function's. */
  readonly problem: string
  readonly ms: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** A call in the ring. Slots are reused. */
export interface LoggedCall extends CallFacts {
  /** Position among all entries of the function. */
  readonly order: number
  /** Milliseconds since 1970. */
  readonly time: number
}

type Slot = { -readonly [Name in keyof LoggedCall]: LoggedCall[Name] }

/** The latest calls of a function. A full ring needs no further memory. */
export class CallRing {
  readonly #size: number
  readonly #slots: Slot[] = []
  #next = 0

  constructor(size: number) {
    this.#size = size
  }

  add(order: number, time: number, call: CallFacts): void {
    const { version, requestId, status, problem, ms, bytesIn, bytesOut } = call
    const slot = this.#slots[this.#next]
    if (slot) {
      slot.order = order
      slot.time = time
      slot.version = version
      slot.requestId = requestId
      slot.status = status
      slot.problem = problem
      slot.ms = ms
      slot.bytesIn = bytesIn
      slot.bytesOut = bytesOut
    } else this.#slots.push({ order, time, version, requestId, status, problem, ms, bytesIn, bytesOut })
    this.#next = (this.#next + 1) % this.#size
  }

  /** The calls, oldest first. */
  *[Symbol.iterator](): Generator<LoggedCall> {
    const { length } = this.#slots
    for (let i = 0; i < length; i++) yield this.#slots[(this.#next + i) % length]!
  }
}
