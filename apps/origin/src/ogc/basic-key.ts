import type { FastifyRequest } from 'fastify'

/**
 * Reads the key of a request from the password of HTTP Basic, with any user name, for clients that cannot send another
 * header. A browser attaches a stored password to all requests, even to requests caused by other sites. So a browser's
 * password counts only when a person opens a page (`Sec-Fetch-Dest: document`). Other sites cannot change features with
 * it: a change needs a content type or method that requires a CORS preflight, and no answer here allows credentials.
 */
export function takeBasicKey({ raw }: FastifyRequest): void {
  const found = /^basic +([\w+/=-]+)$/i.exec(raw.headers.authorization ?? '')
  const use = raw.headers['sec-fetch-dest'] ?? 'document'
  if (!found || use !== 'document') return
  const text = Buffer.from(found[1]!, 'base64').toString('utf8')
  delete raw.headers.authorization
  raw.headers['apikey'] ??= text.slice(text.indexOf(':') + 1)
}
