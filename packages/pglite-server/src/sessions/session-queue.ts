import type { Client, Unit } from './client.ts'

/**
 * Timeouts of clients that hold the session, in milliseconds.
 *
 * @example
 *   const limits: Partial<SessionLimits> = { idleInTransactionMs: 10_000 }
 */
export interface SessionLimits {
  /** Idle time in an open transaction after which a client is disconnected while others wait; 30 s by default. */
  readonly idleInTransactionMs: number
  /**
   * The same for a client that has temporary tables, prepared statements, cursors WITH HOLD or advisory locks; 5 s by
   * default.
   */
  readonly idleHoldingMs: number
  /** Time from an interrupt to the end of an engine that still runs, default 10 s; never of one with data in memory. */
  readonly stuckMs: number
}

export const LIMITS: SessionLimits = { idleInTransactionMs: 30_000, idleHoldingMs: 5000, stuckMs: 10_000 }

/** Why a client keeps the session between its units. */
export type Keeping = 'a transaction' | 'things of its own'

/** Units in the order of arrival, unless a client keeps the session; one that idles while others wait is closed. */
export class SessionQueue {
  readonly #queue: Unit[] = []
  readonly #limits: SessionLimits
  readonly #onIdle: (client: Client, keeping: Keeping) => void
  #owner: Client | null = null
  #keeping: Keeping | null = null
  #idleTimer: NodeJS.Timeout | undefined

  constructor(limits: SessionLimits, onIdle: (client: Client, keeping: Keeping) => void) {
    this.#limits = limits
    this.#onIdle = onIdle
  }

  add(unit: Unit): void {
    this.#queue.push(unit)
  }

  /** The oldest unit that may run now. */
  take(): Unit | null {
    const [unit = null] = this.#queue.splice(this.#next(), 1)
    if (unit) clearTimeout(this.#idleTimer)
    return unit
  }

  /** A unit can run, or an abandoned transaction can be rolled back. */
  get isDue(): boolean {
    return this.#next() < this.#queue.length || this.#owner?.gone === true
  }

  /** No client keeps the session. */
  get isFree(): boolean {
    return this.#owner === null
  }

  /** Removes a waiting unit of a client that does not keep the session. */
  withdraw(client: Client): Unit | null {
    if (this.#owner === client) return null
    const index = this.#queue.findIndex((unit) => unit.client === client && unit.complete)
    return index < 0 ? null : (this.#queue.splice(index, 1)[0] ?? null)
  }

  /** Why a client keeps the session now, or null. */
  keepingOf(client: Client): Keeping | null {
    return this.#owner === client ? this.#keeping : null
  }

  /** Sets the client that keeps the session; null frees it. */
  keep(client: Client, keeping: Keeping | null): void {
    this.#owner = keeping && client
    this.#keeping = keeping
    if (keeping) this.#watchIdle(client, keeping)
  }

  /** True once when the client that kept the session has disconnected. */
  takeAbandoned(): boolean {
    if (!this.#owner?.gone) return false
    clearTimeout(this.#idleTimer)
    this.#owner = null
    return true
  }

  clear(): void {
    clearTimeout(this.#idleTimer)
    this.#queue.length = 0
    this.#owner = null
  }

  /** Index of the next unit; the length of the queue when there is none. Drops units of disconnected clients. */
  #next(): number {
    for (let i = this.#queue.length - 1; i >= 0; i--) {
      if (this.#queue[i]?.client.gone) this.#queue.splice(i, 1)
    }
    if (this.#owner === null) return 0
    const index = this.#queue.findIndex(({ client }) => client === this.#owner)
    return index < 0 ? this.#queue.length : index
  }

  #watchIdle(client: Client, keeping: Keeping): void {
    clearTimeout(this.#idleTimer)
    const onTime = () => {
      if (this.#queue.every((unit) => unit.client === client)) this.#watchIdle(client, keeping)
      else this.#onIdle(client, keeping)
    }
    const { idleInTransactionMs, idleHoldingMs } = this.#limits
    this.#idleTimer = setTimeout(onTime, keeping === 'a transaction' ? idleInTransactionMs : idleHoldingMs).unref()
  }
}
