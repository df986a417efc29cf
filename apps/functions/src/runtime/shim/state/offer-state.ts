import { Kv, KvU64 } from './deno-kv.ts'
import { jsonOf } from './json.ts'
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

/** The members of `env`: variables, and the bindings of the policy, given as `kind:NAME=value`. */
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
    if (kind === 'queue') env[name] = new QueueProducer(queue(value), value, new Store(send, ['fn', '']))
  }
  Object.defineProperty(scope, Symbol.for('terrane.env'), { value: env, configurable: true })
  return env
}

interface SendOptions {
  readonly delaySeconds?: number
  readonly contentType?: string
}
interface Sent extends SendOptions {
  readonly body: unknown
}

/** A queue of Workers to send to. */
class QueueProducer {
  readonly #queue: Queue
  readonly #name: string
  readonly #store: Store

  constructor(queue: Queue, name: string, store: Store) {
    this.#queue = queue
    this.#name = name
    this.#store = store
  }

  async send(body: unknown, { delaySeconds = 0, contentType }: SendOptions = {}): Promise<void> {
    await this.#queue.send(messageOf(body, contentType), { delay: delaySeconds })
  }

  /** Sends all of them, or none. */
  async sendBatch(messages: Iterable<Sent>, { delaySeconds = 0 }: SendOptions = {}): Promise<void> {
    const sends = [...messages].map(({ body, delaySeconds: own, contentType }) => ({
      queue: this.#name,
      body: messageOf(body, contentType),
      delay_seconds: own ?? delaySeconds,
    }))
    if (sends.length > 0) await this.#store.write({ sends })
  }
}

function messageOf(body: unknown, contentType = 'json'): unknown {
  if (contentType === 'json' || contentType === 'text') return jsonOf(body, true)
  throw new TypeError(`a message of the content type '${contentType}' is not offered here: messages are JSON`)
}
