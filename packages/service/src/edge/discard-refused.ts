import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http } from '../http-type.ts'
import { hasBody } from './upload-rate.ts'

/** Maximum time in milliseconds for which the rest of a refused body is read and dropped, ... */
const LONGEST_MS = 30_000
/** ... and no longer than this after its last byte. */
const SILENT_MS = 5000

/**
 * Answers refusals at once, also while the body is still on its way: the rest is read and dropped for a while, then the
 * connection ends. One that closed under an upload would take the answer with it, from a caller or a proxy that has not
 * looked for it yet.
 */
export function discardRefused(app: Http): void {
  app.addHook('onSend', async ({ raw }, reply) => {
    if (reply.statusCode < 400 || raw.complete || !hasBody(raw) || reply.statusCode === 408) return
    reply.removeHeader('connection')
    outlastAnswer(raw, reply.raw)
    discardRest(raw)
  })
}

/**
 * Keeps a connection open after an answer that is sent before the request is complete. With `connection: close` Node
 * would close it right after the answer, with the rest of the body unread. Call it before the head of the answer is
 * written; the connection closes after the body.
 */
export function outlastAnswer(request: IncomingMessage, response: ServerResponse): void {
  if (response.shouldKeepAlive) return
  response.shouldKeepAlive = true
  request.once('end', () => request.socket.end())
}

/**
 * Reads the rest of a refused request and drops it, for a while: a connection that closes under an upload takes the
 * answer with it, from a caller or a proxy that has not looked for one yet.
 */
export function discardRest(raw: IncomingMessage): void {
  raw.resume()
  const silent = setTimeout(() => raw.destroy(), SILENT_MS)
  const longest = setTimeout(() => raw.destroy(), LONGEST_MS)
  raw.on('data', () => silent.refresh())
  const done = () => {
    clearTimeout(silent)
    clearTimeout(longest)
  }
  raw.once('end', done)
  raw.once('close', done)
}
