import type { FetchPolicy } from '@terrane/service'

/**
 * `name` means https on port 443; `name:port` that port, encrypted or not; `*.name` any host below a name; `*` any host
 * and port.
 *
 * @param port null for any listed port
 */
export function isListed(net: readonly string[], hostname: string, port: number | null, secure: boolean): boolean {
  const wanted = hostname.toLowerCase()
  return net.some((entry) => {
    if (entry === '*') return true
    const [name = '', listed] = entry.toLowerCase().split(':')
    const isPort = port === null || (listed === undefined ? secure && port === 443 : Number(listed) === port)
    return isPort && (name.startsWith('*.') ? wanted.endsWith(name.slice(1)) : name === wanted)
  })
}

/** A host that a function wants to reach. */
export interface Wanted {
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
}

/**
 * The operator's fetch policy for one host, which the operator may have listed with its port. A private host that the
 * operator allows is reachable only if the function's `net` names it; `*` covers public hosts only.
 */
export function allowing(policy: FetchPolicy, net: readonly string[], { hostname, port, secure }: Wanted): FetchPolicy {
  const named = net.filter((entry) => entry !== '*')
  if (!isListed(named, hostname, port, secure)) return { ...policy, allowHosts: [] }
  const wanted = `${hostname}:${port}`.toLowerCase()
  const allowed = (policy.allowHosts ?? []).some((host) => host.toLowerCase() === wanted)
  return allowed ? { ...policy, allowHosts: [...policy.allowHosts!, hostname] } : policy
}
