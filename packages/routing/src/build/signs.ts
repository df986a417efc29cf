import { Access, NodeType, SignType, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, put } from '../graph/fields.ts'
import type { GraphArrays } from '../graph/graph.ts'
import type { EdgeTable } from './edges.ts'
import type { NodeFacts } from './tags/node.ts'
import type { WayFacts } from './tags/way.ts'
import type { StreetName } from './tags/way-names.ts'
import type { TextTable } from './texts.ts'

/** A text on a sign where an edge begins. */
interface Sign {
  readonly type: number
  readonly text: string
  readonly routeNumber: boolean
}

interface SignInputs {
  readonly edges: EdgeTable
  readonly wayOf: (edge: number) => WayFacts
  readonly factsOf: (node: number) => NodeFacts
}

/** Whether a node is a fork: the road divides into similar arms. */
export function isFork({ edges, wayOf, factsOf }: SignInputs, node: number): boolean {
  const { total, ramps, drivable } = countArms(edges, wayOf, node)
  if (total <= 2 || drivable <= 1) return false
  if (ramps === total) return true
  if (factsOf(node).type !== NodeType.motorwayJunction) return false
  return ramps === 0 || (ramps === drivable && total === ramps + 1)
}

/** The signs of all edges, in the order of the edges; also flags the edges with signs. */
export function signTable(
  inputs: SignInputs,
  texts: TextTable,
): Pick<GraphArrays, 'signEdge' | 'firstSign' | 'signText' | 'signType'> {
  const signEdge: number[] = []
  const firstSign = [0]
  const signText: number[] = []
  const signType: number[] = []
  const { edges } = inputs
  for (let node = 0; node < edges.nodeCount; node++) {
    for (let edge = edges.firstEdge[node]!; edge < edges.firstEdge[node + 1]!; edge++) {
      const signs = signsOf(inputs, node, edge)
      if (signs.length === 0) continue
      edges.flags[edge] = put(edges.flags[edge]!, FlagField.signs, 1)
      signEdge.push(edge)
      for (const { type, text, routeNumber } of signs) {
        signType.push(type)
        signText.push(2 * texts.intern(text) + Number(routeNumber))
      }
      firstSign.push(signText.length)
    }
  }
  return {
    signEdge: Uint32Array.from(signEdge),
    firstSign: Uint32Array.from(firstSign),
    signText: Uint32Array.from(signText),
    signType: Uint8Array.from(signType),
  }
}

/** Signs for drivers at the beginning of an edge; empty when cars may not enter it. */
function signsOf(inputs: SignInputs, node: number, edge: number): Sign[] {
  const { edges, wayOf, factsOf } = inputs
  const info = edges.info[edge]!
  if ((get(info, EdgeField.access) & Access.car) === 0) return []
  const way = wayOf(edge)
  const use = get(info, EdgeField.use)
  const fork = isFork(inputs, node)
  const ramp = use === Use.ramp
  // Away from exits, signs point along the road instead of off it.
  const guide = use === Use.turnChannel || (!ramp && !fork)
  const texts = edges.forward[edge] === 1 ? way.names.signsForward : way.names.signsBackward
  const atExit = ramp && !fork
  const facts = factsOf(node)
  const signs = [
    ...plain(SignType.exitNumber, texts.exitNumber.length > 0 ? texts.exitNumber : atExit ? facts.exitNumbers : []),
    ...numbered(guide ? SignType.guideBranch : SignType.exitBranch, texts.branch),
    ...numbered(guide ? SignType.guideToward : SignType.exitToward, texts.toward),
    ...(texts.branch.length + texts.toward.length === 0 && !fork ? exitTo(facts.exitTo) : []),
    ...plain(SignType.exitName, [...(atExit ? facts.exitNames : []), ...texts.exitName]),
  ]
  const guided = guide && texts.branch.length + texts.toward.length > 0
  const { ramps, drivable } = countArms(edges, wayOf, node)
  const wanted = fork || guided || (way.link && !(ramps === 2 && drivable === 1))
  return wanted ? signs.toSorted((a, b) => a.type - b.type) : []
}

function countArms(
  edges: EdgeTable,
  wayOf: SignInputs['wayOf'],
  node: number,
): { total: number; ramps: number; drivable: number } {
  let ramps = 0
  let drivable = 0
  for (let edge = edges.firstEdge[node]!; edge < edges.firstEdge[node + 1]!; edge++) {
    if (wayOf(edge).link) ramps++
    if ((get(edges.info[edge]!, EdgeField.access) & Access.car) !== 0) drivable++
  }
  return { total: edges.firstEdge[node + 1]! - edges.firstEdge[node]!, ramps, drivable }
}

function plain(type: number, texts: readonly string[]): Sign[] {
  return texts.map((text) => ({ type, text, routeNumber: false }))
}

function numbered(type: number, names: readonly StreetName[]): Sign[] {
  return names.map((name) => ({ type, ...name }))
}

/** Reads `exit_to`: "To X", "Toward X", "A to X", or just "X". */
function exitTo(texts: readonly string[]): Sign[] {
  return texts.flatMap((text) => {
    const plainTo = /^to(?:ward)? (.+)$/i.exec(text)
    if (plainTo !== null) return plain(SignType.exitToward, [plainTo[1]!])
    const halves = text.split(/ to(?:ward)? /i)
    if (halves.length !== 2) return plain(SignType.exitToward, [text])
    return [...plain(SignType.exitBranch, [halves[0]!]), ...plain(SignType.exitToward, [halves[1]!])]
  })
}
