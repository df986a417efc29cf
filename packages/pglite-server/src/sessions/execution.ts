import type { Client } from './client.ts'
import type { Engine } from '../engine/engine.ts'
import type { Reply, StopReason } from '../protocol/reply.ts'

/** Interval of the checks of a running statement. */
const WATCH_MS = 20

/** A unit that has its turn. Its timeout, {@link stop} and a disconnect interrupt it, as soon as it runs. */
export class Execution {
  readonly client: Client
  readonly reply: Reply
  readonly #engine: Engine
  readonly #stuckMs: number
  #isRunning = false
  /** Start of the current statement. */
  #since = 0
  #completed = 0
  #stoppedAt = 0

  /** @param stuckMs time from the stop after which the engine is ended; Infinity for never */
  constructor(engine: Engine, client: Client, reply: Reply, stuckMs: number) {
    this.client = client
    this.reply = reply
    this.#engine = engine
    this.#stuckMs = stuckMs
  }

  stop(reason: StopReason): void {
    this.reply.stopped ??= reason
    // Before that, the server's own statements run, which must not be interrupted.
    if (this.#isRunning) this.#interrupt()
  }

  /** Runs the unit. Resolves to whether a transaction is open afterwards. @throws when the engine ends */
  async run(bytes: Buffer): Promise<boolean> {
    this.#since = performance.now()
    this.#isRunning = true
    const watch = setInterval(() => this.#look(), WATCH_MS)
    try {
      const ended = this.#engine.run(bytes, (data, taken) => this.reply.receive(data, taken))
      this.#look()
      return await ended
    } finally {
      this.#isRunning = false
      clearInterval(watch)
    }
  }

  #look(): void {
    const { reply, client } = this
    if (reply.completed > this.#completed) {
      this.#completed = reply.completed
      this.#since = performance.now()
    }
    if (reply.stopped) return this.#interrupt()
    const timeoutMs = this.#engine.statementTimeoutMs
    if (timeoutMs > 0 && performance.now() - this.#since >= timeoutMs) this.stop('statement timeout')
    else if (client.gone) this.stop('user request')
  }

  /** Called at each check, because the engine forgets an interrupt that precedes its statement. */
  #interrupt(): void {
    this.#stoppedAt ||= performance.now()
    if (performance.now() - this.#stoppedAt > this.#stuckMs) void this.#engine.kill()
    else this.#engine.interrupt()
  }
}
