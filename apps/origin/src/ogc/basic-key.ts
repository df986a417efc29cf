import type { FastifyRequest } from 'fastify'

/**
 * Takes the key of a request from HTTP Basic, where clients that know no other header have it: its password, whatever the user
 * name. Of what a browser asks for, only pages that a person opens have one: it sends a password that it knows with pictures and
 * scripts of pages elsewhere, too. What changes features wants a content type or a method that a page elsewhere cannot send with a browser's password
 * unless this origin allows it by CORS, and no answer here allows credentials.
 */
export function takeBasicKey({ raw }: FastifyRequest): void {
  const found = /^basic +([\w+/=-]+)$/i.exec(raw.headers.authorization ?? '')
  const use = raw.headers['sec-fetch-dest'] ?? 'document'
  if (!found || use !== 'document') return
  const text = Buffer.from(found[1]!, 'base64').toString('utf8')
  delete raw.headers.authorization
  raw.headers['apikey'] ??= text.slice(text.indexOf(':') + 1)
}
