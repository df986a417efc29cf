import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'

/**
 * How a listener without Fastify learns whose request it has: the address that the last proxy which is trusted names, as
 * `request.ip` of the other apps.
 */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const trusts = proxyAddr.compile([...trustedProxies])
  return (request) => proxyAddr(request, trusts) ?? ''
}
