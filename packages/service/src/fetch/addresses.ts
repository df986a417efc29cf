import ipaddr from 'ipaddr.js'

/**
 * Why an IP address may not be dialled on a stranger's word, or null for a public unicast address. IPv6 addresses that
 * carry an IPv4 one (mapped, NAT64, 6to4) are judged by it.
 */
export function forbiddenRange(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'not an IP address'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (parsed instanceof ipaddr.IPv4) return range === 'unicast' ? null : range
  const embedded = embeddedIPv4(parsed, range)
  if (embedded) return forbiddenRange(embedded)
  return range === 'unicast' ? null : range
}

function embeddedIPv4(address: ipaddr.IPv6, range: string): string | null {
  const bytes = address.toByteArray()
  switch (range) {
    case 'ipv4Mapped':
      return address.toIPv4Address().toString()
    case 'rfc6052':
    case 'rfc6145':
      return bytes.slice(12, 16).join('.')
    case '6to4':
      return bytes.slice(2, 6).join('.')
    default:
      return null
  }
}
