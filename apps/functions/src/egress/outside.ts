import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { resolvePublicHost, type FetchPolicy } from '@terrane/service'
import { deny, type Outgoing } from './door.ts'
import { forward, passable } from './forward.ts'
import { allowing, isListed } from './allowed-hosts.ts'

/** Longest silence of a host outside, in milliseconds. */
const IDLE_TIMEOUT_MS = 60_000

/**
 * Sends a fetch to a host that the function's policy names. The name is resolved once, every address must be public,
 * and the checked address is used for the connection. Each redirect is checked like a new fetch.
 *
 * @param policy hosts that the operator lets functions reach although they are private
 */
export async function carryOutside(
  outgoing: Outgoing,
  policy: FetchPolicy,
  onRefused: (text: string) => void,
): Promise<void> {
  const { request, response, target, version } = outgoing
  const { hostname, protocol } = target
  const refuse = (text: string) => {
    onRefused(text)
    deny(response, text)
  }
  const secure = protocol === 'https:'
  const port = target.port === '' ? (secure ? 443 : 80) : Number(target.port)
  if (!isListed(version.policy.net, hostname, port, secure)) {
    const entry = secure && port === 443 ? hostname : `${hostname}:${port}`
    return refuse(`fetch to ${target.host} is not allowed: add "${entry}" to "net" in function.json`)
  }
  let address
  try {
    address = await resolvePublicHost(hostname, allowing(policy, version.policy.net, { hostname, port, secure }))
  } catch (error) {
    return refuse(`fetch to ${target.host} is refused: ${(error as Error).message}`)
  }
  const options = {
    host: address,
    port,
    method: request.method ?? 'GET',
    path: target.pathname + target.search,
    headers: { ...passable(request.headers), host: target.host },
    timeout: IDLE_TIMEOUT_MS,
  }
  const upstream = secure
    ? httpsRequest({ ...options, ...(isIP(hostname) === 0 && { servername: hostname }) })
    : httpRequest(options)
  upstream.once('timeout', () => upstream.destroy(new Error('it does not answer')))
  forward(request, response, upstream, (error) => deny(response, `fetch to ${target.host} failed: ${error.message}`))
}
