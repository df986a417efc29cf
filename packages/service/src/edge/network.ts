import ipaddr from 'ipaddr.js'

/**
 * Whom an address counts for in limits: an IPv4 address for itself, also when it is written as an IPv6 one; an IPv6
 * address for its /64, which is what one customer has.
 */
export function networkOf(address: string): string {
  const bare = address.split('%', 1)[0] ?? ''
  if (!ipaddr.isValid(bare)) return bare
  const parsed = ipaddr.process(bare)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
