import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import type { FunctionVersion } from '../function-version.ts'
import type { GatewayDoor } from '../pool/factory.ts'
import type { Call, Instance } from '../pool/instance.ts'

/** A request that a function makes, with what the host knows about where it comes from. */
export interface Outgoing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly version: FunctionVersion
  readonly target: URL
  /** The call it belongs to; null when it names none that is in this instance. */
  readonly call: Call | null
}

interface Origin {
  readonly version: FunctionVersion
  readonly instance: () => Instance | null
}

/** Connections one instance may hold to the host at once. */
const MAX_CONNECTIONS = 64

/**
 * Opens the sockets by which instances reach the host: one each, so that the socket itself says who speaks and nothing
 * has to be believed. One HTTP server reads them all.
 */
export function createDoor(carry: (outgoing: Outgoing) => void): GatewayDoor & Disposable {
  const origins = new WeakMap<Socket, Origin>()
  const http = createHttpServer({ requestTimeout: 0, keepAliveTimeout: 30_000 }, (request, response) => {
    const origin = origins.get(request.socket)!
    const target = targetOf(request)
    if (!target) return deny(response, 'the target of the fetch is not a URL')
    const call = request.headers['x-terrane-call']
    carry({
      request,
      response,
      version: origin.version,
      target,
      call: (typeof call === 'string' && origin.instance()?.call(call)) || null,
    })
  })
  return {
    async open(path, version, instance) {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        origins.set(socket, { version, instance })
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        http.emit('connection', socket)
      })
      server.maxConnections = MAX_CONNECTIONS
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(path, resolve)
      })
      return {
        async [Symbol.asyncDispose]() {
          for (const socket of sockets) socket.destroy()
          await new Promise((resolve) => server.close(resolve))
        },
      }
    },
    [Symbol.dispose]() {
      http.close()
    },
  }
}

/** Answers a fetch that may not leave: the shim turns it into an exception with this text. */
export function deny(response: ServerResponse, text: string): void {
  response.writeHead(403, { 'x-terrane-denied': encodeURIComponent(text) })
  response.end()
}

function targetOf(request: IncomingMessage): URL | null {
  const header = request.headers['x-terrane-target']
  return typeof header === 'string' ? URL.parse(header) : null
}
