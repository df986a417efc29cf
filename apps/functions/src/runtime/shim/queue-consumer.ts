import type { Context } from './handler.ts'

/** Messages as the platform sends them to the function that consumes a queue. */
interface Delivery {
  readonly queue: string
  readonly messages: readonly {
    readonly id: number
    readonly attempts: number
    readonly created_at: string
    readonly body: unknown
  }[]
}

type Consume = (batch: object, env: Readonly<Record<string, unknown>>, context: Context) => unknown

/** Hands messages of a queue to `queue(batch, env, ctx)` of the default export, as Workers have it. */
export class QueueConsumer {
  #consume: Consume | null = null

  get isEmpty(): boolean {
    return this.#consume === null
  }

  /** Takes `queue` of a module's default export. */
  seal(exported: unknown): void {
    const queue = (exported as { queue?: unknown } | null | undefined)?.queue
    if (typeof queue === 'function') this.#consume = queue.bind(exported) as Consume
  }

  /**
   * Hands over the messages of a request. The whole batch is delivered again where a message is to be.
   *
   * @returns false when there is no such method, and the request is one for the handler
   */
  async run(request: Request, env: Readonly<Record<string, unknown>>, context: Context): Promise<boolean> {
    if (!this.#consume) return false
    const { queue, messages } = (await request.json()) as Delivery
    let isWanted = false
    const again = () => {
      isWanted = true
    }
    const methods = { ack() {}, retry: again }
    const batch = {
      queue,
      messages: messages.map(({ id, attempts, created_at: at, body }) => ({
        id: String(id),
        attempts,
        body,
        timestamp: new Date(at),
        ...methods,
      })),
      ackAll() {},
      retryAll: again,
    }
    await this.#consume(batch, env, context)
    if (isWanted) throw new Error(`queue '${queue}': the function asks for its messages again`)
    return true
  }
}
