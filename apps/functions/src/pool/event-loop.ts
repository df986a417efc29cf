import { stoodStill } from './health.ts'
import type { Usage } from './meter.ts'

/** Stall of the event loop, in milliseconds, from which an instance is busy and gets no further calls until it answers. */
const BUSY_MS = 50

/** The event loop of an instance, as its answers to pings show it. */
export class EventLoop {
  /**
   * Number of calls that the instance may have at once. It doubles while all of them are used and pings are answered
   * soon; it is halved when computation delays an answer.
   */
  window = 1
  /** True while it computes instead of answering. */
  busy = false
  /** Milliseconds since the last ping in which the function itself has blocked the event loop. */
  stoodMs = 0
  readonly #ping: (n: number) => void
  #pings = 0
  #pongs = 0
  #pingedAt = 0
  #checkedAt = performance.now()
  #usage: Usage | null = null

  /** @param ping sends the ping of this number */
  constructor(ping: (n: number) => void) {
    this.#ping = ping
  }

  /** True when a ping is not answered yet. */
  get isWaiting(): boolean {
    return this.#pings > this.#pongs
  }

  /** Sends a ping, unless one is unanswered. */
  probe(): void {
    if (this.isWaiting) return
    this.#pingedAt = performance.now()
    this.stoodMs = 0
    this.#ping(++this.#pings)
  }

  /**
   * Checks the event loop between ping and answer.
   *
   * @param lateMs delay of this look caused by the host itself, which is not counted against the instance
   * @param usage null when it was not measured
   */
  check(now: number, lateMs: number, usage: Usage | null): void {
    if (this.isWaiting) {
      const passedMs = Math.min(now - this.#checkedAt, now - this.#pingedAt) - lateMs
      this.stoodMs += stoodStill(this.#usage, usage, Math.max(0, passedMs))
    }
    this.#checkedAt = now
    if (usage) this.#usage = usage
    if (this.stoodMs > BUSY_MS) this.busy = true
  }

  /**
   * Processes an answer; false when it belongs to no open ping.
   *
   * @param inflight number of calls that the instance has
   * @param measure reads the usage of the process
   */
  answer(n: number, inflight: number, measure: () => Usage | null): boolean {
    if (n !== this.#pings || !this.isWaiting) return false
    this.#pongs = this.#pings
    const waitedMs = performance.now() - this.#pingedAt
    let stoodMs = 0
    if (waitedMs > BUSY_MS) {
      const usage = measure()
      // The event loop runs again, so only its CPU time shows whether the function or the machine was busy.
      stoodMs = stoodStill(this.#usage, usage && { ...usage, state: 'R' }, waitedMs)
    }
    this.stoodMs = 0
    this.busy = stoodMs > BUSY_MS
    if (this.busy) this.window = Math.max(1, this.window >> 1)
    else if (inflight >= this.window) this.window *= 2
    return true
  }
}
