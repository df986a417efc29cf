import type { Costing } from '../cost/costing.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'
import type { Graph } from '../graph/graph.ts'
import type { TextReader } from '../graph/texts.ts'
import type { Leg } from '../path/legs.ts'
import type { Warning } from '../request/problems.ts'
import { quoted } from '../request/unheeded.ts'

const TAG_UNREAD = 904

/** A warning with the unsupported conditions on a route for its mode; none on most routes. */
export function unreadWarnings(
  { graph, texts, costing }: { graph: Graph; texts: TextReader; costing: Costing },
  legs: readonly Leg[],
): Warning[] {
  const { unreadPlace, unreadModes, unreadText, edgeCount, edgeHead } = graph
  if (unreadPlace.length === 0) return []
  const found = new Set<number>()
  const look = (place: number): void => {
    for (let i = firstAtLeast(unreadPlace, place); unreadPlace[i] === place; i++) {
      if ((unreadModes[i]! & costing.access) !== 0) found.add(unreadText[i]!)
    }
  }
  for (const { edges } of legs) {
    edges.forEach(({ edge }, i) => {
      look(edge)
      if (i < edges.length - 1) look(edgeCount + edgeHead[edge]!)
    })
  }
  if (found.size === 0) return []
  const tags = quoted(Array.from(found, (text) => texts.text(text)))
  return [{ code: TAG_UNREAD, text: `${tags}: not understood in full, the route may not keep it` }]
}
