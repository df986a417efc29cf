import { ALL_ACCESS } from '../graph/attributes.ts'
import { FlagField, put } from '../graph/fields.ts'
import { type GraphArrays, LimitBits } from '../graph/graph.ts'
import { TimedEffect } from '../graph/timed.ts'
import type { EdgeTable } from './edges.ts'
import { FASTEST, roughened } from './speed.ts'
import type { WayFacts } from './tags/way.ts'
import type { TextTable } from './texts.ts'

/** The limits of all edges, in the order of the edges; also flags the edges with limits. */
export function limitTable(
  edges: EdgeTable,
  wayOf: (edge: number) => WayFacts,
): Pick<GraphArrays, 'limitEdge' | 'limitType' | 'limitValue' | 'limitModes'> {
  const limitEdge: number[] = []
  const limitType: number[] = []
  const limitValue: number[] = []
  const limitModes: number[] = []
  for (let edge = 0; edge < edges.head.length; edge++) {
    const direction = edges.forward[edge] === 1 ? 1 : 2
    for (const limit of wayOf(edge).limits) {
      if ((limit.direction & direction) === 0) continue
      edges.flags[edge] = put(edges.flags[edge]!, FlagField.limits, 1)
      limitEdge.push(edge)
      limitType.push(limit.type | (limit.exceptDestination ? LimitBits.exceptDestination : 0))
      limitValue.push(limit.value)
      limitModes.push(limit.modes)
    }
  }
  return {
    limitEdge: Uint32Array.from(limitEdge),
    limitType: Uint8Array.from(limitType),
    limitValue: Uint32Array.from(limitValue),
    limitModes: Uint16Array.from(limitModes),
  }
}

/** The modes that pay a toll on edges where not all do, in the order of the edges. */
export function tollTable(
  edges: EdgeTable,
  wayOf: (edge: number) => WayFacts,
): Pick<GraphArrays, 'tollEdge' | 'tollModes'> {
  const tollEdge: number[] = []
  const tollModes: number[] = []
  for (let edge = 0; edge < edges.head.length; edge++) {
    const { tollForward, tollBackward } = wayOf(edge).flags
    const modes = edges.forward[edge] === 1 ? tollForward : tollBackward
    if (modes === 0 || modes === ALL_ACCESS) continue
    tollEdge.push(edge)
    tollModes.push(modes)
  }
  return { tollEdge: Uint32Array.from(tollEdge), tollModes: Uint16Array.from(tollModes) }
}

/** A timed speed, capped by the surface of the way; other effects are unchanged. */
function effectOn({ link, surface }: WayFacts, effect: number): number {
  if (effect < TimedEffect.speed) return effect
  const speed = Math.min(effect - TimedEffect.speed, FASTEST)
  return TimedEffect.speed + (link ? speed : roughened(speed, surface))
}

/** The timed rules of all edges, in the order of the edges. */
export function timedTable(
  edges: EdgeTable,
  wayOf: (edge: number) => WayFacts,
  texts: TextTable,
): Pick<GraphArrays, 'timedEdge' | 'timedModes' | 'timedEffect' | 'timedText'> {
  const rules: { edge: number; modes: number; effect: number; conditions: string }[] = []
  for (let edge = 0; edge < edges.head.length; edge++) {
    const direction = edges.forward[edge] === 1 ? 1 : 2
    const way = wayOf(edge)
    for (const rule of way.timed) {
      if ((rule.direction & direction) !== 0) rules.push({ ...rule, edge, effect: effectOn(way, rule.effect) })
    }
  }
  return {
    timedEdge: Uint32Array.from(rules, ({ edge }) => edge),
    timedModes: Uint16Array.from(rules, ({ modes }) => modes),
    timedEffect: Uint8Array.from(rules, ({ effect }) => effect),
    timedText: Uint32Array.from(rules, ({ conditions }) => texts.intern(conditions)),
  }
}
