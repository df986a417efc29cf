import type { FetchPolicy } from '@terrane/service'

/** `name` means https on port 443; `name:port` that port, encrypted or not. */
export function isListed(net: readonly string[], hostname: string, port: number, secure: boolean): boolean {
  const wanted = hostname.toLowerCase()
  return net.some((entry) => {
    const listed = entry.toLowerCase()
    return listed === `${wanted}:${port}` || (secure && port === 443 && listed === wanted)
  })
}

/** The policy as it counts for one host: the operator may have named it with its port. */
export function allowing(policy: FetchPolicy, hostname: string, port: number): FetchPolicy {
  const wanted = `${hostname}:${port}`.toLowerCase()
  const allowed = (policy.allowHosts ?? []).some((host) => host.toLowerCase() === wanted)
  return allowed ? { ...policy, allowHosts: [...policy.allowHosts!, hostname] } : policy
}
