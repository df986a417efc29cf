import type { NodeIndex } from '../node-index.ts'
import type { WayFacts } from '../tags/way.ts'
import { wayTimed } from '../tags/way-timed.ts'
import type { WayNodes, Ways } from '../ways.ts'
import { countryAccess } from './access.ts'
import type { Borders } from './borders.ts'
import { legalSpeeds } from './legal-speeds.ts'

/** Ways with the facts of their countries: driving side, default access and legal speeds. */
export function placeWays(ways: Ways, wayNodes: WayNodes, nodes: NodeIndex, borders: Borders): Ways {
  const place = (way: number): string => {
    const node = middleOf(way, wayNodes, nodes)
    if (node < 0) return NOWHERE
    const [lon, lat] = [nodes.lon[node]! / 1e7, nodes.lat[node]! / 1e7]
    return `${borders.sideAt(lon, lat)} ${borders.codeAt(lon, lat) ?? ''}`
  }
  return ways.withFacts(place, (facts, key) => {
    if (key === NOWHERE) return facts
    const [side, code] = key.split(' ') as [NonNullable<WayFacts['drivingSide']>, string]
    return {
      ...inCountry(facts, code || null),
      drivingSide: facts.drivingSide ?? side,
      country: code || null,
      legalSpeeds: legalSpeeds(code || null),
    }
  })
}

/** The facts of a way with the default access of its country, and the timed rules that depend on it. */
function inCountry(facts: WayFacts, code: string | null): WayFacts {
  const access = countryAccess(facts.access, facts.countryClass, code)
  return { ...facts, access, timed: facts.conditions === null ? facts.timed : wayTimed(facts.conditions, access) }
}

const NOWHERE = ''

/** The node halfway along a way, or the next one in the files; −1 when they have none. */
function middleOf(way: number, { first, node }: WayNodes, nodes: NodeIndex): number {
  const begin = first[way]!
  const count = first[way + 1]! - begin
  for (let i = 0, at = count >> 1; i < count; i++, at = (at + 1) % count) {
    const found = node[begin + at]!
    if (nodes.has(found)) return found
  }
  return -1
}
