import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Http } from '../http-type.ts'
import { hasBody } from './upload-rate.ts'

/**
 * Limits for the rest of a body, in milliseconds. Silence is looked for in steps of its limit, so that a silent caller is
 * ended after twice that time at most.
 */
export interface RestLimits {
  readonly silentMs: number
  readonly longestMs: number
}

const REST: RestLimits = { silentMs: 5000, longestMs: 30_000 }

/**
 * Answers at once, also while the body of the request is still being sent. The rest of a body that is refused or that
 * no handler reads is dropped, so that a caller that writes first and reads then gets its answer.
 */
export function dropUnreadBodies(app: Http): void {
  lingerOnClose(app.server)
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete || !hasBody(raw) || reply.statusCode === 408) return
    const isRefused = reply.statusCode >= 400
    // Fastify closes after a refusal, which is not necessary because the rest is read.
    if (isRefused) reply.removeHeader('connection')
    if (isRefused || !isRead(raw)) discardRest(raw)
  })
}

/**
 * Closes the connections of a server as RFC 9112 (section 9.6) says: after the last answer only the sending side, and
 * the rest when the caller has sent its body or a time limit has passed. Node closes both sides at once; unread bytes
 * then make the system reset the connection, and a caller that still writes never reads its answer. On a connection that
 * stays open, the rest of a body that no handler reads is dropped within the same limits. Call it before the server
 * listens.
 */
export function lingerOnClose(server: Server, limits: RestLimits = REST): void {
  const requests = new WeakMap<Socket, IncomingMessage>()
  const lingering = new WeakSet<Socket>()
  server.once('listening', () => {
    const listeners = server.listeners('request') as RequestListener[]
    server.removeAllListeners('request')
    server.on('request', (request, response) => {
      const { socket } = request
      // A request behind the last answer gets none, so it must have no effect.
      if (lingering.has(socket)) return void socket.destroy()
      if (!request.complete && hasBody(request)) {
        requests.set(socket, request)
        response.once('finish', () => {
          if (!request.complete && !lingering.has(socket) && !isRead(request)) discardRest(request, limits)
        })
      }
      for (const listener of listeners) listener.call(server, request, response)
    })
  })
  server.on('connection', (socket: Socket) => {
    const close = socket.destroySoon.bind(socket)
    // Node calls this method after the last answer on a connection. It documents no other place for this rule.
    socket.destroySoon = () => {
      const request = requests.get(socket)
      if (!request || request.complete || request.destroyed) return close()
      lingering.add(socket)
      socket.end()
      request.once('end', close)
      if (!isRead(request)) request.resume()
      limitRest(socket, limits)
    }
  })
}

/** Closes the sending side of a connection without a parser, and reads and drops what arrives until the caller closes. */
export function lingerOn(socket: Socket, limits: RestLimits = REST): void {
  socket.end()
  socket.resume()
  socket.once('end', () => socket.destroy())
  limitRest(socket, limits)
}

/** Reads and drops the rest of a request that no handler reads any more, within a time. */
export function discardRest(raw: IncomingMessage, limits: RestLimits = REST): void {
  raw.resume()
  const stop = limitRest(raw.socket, limits)
  raw.once('end', stop)
  raw.once('close', stop)
}

/** True when a handler or proxy reads the body, also while it pauses. */
function isRead(request: IncomingMessage): boolean {
  return request.listenerCount('data') > 0 || request.listenerCount('readable') > 0
}

/** Destroys a connection that is silent or takes too long. Returns a function that lifts the limits. */
function limitRest(socket: Socket, { silentMs, longestMs }: RestLimits): () => void {
  // A connection that is gone emits no `close`, which ends the timers. Injected and destroyed requests have none.
  const known: Partial<Socket> | null = socket
  if (known?.destroyed ?? true) return () => {}
  let before = socket.bytesRead
  const silent = setInterval(() => {
    if (socket.bytesRead === before) socket.destroy()
    before = socket.bytesRead
  }, silentMs)
  const longest = setTimeout(() => socket.destroy(), longestMs)
  const stop = () => {
    clearInterval(silent)
    clearTimeout(longest)
    socket.off('close', stop)
  }
  socket.once('close', stop)
  return stop
}
