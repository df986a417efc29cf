import { Access } from '../../graph/attributes.ts'
import { ACCESS_KEYS, MODE_LAWS } from '../access-law.ts'
import { type Verdict, verdictOf } from './decide.ts'
import type { Tags } from './values.ts'

const ACCESS_LANES = new RegExp(`^(${ACCESS_KEYS.join('|')}):lanes(:|$)`)

/**
 * Modes for which every lane of a direction has one of the given verdicts: `vehicle:lanes=no|no` with
 * `bus:lanes=designated|designated` is closed to all but buses. In each lane the most specific key counts, of the lane
 * or of the whole way. Source: OpenStreetMap wiki, Key:access, page Lanes.
 */
export function modesByLanes(
  tags: Tags,
  direction: 'forward' | 'backward',
  verdicts: readonly (Verdict | undefined)[],
): number {
  const lanesOf = (key: string): string[] =>
    (tags.get(`${key}:lanes:${direction}`) ?? tags.get(`${key}:lanes`) ?? '').split('|')
  if (![...tags.keys()].some((key) => ACCESS_LANES.test(key))) return 0
  let modes = 0
  for (const { mode, keys } of MODE_LAWS) {
    // Lanes belong to the carriageway, so their tags do not apply to pedestrians.
    if (mode === Access.foot) continue
    const said = keys.map((key) => ({ key, lanes: lanesOf(key), whole: tags.get(key) }))
    const count = Math.max(...said.map(({ lanes }) => lanes.length))
    const isSaid = (lane: number): boolean => {
      const first = said.find(({ lanes, whole }) => (lanes[lane] || whole) !== undefined)
      return first !== undefined && verdicts.includes(verdictOf(first.key, first.lanes[lane] || first.whole, mode))
    }
    if (Array.from({ length: count }, (_, lane) => lane).every(isSaid)) modes |= mode
  }
  return modes
}
