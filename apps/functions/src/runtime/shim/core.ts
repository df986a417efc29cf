// Runs inside the sandbox, beside code that may be hostile, so nothing here is a security boundary. It connects the
// host's unix socket to the handler forms that users write. The host and the process's confinement enforce the limits.
import { logLine, replaceConsole } from './console.ts'
import { GlobalEvents, type EventScope } from './events.ts'
import { offerOthers } from './others.ts'
import { replaceFetch } from './fetch.ts'
import type { Scope, Scopes } from './scope.ts'

/** The first line on stdin. Secrets travel here, never in argv or the environment of the process. */
export interface Boot {
  readonly name: string
  /** file: URL of the bundle. */
  readonly bundle: string
  /** Unix socket to serve on, and the one to the host. */
  readonly ingress: string
  readonly gateway: string
  /** Socket for other hosts, and `host:port` of the reachable ones. */
  readonly sockets: { readonly path: string; readonly listed: readonly string[] }
  readonly env: Readonly<Record<string, string>>
  /** The module that keeps `/tmp`, and how much it may hold. */
  readonly tmp: { readonly module: string; readonly bytes: number }
}

/** Differences between Deno and Node. */
export interface Platform {
  readonly stdin: AsyncIterable<Uint8Array>
  scopes(): Scopes | Promise<Scopes>
  listen(path: string, serve: (request: Request) => Response | Promise<Response>): Promise<void>
  /** The text of the bundle, by its URL. */
  read(bundle: string): string
  /**
   * Lets the one `node:http` server that the bundle may start listen on the socket, whatever port it asks for. Null when
   * the bundle has none, or the platform cannot.
   *
   * @param around runs the handling of each request
   */
  offerHttp(path: string, code: string, around: (headers: HttpHeaders, handle: () => void) => void): HttpOffer | null
  /** Lets TCP clients of the bundle dial the hosts that are listed. */
  carrySockets(sockets: Boot['sockets'], code: string, onRefused: (text: string) => void): void
  /** Keeps `/tmp` in memory if the bundle may use it. */
  keepTmp(tmp: Boot['tmp'], bundle: string, code: string): Promise<void>
  /** Creates the function that sends a request to the host. Its URL has no meaning. */
  gatewayClient(path: string): (request: Request) => Promise<Response>
  write(text: string): void
  readonly inspect: (value: unknown) => string
  /** Replaces the whole environment. */
  setEnv(env: Readonly<Record<string, string>>): void
  /** Calls back for uncaught errors; the process continues. */
  onUncaught(report: (error: unknown) => void): void
  /** Offers `Deno.serve` to users. */
  defineServe(serve: (...args: unknown[]) => unknown): void
  /** Offers the older APIs, `Deno.listen` and `Deno.serveHttp`. */
  serveConnections(offer: (answer: (request: Request) => Promise<Response>) => void): void
  /** Removes globals that have no place in a function, and answers what it may not ask the system. */
  tidy(code: string): void
  exit(code: number): never
}

/** Headers of a `node:http` request, names in lower case. */
export type HttpHeaders = Record<string, string | string[] | undefined>

/** Handle of a server that the bundle may start. */
export interface HttpOffer {
  /** Resolves when it listens. */
  readonly listening: Promise<void>
  /** From now on no server can be started. */
  withdraw(): void
}

type Handler = (request: Request, context: Context, env: Readonly<Record<string, string>>) => unknown

/**
 * The second argument of a handler, whose prototype is the environment, and the third. Handlers of Workers with three
 * parameters get the environment itself as the second.
 */
interface Context {
  readonly requestId: string
  readonly functionName: string
  /** Claims of the caller's verified token or key; null for a call without one. */
  readonly claims: Readonly<Record<string, unknown>> | null
  /** Keeps the instance alive for work that goes on after the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /**
   * URL of the project's database under the caller's role and claims, valid during this call; null where there is none.
   */
  readonly databaseUrl: string | null
  /** Address of the caller, where `Deno.serve` has that of the connection. */
  readonly remoteAddr: { readonly transport: 'tcp'; readonly hostname: string; readonly port: number }
  /** A member of Workers' contexts: an error is always answered by the host. */
  readonly passThroughOnException: () => void
}

const LISTEN_MS = 3000
const SETTLE_MS = 100

export async function run(platform: Platform): Promise<void> {
  const scopes = await platform.scopes()
  const lines = readLines(platform.stdin)
  const first = await lines.next()
  if (first.done) platform.exit(0)
  const boot = JSON.parse(first.value) as Boot
  const say = (message: object) => platform.write(`\n${JSON.stringify(message)}\n`)

  let handler: Handler | null = null
  let captured: Handler | null = null
  let sealed = false
  const databaseUrl = boot.env['TERRANE_DB_URL'] ?? null

  const code = platform.read(boot.bundle)

  platform.tidy(code)
  replaceConsole(platform, say, scopes)
  replaceFetch(platform.gatewayClient(boot.gateway), scopes)
  platform.carrySockets(boot.sockets, code, (text) => say(logLine('warn', text, scopes)))
  await platform.keepTmp(boot.tmp, boot.bundle, code)
  platform.setEnv(boot.env)
  platform.onUncaught((error) => say(logLine('error', `Uncaught ${platform.inspect(error)}`, scopes)))
  const waitUntil = (work: Promise<unknown>) => {
    if (!scopes.getStore()) events.hold(work)
    hold(work, scopes.getStore(), platform, say, scopes)
  }
  Object.defineProperty(globalThis, 'EdgeRuntime', { value: Object.freeze({ waitUntil }) })
  const offered = Promise.withResolvers<void>()
  const take = (found: Handler | null) => {
    if (sealed) throw new Error('Deno.serve can only be called while the function starts')
    captured = found
    if (found) offered.resolve()
  }
  platform.defineServe((...args) => {
    take(handlerOf(args))
    return serverOf(args)
  })
  platform.serveConnections(take)
  const events = new GlobalEvents(globalThis as EventScope, take)
  offerOthers(globalThis)

  const respond = async (request: Request, scope: Scope): Promise<Response> => {
    try {
      const context: Context = Object.assign(Object.create(boot.env) as object, {
        requestId: scope.requestId,
        functionName: boot.name,
        claims: scope.claims,
        waitUntil,
        passThroughOnException,
        databaseUrl: databaseUrl && databaseUrl.replace('function@', `call-${scope.call}@`),
        remoteAddr: { transport: 'tcp' as const, hostname: scope.client, port: 0 },
      })
      const response = await handler!(request, context, boot.env)
      if (!(response instanceof Response)) {
        say(logLine('error', 'The handler returned something that is not a Response', scopes))
        return failure('invalid')
      }
      // `Deno.upgradeWebSocket` alone makes such a response, and only the very object works.
      if (response.status === 101) return response
      if (response.status < 200 || response.status > 599) {
        say(logLine('error', `The handler returned status ${response.status}`, scopes))
        return failure('invalid')
      }
      if (response.bodyUsed || response.body?.locked) {
        say(logLine('error', 'The handler returned a Response whose body has been read already', scopes))
        return failure('invalid')
      }
      if (scope.held === 0) return response
      // A copy, because the headers of a fetched response cannot be changed.
      const held = new Response(response.body, response)
      held.headers.set('x-terrane-held', '1')
      return held
    } catch (error) {
      say(logLine('error', platform.inspect(error), scopes))
      // `new Response('', { status: 99 })` is a RangeError in the handler itself.
      return failure(error instanceof RangeError && /status/i.test(error.message) ? 'invalid' : 'thrown')
    }
  }
  const serve = () =>
    platform.listen(boot.ingress, (request) => {
      if (!handler) return failure('thrown')
      const { headers } = request
      const scope: Scope = {
        requestId: headers.get('x-request-id') ?? '',
        call: headers.get('x-terrane-call') ?? '',
        claims: claimsOf(headers.get('x-terrane-claims')),
        client: headers.get('x-terrane-client') ?? '',
        held: 0,
      }
      hideInternal(request, headers)
      return scopes.run(scope, respond, request, scope)
    })
  const offer = platform.offerHttp(boot.ingress, code, (headers, handle) => {
    const scope: Scope = {
      requestId: String(headers['x-request-id']),
      call: String(headers['x-terrane-call']),
      claims: null,
      client: '',
      held: 0,
    }
    for (const name of Object.keys(headers)) if (name.startsWith('x-terrane-')) delete headers[name]
    scopes.run(scope, handle)
  })
  if (!offer) await serve()

  void obey(lines, platform, say, events)
  try {
    const importing = import(boot.bundle) as Promise<{ default?: unknown }>
    // A module may wait for the end of its server, which does not happen.
    const served = offered.promise.then(() => importsSettled(importing))
    const loaded = await Promise.race([importing, served, ...(offer ? [offer.listening] : [])])
    handler = captured ?? handlerOf([loaded?.default])
    const reportLate = () =>
      importing.catch((error: unknown) => say(logLine('error', `Uncaught ${platform.inspect(error)}`, scopes)))
    if (loaded === null) void reportLate()
    if (offer && (loaded === undefined || (!handler && (await startsSoon(offer.listening))))) {
      offer.withdraw()
      void reportLate()
      sealed = true
      return say({ t: 'ready' })
    }
    if (offer) {
      offer.withdraw()
      await serve()
    }
  } catch (error) {
    say({ t: 'failed', message: messageOf(error), stack: error instanceof Error ? (error.stack ?? '') : '' })
    platform.exit(1)
  }
  sealed = true
  if (handler) say({ t: 'ready' })
  else {
    say({ t: 'failed', message: NO_HANDLER, stack: '' })
    platform.exit(1)
  }
}

const NO_HANDLER =
  'no handler: export default { fetch(request, ctx) }, export default a function, call Deno.serve(handler), or let one node:http server listen'

/** Return value of `Deno.serve`: looks like a server on the requested address. */
function serverOf(args: readonly unknown[]): object {
  const options = args.find((value): value is ServeOptions => value !== null && typeof value === 'object')
  const addr = { transport: 'tcp', hostname: options?.hostname ?? '0.0.0.0', port: options?.port || 8000 }
  const finished = Promise.withResolvers<void>()
  queueMicrotask(() => options?.onListen?.(addr))
  const shutdown = async () => finished.resolve()
  return { addr, finished: finished.promise, ref() {}, unref() {}, shutdown, [Symbol.asyncDispose]: shutdown }
}

interface ServeOptions {
  readonly hostname?: string
  readonly port?: number
  readonly onListen?: (addr: object) => void
}

/** Gives a module that serves a limited time to finish or fail. */
async function importsSettled<T>(importing: Promise<T>): Promise<T | null> {
  return Promise.race([importing, new Promise<null>((resolve) => setTimeout(() => resolve(null), SETTLE_MS))])
}

/** Frameworks call `listen` a few turns after the module has run. */
async function startsSoon(listening: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LISTEN_MS)
  })
  const started = await Promise.race([listening.then(() => true as const), patience])
  clearTimeout(timer)
  return started
}

/** Answers the watchdog's pings; exits when the host asks for it or is gone. */
async function obey(
  lines: AsyncGenerator<string>,
  platform: Platform,
  say: (message: object) => void,
  events: GlobalEvents,
): Promise<void> {
  for await (const line of lines) {
    const [word, rest = ''] = line.split(' ')
    if (word === 'ping') say({ t: 'pong', n: Number(rest) })
    else if (word === 'end') void events.unload(rest).finally(() => platform.exit(0))
  }
  platform.exit(0)
}

async function* readLines(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const chunk of stdin) {
    const parts = (held + decoder.decode(chunk, { stream: true })).split('\n')
    held = parts.pop()!
    yield* parts
  }
}

type Callable = (...args: readonly unknown[]) => unknown

function calling(method: Callable, self: unknown): Handler {
  const takesEnv = method.length > 2
  return (request, context, env) => Reflect.apply(method, self, [request, takesEnv ? env : context, context])
}

function passThroughOnException(): void {}

/** The handler among `(handler)`, `(options, handler)`, `({ handler })`, `({ fetch })`. */
function handlerOf(args: readonly unknown[]): Handler | null {
  for (const value of args) {
    if (typeof value === 'function') return calling(value as Callable, undefined)
    if (value === null || typeof value !== 'object') continue
    const object = value as Record<'fetch' | 'handler', unknown>
    for (const name of ['fetch', 'handler'] as const) {
      const method = object[name]
      if (typeof method === 'function') return calling(method as Callable, object)
    }
  }
  return null
}

/** The headers that the host and the shim speak by are not the function's: it gets a copy without them when it asks. */
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

/** Tells the host to answer in the function's place. */
function failure(kind: 'thrown' | 'invalid'): Response {
  return new Response(null, { status: 500, headers: { 'x-terrane-failure': kind } })
}

function hold(
  work: Promise<unknown>,
  scope: Scope | undefined,
  platform: Platform,
  say: (message: object) => void,
  scopes: Scopes,
): void {
  // While the module loads, there is no call to hold.
  if (scope && scope.held++ === 0) say({ t: 'hold', call: scope.call })
  Promise.resolve(work)
    .catch((error: unknown) => say(logLine('error', `waitUntil: ${platform.inspect(error)}`, scopes)))
    .finally(() => {
      if (scope && --scope.held === 0) say({ t: 'release', call: scope.call })
    })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
