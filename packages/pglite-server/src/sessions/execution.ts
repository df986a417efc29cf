import type { Client } from './client.ts'
import type { Engine } from '../engine/engine.ts'
import type { Reply, StopReason } from '../protocol/reply.ts'

/** How often a statement that runs is looked after. */
const WATCH_MS = 20

/**
 * A unit of a client, from when its turn comes: it is interrupted when its `statement_timeout` is over, when it is told to
 * stop, and when its client has gone. What it is told before it runs counts as well.
 */
export class Execution {
  readonly client: Client
  readonly reply: Reply
  readonly #engine: Engine
  readonly #stuckMs: number
  #isRunning = false
  /** When its statement of now began. */
  #since = 0
  #completed = 0
  #stoppedAt = 0

  /** @param stuckMs after this time a statement that was stopped ends with the engine; Infinity for never */
  constructor(engine: Engine, client: Client, reply: Reply, stuckMs: number) {
    this.client = client
    this.reply = reply
    this.#engine = engine
    this.#stuckMs = stuckMs
  }

  stop(reason: StopReason): void {
    this.reply.stopped ??= reason
    // Before it runs, what runs is the server's own.
    if (this.#isRunning) this.#interrupt()
  }

  /** Runs the unit; whether a transaction is open then. @throws when the engine ends */
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

  /** As often as it takes: the engine forgets what it was told before it began. */
  #interrupt(): void {
    this.#stoppedAt ||= performance.now()
    if (performance.now() - this.#stoppedAt > this.#stuckMs) void this.#engine.kill()
    else this.#engine.interrupt()
  }
}
