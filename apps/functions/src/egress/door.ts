import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import type { FunctionVersion } from '../function-version.ts'
import { OUTSIDE, type Depth } from '../gateway/depth.ts'
import type { GatewayDoor } from '../pool/factory.ts'
import type { Instance } from '../pool/instance.ts'
import type { Call } from '../pool/active-calls.ts'
import { openSockets, type SocketsOptions } from './sockets.ts'

/** A request of a function, with the host's knowledge of its origin. */
export interface Outgoing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly version: FunctionVersion
  readonly target: URL
  /** The call it belongs to; null when it names no call of this instance. */
  readonly call: Call | null
  /** Depth of the call in a chain of functions; without a call that of the deepest call in the instance. */
  readonly depth: Depth
  /** Token that replaces the service key in this instance; null while it is being made. */
  readonly serviceToken: string | null
}

interface Origin {
  readonly version: FunctionVersion
  readonly instance: () => Instance | null
  readonly turns: Turns
}

/** Maximum concurrent connections of one instance to the host. */
const MAX_CONNECTIONS = 64
/** Rate limit for the requests of one instance, because they take the host's time from its neighbours. */
const BURST = 1000
const PER_SECOND = 500

/**
 * Opens the sockets by which instances reach the host: one per instance, so that the socket itself identifies the
 * sender. One HTTP server reads them all.
 */
export function createDoor(carry: (outgoing: Outgoing) => void, sockets: SocketsOptions): GatewayDoor & Disposable {
  const origins = new WeakMap<Socket, Origin>()
  const http = createHttpServer({ requestTimeout: 0, keepAliveTimeout: 30_000 }, (request, response) => {
    const origin = origins.get(request.socket)!
    const waitMs = origin.turns.take(performance.now())
    if (waitMs === 0) answer(origin, request, response)
    else setTimeout(() => answer(origin, request, response), waitMs)
  })
  const answer = (origin: Origin, request: IncomingMessage, response: ServerResponse) => {
    const target = targetOf(request)
    if (!target) return deny(response, 'the target of the fetch is not a URL of http or https')
    const named = request.headers['x-terrane-call']
    const instance = origin.instance()
    const call = (typeof named === 'string' && instance?.call(named)) || null
    const depth = call?.depth ?? instance?.depth ?? OUTSIDE
    const serviceToken = instance?.serviceToken ?? null
    carry({ request, response, version: origin.version, target, call, depth, serviceToken })
  }
  return {
    async open(paths, version, instance) {
      const connections = new Set<Socket>()
      const origin = { version, instance, turns: new Turns() }
      const server = createServer((socket) => {
        origins.set(socket, origin)
        connections.add(socket)
        socket.once('close', () => connections.delete(socket))
        http.emit('connection', socket)
      })
      server.maxConnections = MAX_CONNECTIONS
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(paths.gateway, resolve)
      })
      const outside = await openSockets(paths.sockets, { version, instance }, sockets)
      return {
        async [Symbol.asyncDispose]() {
          await outside[Symbol.asyncDispose]()
          for (const socket of connections) socket.destroy()
          await new Promise((resolve) => server.close(resolve))
        },
      }
    },
    [Symbol.dispose]() {
      http.close()
    },
  }
}

/** A token bucket that may be overdrawn: a caller that takes too much waits until the tokens are refilled. */
class Turns {
  #tokens = BURST
  #refilled = performance.now()

  /** Takes one token and returns the time to wait for it, in milliseconds. */
  take(now: number): number {
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#refilled) * PER_SECOND) / 1000) - 1
    this.#refilled = now
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / PER_SECOND
  }
}

/** Answers a fetch that may not leave: the shim turns it into an exception with this text. */
export function deny(response: ServerResponse, text: string): void {
  response.writeHead(403, { 'x-terrane-denied': encodeURIComponent(text) })
  response.end()
}

function targetOf(request: IncomingMessage): URL | null {
  const header = request.headers['x-terrane-target']
  const target = typeof header === 'string' ? URL.parse(header) : null
  return target?.protocol === 'http:' || target?.protocol === 'https:' ? target : null
}
