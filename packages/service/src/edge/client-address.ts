import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'

/**
 * Returns a function that finds the client's address, for a listener without Fastify: the address that the last trusted
 * proxy names, as `request.ip` of the other apps.
 */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const trusts = proxyAddr.compile([...trustedProxies])
  return (request) => proxyAddr(request, trusts) ?? ''
}
