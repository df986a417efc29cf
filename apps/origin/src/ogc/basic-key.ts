import type { FastifyRequest } from 'fastify'

/**
 * Reads the key of a request from the password of HTTP Basic, with any user name, for clients that cannot send another
 * header. For browsers this works only on pages that a person opens, because a browser also sends a known password with
 * pictures and scripts of other sites. A change of features needs a content type or method that another site cannot
 * send with the browser's password, unless this origin allows it by CORS, and no answer here allows credentials.
 */
export function takeBasicKey({ raw }: FastifyRequest): void {
  const found = /^basic +([\w+/=-]+)$/i.exec(raw.headers.authorization ?? '')
  const use = raw.headers['sec-fetch-dest'] ?? 'document'
  if (!found || use !== 'document') return
  const text = Buffer.from(found[1]!, 'base64').toString('utf8')
  delete raw.headers.authorization
  raw.headers['apikey'] ??= text.slice(text.indexOf(':') + 1)
}
