import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

/** Cache of networks by address: parsing an address takes as long as all other rate limiting of a call. */
const KNOWN = new LRUCache<string, string>({ max: 1000 })
/** Maximum length of a cached address, because a proxy's header may have any text. */
const LONGEST = 60

/** Key of an address in rate limits: IPv4, also mapped; for IPv6 its /64, which usually is one customer. */
export function networkOf(address: string): string {
  const known = KNOWN.get(address)
  if (known !== undefined) return known
  const network = readNetwork(address)
  if (address.length > LONGEST) return network
  KNOWN.set(address, network)
  return network
}

function readNetwork(address: string): string {
  const bare = address.split('%', 1)[0] ?? ''
  if (!ipaddr.isValid(bare)) return bare
  const parsed = ipaddr.process(bare)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
