import type { HostChannel } from './host-channel.ts'
import { methodOf, type Context, type Method } from './handler.ts'

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

/** Hands messages of a queue to `queue(batch, env, ctx)` of the default export, as Workers have it. */
export class QueueConsumer {
  readonly #channel: Pick<HostChannel, 'log' | 'error'>
  #consume: Method | null = null

  constructor(channel: Pick<HostChannel, 'log' | 'error'>) {
    this.#channel = channel
  }

  get isEmpty(): boolean {
    return this.#consume === null
  }

  /** Takes `queue` of a module's default export. */
  seal(exported: unknown): void {
    this.#consume = methodOf(exported, 'queue')
  }

  /**
   * Passes the messages of a request to the method. The whole batch is delivered again when a message is to be retried,
   * or when the method fails before it has acknowledged all of them.
   *
   * @returns false without such a method; the request then goes to the handler
   */
  async run(request: Request, env: Readonly<Record<string, unknown>>, context: Context): Promise<boolean> {
    if (!this.#consume) return false
    const { queue, messages } = (await request.json()) as Delivery
    const acknowledged = new Set<number>()
    let isWanted = false
    const again = (options?: { readonly delaySeconds?: number }) => {
      isWanted = true
      if (options?.delaySeconds !== undefined)
        this.#channel.log(
          'warn',
          `queue '${queue}': delaySeconds of retry is not offered here: the platform delays deliveries itself`,
        )
    }
    const batch = {
      queue,
      messages: messages.map(({ id, attempts, created_at: at, body }) => ({
        id: String(id),
        attempts,
        body,
        timestamp: new Date(at),
        ack: () => void acknowledged.add(id),
        retry: again,
      })),
      ackAll: () => {
        for (const { id } of messages) acknowledged.add(id)
      },
      retryAll: again,
    }
    try {
      await this.#consume(batch, env, context)
    } catch (error) {
      if (isWanted || acknowledged.size < messages.length) throw error
      this.#channel.error(error)
    }
    if (isWanted) throw new Error(`queue '${queue}': the function asks for its messages again`)
    return true
  }
}
