import { isOfTheOrigin } from '@terrane/service'
import type { FastifyReply } from 'fastify'
import { addVary } from '../compression.ts'

/** Headers that SQL may set. Others belong to the server, to proxies or to the security of browsers. */
const PERMITTED =
  /^(?:cache-control|content-disposition|content-language|content-location|deprecation|expires|last-modified|link|location|retry-after|sunset|warning|x-(?!accel|sendfile|send-file|content-|frame-options|xss|permitted|forwarded|real-ip|request-id|error-code|warnings|terrane)[\w-]{1,100})$/
const VALUE = /^[\x20-\x7e]{0,4096}$/
/** Headers of a request that an answer depends on. */
const VARY = ['Accept', 'Accept-Profile', 'apikey', 'Authorization', 'Prefer', 'Range']

/** Whether SQL may set a header to a value. */
export function isPermittedHeader(name: string, value: unknown): value is string {
  if (typeof value !== 'string' || !VALUE.test(value)) return false
  return PERMITTED.test(name.toLowerCase()) && !isOfTheOrigin(name, value)
}

/**
 * Sets headers that SQL has given in place of those of the server; a name that is given several times is a list.
 * Caches keep the answers of callers apart.
 */
export function setHeaders(reply: FastifyReply, headers: readonly (readonly [name: string, value: string])[]): void {
  if (headers.length === 0) return
  for (const [name, entries] of Map.groupBy(headers, ([given]) => given.toLowerCase()))
    reply.header(name, entries.map(([, value]) => value).join(', '))
  for (const name of VARY) addVary(reply, name)
}
