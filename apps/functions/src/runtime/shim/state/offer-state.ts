import { Kv, KvU64 } from './deno-kv.ts'
import { Store } from './store.ts'
import { KvNamespace } from './worker-kv.ts'

interface Scope {
  readonly fetch: typeof fetch
  readonly Deno?: object
  readonly terrane?: unknown
}

interface Queue {
  send(body: unknown, options: { readonly delay?: number }): Promise<number>
}

/** Offers `Deno.openKv`. @param queue the queue that the function consumes; empty: none */
export function offerKv(scope: Scope, queue: string): void {
  // Taken before the function can replace it.
  const { fetch: send } = scope
  const openKv = async (path = ''): Promise<Kv> => new Kv(new Store(send, ['fn', path]), await import('node:v8'), queue)
  for (const [name, value] of Object.entries({ openKv, Kv, KvU64 }))
    Object.defineProperty(scope.Deno, name, { value, configurable: true, writable: true })
}

/** The members of `env`: variables, and what the bindings of the policy name, as `kind:NAME=value`. */
export function environmentOf(
  scope: Scope,
  variables: Readonly<Record<string, string>>,
  bindings: readonly string[],
): Readonly<Record<string, unknown>> {
  const env: Record<string, unknown> = { ...variables }
  const { fetch: send } = scope
  const { queue } = scope.terrane as { queue: (name: string) => Queue }
  for (const binding of bindings) {
    const [, kind, name = '', value = ''] = /^(\w+):(\w+)=(.*)$/s.exec(binding) ?? []
    if (kind === 'json' && env[name] === value) env[name] = JSON.parse(value) as unknown
    if (kind === 'kv') env[name] = new KvNamespace(new Store(send, ['kv', value]))
    if (kind === 'queue') env[name] = new QueueProducer(queue(value))
  }
  Object.defineProperty(scope, Symbol.for('terrane.env'), { value: env, configurable: true })
  return env
}

interface Sent {
  readonly body: unknown
  readonly delaySeconds?: number
}

/** A queue of Workers to send to. */
class QueueProducer {
  readonly #queue: Queue
  constructor(queue: Queue) {
    this.#queue = queue
  }
  async send(body: unknown, { delaySeconds = 0 }: { readonly delaySeconds?: number } = {}): Promise<void> {
    await this.#queue.send(body, { delay: delaySeconds })
  }
  async sendBatch(
    messages: Iterable<Sent>,
    { delaySeconds = 0 }: { readonly delaySeconds?: number } = {},
  ): Promise<void> {
    for (const { body, delaySeconds: own } of messages) await this.#queue.send(body, { delay: own ?? delaySeconds })
  }
}
