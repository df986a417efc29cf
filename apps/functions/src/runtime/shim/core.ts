// Runs inside the sandbox, beside code that may be hostile, so nothing here is a security boundary. It connects the
// host's unix socket to the handler forms that users write. The host and the process's confinement enforce the limits.
import { replaceConsole } from './console.ts'
import { GlobalEvents, type EventScope } from './events.ts'
import { replaceFetch } from './fetch.ts'
import { Crons } from './crons.ts'
import { HandlerOffer, handlerOf, serverOf } from './handler.ts'
import { HostChannel } from './host-channel.ts'
import { obey, readLines } from './lines.ts'
import { offerOthers } from './others.ts'
import type { HttpOffer, Platform } from './platform.ts'
import type { Boot } from './protocol.ts'
import { QueueConsumer } from './queue-consumer.ts'
import { offerQueues } from './queues.ts'
import { Responder } from './responder.ts'
import type { Scopes } from './scope.ts'
import { environmentOf, offerKv } from './state/offer-state.ts'

const LISTEN_MS = 3000
const SETTLE_MS = 100
const NO_HANDLER =
  'no handler: export default { fetch(request, ctx) }, export default a function, call Deno.serve(handler), or let one node:http server listen'

/** Parts of an instance that is starting. */
interface Start {
  readonly platform: Platform
  readonly boot: Boot
  readonly channel: HostChannel
  readonly responder: Responder
  readonly crons: Crons
  readonly consumer: QueueConsumer
  readonly offer: HandlerOffer
}

/** Runs an instance until the host ends it: reads the first line of stdin, imports the bundle and reports `ready`. */
export async function run(platform: Platform): Promise<void> {
  const scopes = await platform.scopes()
  const lines = readLines(platform.stdin)
  const first = await lines.next()
  if (first.done) platform.exit(0)
  const boot = JSON.parse(first.value) as Boot
  const channel = new HostChannel(platform, scopes)
  const offer = new HandlerOffer()
  const events = new GlobalEvents(globalThis as EventScope, offer.take)
  const crons = new Crons()
  const consumer = new QueueConsumer(channel)
  const responder = new Responder(boot, scopes, channel, { events, crons, consumer })
  const start: Start = { platform, boot, channel, responder, crons, consumer, offer }
  const code = platform.read(boot.bundle)
  await prepare(start, scopes, code)
  const server = platform.offerHttp(boot.ingress, code, responder.around)
  if (!server) await serve(start)
  void obey(lines, channel, events, () => platform.exit(0))
  try {
    await load(start, server)
  } catch (error) {
    fail(start, messageOf(error), error instanceof Error ? (error.stack ?? '') : '')
  }
}

/** Replaces the globals of the runtime by those of a function. */
async function prepare({ platform, boot, ...start }: Start, scopes: Scopes, code: string): Promise<void> {
  const { channel, responder, crons, offer } = start
  platform.tidy(code)
  replaceConsole(platform.inspect, channel)
  replaceFetch(platform.gatewayClient(boot.gateway), scopes)
  // On Node this makes the global `Deno`, which gets further members below.
  platform.defineServe((...args) => {
    offer.take(handlerOf(args))
    return serverOf(args)
  })
  offerQueues(globalThis)
  offerKv(globalThis, boot.queue)
  responder.env = environmentOf(globalThis, boot.env, boot.bindings)
  platform.carrySockets(boot.sockets, code, (text) => channel.log('warn', text))
  await platform.keepTmp(boot.tmp, boot.bundle, code)
  platform.setEnv(boot.env)
  platform.onUncaught((error) => channel.error(error, 'Uncaught '))
  Object.defineProperty(globalThis, 'EdgeRuntime', { value: Object.freeze({ waitUntil: responder.waitUntil }) })
  Object.defineProperty((globalThis as unknown as { Deno: object }).Deno, 'cron', { value: crons.add })
  platform.serveConnections(offer.take)
  offerOthers(globalThis, (text) => channel.log('warn', text))
}

function serve({ platform, boot, responder }: Start): Promise<void> {
  return platform.listen(boot.ingress, responder.answer)
}

/** Imports the bundle and finds its handler, or the server that it starts. */
async function load(start: Start, server: HttpOffer | null): Promise<void> {
  const { boot, channel, responder, crons, consumer, offer } = start
  const importing = import(boot.bundle) as Promise<{ default?: unknown }>
  // A module may wait for its server to end, which does not happen; so once there is a server, its import is awaited
  // only for a limited time.
  const served = offer.taken.then(() => importsSettled(importing))
  const loaded = await Promise.race([importing, served, ...(server ? [server.listening] : [])])
  responder.handler = offer.handler ?? handlerOf([loaded?.default])
  crons.seal(loaded?.default)
  consumer.seal(loaded?.default)
  const ready = { t: 'ready', crons: crons.entries } as const
  const reportLate = () => importing.catch((error: unknown) => channel.error(error, 'Uncaught '))
  if (loaded === null) void reportLate()
  if (server && (loaded === undefined || (!responder.handler && (await startsSoon(server.listening))))) {
    server.withdraw()
    void reportLate()
    offer.seal()
    return channel.send(ready)
  }
  if (server) {
    server.withdraw()
    await serve(start)
  }
  offer.seal()
  if (responder.handler || !crons.isEmpty || !consumer.isEmpty) channel.send(ready)
  else fail(start, NO_HANDLER, '')
}

function fail({ platform, channel }: Start, message: string, stack: string): never {
  channel.send({ t: 'failed', message, stack })
  return platform.exit(1)
}

/** Waits a limited time for a module that serves already to finish or fail. */
async function importsSettled<T>(importing: Promise<T>): Promise<T | null> {
  return Promise.race([importing, new Promise<null>((resolve) => setTimeout(() => resolve(null), SETTLE_MS))])
}

/** Frameworks call `listen` a few event-loop turns after the module has run. */
async function startsSoon(listening: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LISTEN_MS)
  })
  const started = await Promise.race([listening.then(() => true as const), patience])
  clearTimeout(timer)
  return started
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
