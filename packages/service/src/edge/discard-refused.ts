import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http } from '../http-type.ts'
import { hasBody } from './upload-rate.ts'

/** Maximum time for which the rest of a refused body is read and dropped, in milliseconds. */
const LONGEST_MS = 30_000
/** Maximum time without a byte of that body, in milliseconds. */
const SILENT_MS = 5000

/**
 * Answers refusals at once, also while the body is still being sent. The rest of the body is read and dropped; if that
 * takes too long, the connection is closed. A connection that closed at once would lose the answer for a caller or
 * proxy that has not read it yet.
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

/** Reads and drops the rest of a refused request, so that a caller that still writes gets the answer; within a time. */
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
