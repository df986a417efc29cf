import ipaddr from 'ipaddr.js'

/**
 * Why a caller's URL may not lead to an IP address; null for a public unicast address. IPv6 addresses that carry an
 * IPv4 one (mapped, compatible, NAT64, 6to4, ISATAP) are checked by it, too; apart from these only 2000::/3 is public.
 */
export function forbiddenRange(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'not an IP address'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (parsed instanceof ipaddr.IPv4) return range === 'unicast' ? null : range
  const embedded = embeddedIPv4(parsed, range)
  if (embedded?.whole) return forbiddenRange(embedded.address)
  const inner = embedded ? forbiddenRange(embedded.address) : null
  if (inner) return inner
  if (range !== 'unicast') return range
  return isGlobal(parsed) ? null : 'not global'
}

/** An IPv4 address inside an IPv6 one; `whole` when the IPv6 address needs no check of its own. */
function embeddedIPv4(address: ipaddr.IPv6, range: string): { address: string; whole: boolean } | null {
  const bytes = address.toByteArray()
  const at = (start: number) => bytes.slice(start, start + 4).join('.')
  switch (range) {
    case 'ipv4Mapped':
    case 'rfc6052':
    case 'rfc6145':
      return { address: at(12), whole: true }
    case '6to4':
      return { address: at(2), whole: true }
    default:
  }
  // ISATAP (RFC 5214): the interface is [00|02]00:5efe and the IPv4 address, under any prefix.
  const isatap = (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return isatap ? { address: at(12), whole: false } : null
}

/** Global unicast (RFC 4291). Unassigned space, IPv4-compatible addresses included, is refused. */
function isGlobal(address: ipaddr.IPv6): boolean {
  return (address.toByteArray()[0]! & 0xe0) === 0x20
}
