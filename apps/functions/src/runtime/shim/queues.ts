interface SendOptions {
  /** Seconds until the message is delivered. */
  readonly delay?: number
  /** Messages of one key are delivered in order, one after the other. */
  readonly key?: string
}

/** Offers `terrane.queue(name).send(body, { delay, key })`, which resolves to the id of the message. */
export function offerQueues(scope: { fetch: typeof fetch; terrane?: unknown }): void {
  // Taken before the function can replace it.
  const { fetch: send } = scope
  const queue = (name: string) => ({
    async send(body: unknown, { delay = 0, key }: SendOptions = {}): Promise<number> {
      const response = await send('http://queue.internal/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ queue: name, body, delay_seconds: delay, ...(key !== undefined && { key }) }),
      })
      const answer: unknown = await response.json()
      if (response.ok) return answer as number
      const { message, hint } = answer as { message?: string; hint?: string | null }
      throw new Error(
        [`queue '${name}': ${message ?? `HTTP status ${response.status}`}`, hint].filter(Boolean).join('. '),
      )
    },
  })
  Object.defineProperty(scope, 'terrane', { value: Object.freeze({ queue }), configurable: true, writable: true })
}
