import type { Crons } from './crons.ts'
import type { GlobalEvents } from './events.ts'
import type { Context, Handler } from './handler.ts'
import type { HostChannel } from './host-channel.ts'
import type { HttpHeaders, HttpRequest } from './platform.ts'
import type { Boot } from './protocol.ts'
import type { QueueConsumer } from './queue-consumer.ts'
import type { Scope, Scopes } from './scope.ts'

const WORKER_CRONS = 'worker:crons='
type CronTexts = Readonly<Record<string, string>>

/** Runs the handler for the requests of the host, each within the scope of its call. */
export class Responder {
  /** Null while the module starts. */
  handler: Handler | null = null
  /** Variables and bindings, the environment of handlers. */
  env: Readonly<Record<string, unknown>> = {}
  readonly #boot: Boot
  readonly #scopes: Scopes
  readonly #channel: HostChannel
  readonly #events: GlobalEvents
  readonly #crons: Crons
  readonly #consumer: QueueConsumer
  /** Cron texts of a Worker, by the platform's spelling; null when the function is not a Worker. */
  readonly #workerCrons: CronTexts | null
  readonly #databaseUrl: string | null

  constructor(
    boot: Boot,
    scopes: Scopes,
    channel: HostChannel,
    parts: { readonly events: GlobalEvents; readonly crons: Crons; readonly consumer: QueueConsumer },
  ) {
    this.#boot = boot
    this.#scopes = scopes
    this.#channel = channel
    this.#events = parts.events
    this.#crons = parts.crons
    this.#consumer = parts.consumer
    const worker = boot.bindings.find((binding) => binding.startsWith(WORKER_CRONS))
    this.#workerCrons = worker === undefined ? null : (JSON.parse(worker.slice(WORKER_CRONS.length)) as CronTexts)
    this.#databaseUrl = boot.env['TERRANE_DB_URL'] ?? null
  }

  /** Answers a request of the host. */
  readonly answer = (request: Request): Response | Promise<Response> => {
    const { headers } = request
    const tick = headers.get('x-terrane-cron')
    const isDelivery = headers.has('x-terrane-queue')
    if (!this.handler && tick === null && !isDelivery)
      return this.#crons.isEmpty && this.#consumer.isEmpty ? failure('thrown') : new Response(null, { status: 404 })
    const scope: Scope = {
      requestId: headers.get('x-request-id') ?? '',
      call: headers.get('x-terrane-call') ?? '',
      claims: claimsOf(headers.get('x-terrane-claims')),
      client: headers.get('x-terrane-client') ?? '',
      held: 0,
    }
    hideInternal(request, headers)
    // Workers read facts about the connection there. The platform has none.
    if (this.#workerCrons) Object.defineProperty(request, 'cf', { value: {} })
    return this.#scopes.run(scope, this.#respond, request, scope, isDelivery ? 'queue' : tick)
  }

  /** Runs the handling of a request by a server of `node:http`. */
  readonly around = (request: HttpRequest, handle: () => void): void => {
    const { headers } = request
    const scope: Scope = {
      requestId: String(headers['x-request-id']),
      call: String(headers['x-terrane-call']),
      claims: null,
      client: '',
      held: 0,
    }
    // A copy, because an object from which members were deleted is slow to read.
    const own: HttpHeaders = {}
    for (const name of Object.keys(headers)) if (!name.startsWith('x-terrane-')) own[name] = headers[name]
    request.headers = own
    this.#scopes.run(scope, handle)
  }

  /** Keeps the instance alive for work of the current call. While the module loads there is no call. */
  readonly waitUntil = (work: Promise<unknown>): void => {
    const scope = this.#scopes.getStore()
    if (!scope) this.#events.hold(work)
    if (scope && scope.held++ === 0) this.#channel.send({ t: 'hold', call: scope.call })
    Promise.resolve(work)
      .catch((error: unknown) => this.#channel.error(error, 'waitUntil: '))
      .finally(() => {
        if (scope && --scope.held === 0) this.#channel.send({ t: 'release', call: scope.call })
      })
  }

  readonly #respond = async (request: Request, scope: Scope, tick: string | null): Promise<Response> => {
    try {
      const response = await this.#call(request, scope, tick)
      // Such a response is made only by `Deno.upgradeWebSocket`, and a copy of it would not work.
      if (response instanceof Response && response.status === 101) return response
      const problem = problemOf(response)
      if (problem !== null) {
        this.#channel.log('error', `The handler returned ${problem}`)
        return failure('invalid')
      }
      const valid = response as Response
      if (scope.held === 0) return valid
      // A copy, because the headers of a fetched response cannot be changed.
      const held = new Response(valid.body, valid)
      held.headers.set('x-terrane-held', '1')
      return held
    } catch (error) {
      this.#channel.error(error)
      // `new Response('', { status: 99 })` is a RangeError in the handler itself.
      return failure(error instanceof RangeError && /status/i.test(error.message) ? 'invalid' : 'thrown')
    }
  }

  /** Calls the function's method for a time of a cron expression or for messages of a queue, or else its handler. */
  async #call(request: Request, scope: Scope, tick: string | null): Promise<unknown> {
    const context = this.#contextOf(scope)
    const { env } = this
    if (tick === 'queue') {
      if (await this.#consumer.run(request, env, context)) return new Response(null, { status: 204 })
    } else if (tick !== null && (await this.#crons.run(tick, this.#workerCrons ?? {}, env, context)))
      return new Response(null, { status: 204 })
    // A Worker's `fetch` handles neither crons nor messages, so its answer must not count as success.
    if (tick !== null && this.#workerCrons)
      throw new Error(
        tick === 'queue' ? 'nothing takes messages: the Worker has no queue()' : 'the Worker has no scheduled()',
      )
    return this.handler ? this.handler(request, context, env) : new Response(null, { status: 404 })
  }

  #contextOf(scope: Scope): Context {
    const { name } = this.#boot
    return Object.assign(Object.create(this.env) as object, {
      requestId: scope.requestId,
      functionName: name,
      claims: scope.claims,
      waitUntil: this.waitUntil,
      passThroughOnException,
      databaseUrl: this.#databaseUrl && this.#databaseUrl.replace('function@', `call-${scope.call}@`),
      remoteAddr: { transport: 'tcp' as const, hostname: scope.client, port: 0 },
    })
  }
}

/** Why a returned value cannot be sent; null when it can. */
function problemOf(response: unknown): string | null {
  if (!(response instanceof Response)) return 'something that is not a Response'
  if (response.status < 200 || response.status > 599) return `status ${response.status}`
  if (response.bodyUsed || response.body?.locked) return 'a Response whose body has been read already'
  return null
}

function passThroughOnException(): void {}

/** Hides the headers between host and shim: the function gets a copy without them. */
function hideInternal(request: Request, headers: Headers): void {
  let own: Headers | null = null
  Object.defineProperty(request, 'headers', {
    configurable: true,
    enumerable: true,
    get: () => (own ??= new Headers([...headers].filter(([name]) => !name.startsWith('x-terrane-')))),
  })
}

function claimsOf(header: string | null): Scope['claims'] {
  return header === null ? null : (JSON.parse(decodeURIComponent(header)) as Scope['claims'])
}

/** Makes the host answer in the function's place. */
function failure(kind: 'thrown' | 'invalid'): Response {
  return new Response(null, { status: 500, headers: { 'x-terrane-failure': kind } })
}
