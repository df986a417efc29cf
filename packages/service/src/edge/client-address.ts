import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'

/** Finds the client's address behind trusted proxies on a plain HTTP listener, like `request.ip` of the other apps. */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const trusts = proxyAddr.compile([...trustedProxies])
  return (request) => proxyAddr(request, trusts) ?? ''
}
