import type { CollectedWay } from '../collect.ts'
import type { NodeIndex } from '../node-index.ts'
import { countryAccess } from './access.ts'
import type { Borders } from './borders.ts'
import { legalSpeeds } from './legal-speeds.ts'

/** Ways with what their countries say of them: the side to drive on, default access and legal speeds. */
export function placeWays(ways: readonly CollectedWay[], nodes: NodeIndex, borders: Borders): CollectedWay[] {
  return ways.map((way) => {
    const node = middleOf(way, nodes)
    if (node < 0) return way
    const [lon, lat] = [nodes.lon[node]! / 1e7, nodes.lat[node]! / 1e7]
    const { facts } = way
    const code = borders.codeAt(lon, lat)
    return {
      ...way,
      facts: {
        ...facts,
        drivingSide: facts.drivingSide ?? borders.sideAt(lon, lat),
        access: countryAccess(facts.access, facts.countryClass, code),
        legalSpeeds: legalSpeeds(code),
      },
    }
  })
}

/** The node halfway along a way, or the next that the files have; −1 when they have none. */
function middleOf({ refs }: CollectedWay, nodes: NodeIndex): number {
  const middle = refs.length >> 1
  for (const ref of [...refs.subarray(middle), ...refs.subarray(0, middle)]) {
    const node = nodes.find(ref)
    if (node >= 0 && nodes.has(node)) return node
  }
  return -1
}
