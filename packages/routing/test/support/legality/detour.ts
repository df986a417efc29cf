import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import type { LegalityChecker, Passage } from './check.ts'
import type { Judge } from './judge.ts'

/** Ways that engines leave out, or take as private, without a tag of access. */
const YARDS = new Set(['driveway', 'parking_aisle', 'drive-through', 'emergency_access'])
const STREETS = /^(motorway|primary|secondary|tertiary)(_link)?$|^(residential|living_street|unclassified|service)$/
/** Further ways of some modes; countries close trunk roads to the slow ones. */
const FURTHER: Partial<Record<Mode, RegExp>> = {
  pedestrian: /^(footway|pedestrian|path|steps)$/,
  bicycle: /^cycleway$/,
  motor_scooter: /^$/,
}
/** A wheelchair takes no steps. */
const WHEELCHAIR = /^(footway|pedestrian|path)$/
/** Tags by which ways of these kinds are left out for other reasons than the law. */
const NARROWING = /sac_scale|conveying|surface|smoothness|tracktype|wheelchair|mtb|level|indoor/
const TRUNK = /^trunk(_link)?$/
const MOST_PASSAGES = 300_000

const key = ({ segment, to }: Passage): string => `${segment.way.id} ${segment.a} ${segment.b} ${to}`

/**
 * Whether a mode can get from one passage to another without a U-turn, by ways that are open to all of its vehicles. It is
 * a plain search over the map.
 */
export function canAvoid(checker: LegalityChecker, lenient: Judge, from: Passage, to: Passage): boolean {
  const judge = lenient.strict()
  const { map } = checker
  const further = judge.isWheelchair ? WHEELCHAIR : (FURTHER[judge.mode] ?? TRUNK)
  const goal = key({ ...to, to: to.direction === 'forward' ? to.segment.b : to.segment.a })
  const start = from.direction === 'forward' ? from.segment.b : from.segment.a
  const queue: Passage[] = [{ ...from, to: start }]
  const seen = new Set([key(queue[0]!)])
  const parents = new Map<Passage, Passage>()
  for (const before of queue) {
    if (queue.length > MOST_PASSAGES) return false
    const barrier = map.nodeTags.get(before.to)
    if (barrier !== undefined && (!isPlain(barrier) || judge.node(barrier) !== 'open')) continue
    for (const segment of map.segmentsAt(before.to)) {
      if (segment === before.segment) continue
      const direction = segment.a === before.to ? 'forward' : 'backward'
      const after: Passage = {
        segment,
        direction,
        from: before.to,
        to: segment.a === before.to ? segment.b : segment.a,
      }
      const name = key(after)
      if (seen.has(name)) continue
      const isGoal = name === goal
      const { tags } = segment.way
      const { highway = '' } = tags
      const isFurther = further.test(highway) && !Object.keys(tags).some((tag) => NARROWING.test(tag))
      if (!(STREETS.test(highway) || isFurther) || YARDS.has(tags.service ?? '') || !isPlain(tags)) continue
      if (judge.way(segment.way, direction) !== 'open' || checker.brokenAt(judge, before, after).length > 0) continue
      parents.set(after, before)
      if (isGoal) return !checker.breaksOverWays(judge, chainTo(after, parents))
      seen.add(name)
      queue.push(after)
    }
  }
  return false
}

/** Whether the checker makes a claim about each of the tags. */
function isPlain(tags: OsmTags): boolean {
  return !Object.keys(tags).some((name) => /conditional|opening_hours|hov|lanes|psv/.test(name))
}

function chainTo(end: Passage, parents: ReadonlyMap<Passage, Passage>): Passage[] {
  const chain: Passage[] = []
  for (let at: Passage | undefined = end; at !== undefined; at = parents.get(at)) chain.push(at)
  return chain.toReversed()
}
