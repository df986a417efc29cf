import type { IncomingMessage } from 'node:http'
import type { Http } from '../http.ts'
import { hasBody } from './pace.ts'

/** How long the rest of a body is read and dropped once its request has been refused, in milliseconds. */
const DISCARD_MS = 5000

/**
 * Answers refusals at once, also while the body is still on its way: the rest is read and dropped for a while, then the
 * connection ends. One that closed under an upload would take the answer with it, from a caller or a proxy that has not
 * looked for it yet.
 */
export function discardRefused(app: Http): void {
  app.addHook('onSend', async ({ raw }, reply) => {
    if (reply.statusCode < 400 || raw.complete || !hasBody(raw) || reply.statusCode === 408) return
    reply.removeHeader('connection')
    discardRest(raw)
  })
}

/**
 * Reads the rest of a request that nobody wants and drops it, for a while: a connection that closes under an upload takes the
 * answer with it, from a caller or a proxy that has not looked for one yet.
 */
export function discardRest(raw: IncomingMessage): void {
  raw.resume()
  const timer = setTimeout(() => raw.destroy(), DISCARD_MS)
  const done = () => clearTimeout(timer)
  raw.once('end', done)
  raw.once('close', done)
}
