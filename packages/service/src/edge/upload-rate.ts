import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { bodyTooSlow } from '../errors.ts'
import type { Http } from '../http-type.ts'

/** Minimum upload rate of a request body. */
export interface UploadRate {
  readonly everyMs: number
  readonly leastBytes: number
}

/** The slowest upload that is still accepted: 1,024 bytes in 10 seconds. */
export const MIN_UPLOAD_RATE: UploadRate = { everyMs: 10_000, leastBytes: 1024 }

/** Ends requests whose bodies arrive too slowly while the server waits; their total time is not limited. */
export function requireUploadRate(app: Http, rate: UploadRate): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (!raw.complete && hasBody(raw)) watch(raw, reply, rate)
  })
}

function watch(raw: IncomingMessage, reply: FastifyReply, { everyMs, leastBytes }: UploadRate): void {
  const socket: Partial<Socket> = raw.socket
  // A request that was injected without a connection has its whole body already.
  if (socket.bytesRead === undefined) return
  let before = socket.bytesRead
  const check = () => {
    if (raw.complete || raw.destroyed) return clearInterval(timer)
    const received = socket.bytesRead! - before
    before = socket.bytesRead!
    // Bytes that wait here unread are the server's delay, not the client's.
    if (received >= leastBytes || raw.readableLength > 0) return
    clearInterval(timer)
    reply.raw.once('close', () => raw.destroy())
    if (reply.sent) raw.destroy()
    else void reply.header('connection', 'close').send(bodyTooSlow())
  }
  // After a stall of the process timers run before received data is read; an immediate runs after that.
  const timer = setInterval(() => setImmediate(check), everyMs)
  raw.once('close', () => clearInterval(timer))
}

/** True when a request announces a body. */
export function hasBody(raw: IncomingMessage): boolean {
  return raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0
}
