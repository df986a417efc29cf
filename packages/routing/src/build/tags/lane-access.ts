import { Access } from '../../graph/attributes.ts'
import { ACCESS_KEYS, CHAINS, namedModes } from './mode-tags.ts'
import { ACCESS, meaning, type Tags } from './values.ts'

const ACCESS_LANES = new RegExp(`^(${ACCESS_KEYS.join('|')}):lanes(:|$)`)

/**
 * Modes to which every lane of a way in a direction is closed: `vehicle:lanes=no|no` with `bus:lanes=designated|designated`
 * is a street for buses. In each lane the most specific key that speaks of it counts, of the lane or of the whole way. Source: OpenStreetMap wiki,
 * Key:access, page Lanes.
 */
export function closedByLanes(tags: Tags, direction: 'forward' | 'backward'): number {
  const lanesOf = (key: string): string[] =>
    (tags.get(`${key}:lanes:${direction}`) ?? tags.get(`${key}:lanes`) ?? '').split('|')
  if (![...tags.keys()].some((key) => ACCESS_LANES.test(key))) return 0
  let closed = 0
  for (const [modes, keys] of CHAINS) {
    // Lanes are those of the carriageway: who walks beside it is not meant.
    if ((modes & Access.foot) !== 0) continue
    const said = keys.map((key) => ({ lanes: lanesOf(key), whole: tags.get(key) }))
    const count = Math.max(...said.map(({ lanes }) => lanes.length))
    const isClosed = (lane: number): boolean => {
      const value = said.map(({ lanes, whole }) => lanes[lane] || whole).find((one) => one !== undefined)
      return meaning(ACCESS, value) === false && (namedModes(value) & modes) === 0
    }
    if (Array.from({ length: count }, (_, lane) => lane).every(isClosed)) closed |= modes
  }
  return closed
}
