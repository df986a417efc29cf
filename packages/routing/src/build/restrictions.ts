import { Turn } from '../graph/attributes.ts'
import { type Field, get, put, TurnField } from '../graph/fields.ts'
import { ANY_SIZE, type GraphArrays } from '../graph/graph.ts'
import type { SizeLimit } from '../time/conditions.ts'
import type { TurnRule } from './collect.ts'
import type { EdgeTable } from './edges.ts'
import type { NodeFacts } from './tags/node.ts'
import type { RestrictedTurn } from './tags/relation.ts'
import type { TurnTable } from './turns.ts'

/** Restrictions over more than two edges, timed ones of any length, and ones over two edges for certain sizes. */
export type RuleTable = Pick<
  GraphArrays,
  | 'firstRule'
  | 'ruleEdge'
  | 'ruleModes'
  | 'ruleType'
  | 'ruleValue'
  | 'firstTimedRule'
  | `timedRule${'Edge' | 'Modes' | 'Text'}`
  | `sizedTurn${'From' | 'To' | 'Modes' | 'Type' | 'Value'}`
>

/** Inputs for locating the parts of restrictions. */
export interface RestrictionInputs {
  readonly edges: EdgeTable
  readonly turns: TurnTable
  /** OSM id of the way of an edge. */
  readonly wayOf: (edge: number) => number
  /** Node of an OSM node id, or −1. */
  readonly nodeOf: (id: number) => number
  /** Edges of a way, both directions. */
  readonly edgesOf: (way: number) => readonly number[]
  /** Facts of a node, such as its barrier. */
  readonly factsOf: (node: number) => NodeFacts
  readonly textOf: (text: string) => number
}

/** A forbidden sequence of edges. */
interface Forbidden {
  readonly edges: readonly number[]
  readonly modes: number
}

/** Maximum number of edges over via ways. */
const MOST_VIA_EDGES = 20
/** Maximum number of concurrent paths over via ways; parallel ways would have as many as their orders. */
const MOST_VIA_PATHS = 100

/** Enters restrictions over a node into the turn table; returns restrictions over ways and timed ones. */
export function applyRestrictions(rules: readonly TurnRule[], inputs: RestrictionInputs): RuleTable {
  const sequences: (Forbidden & { size: SizeLimit | null })[] = []
  const timed: (Forbidden & { text: number })[] = []
  const sized: (Forbidden & { size: SizeLimit })[] = []
  for (const rule of rules) {
    const { modes, conditions, size } = rule.facts
    const found =
      rule.viaWays.length > 0
        ? forbiddenSequences(rule, inputs)
        : forbiddenTurns(rule, inputs).map((edges) => ({ edges, modes }))
    if (conditions !== null) timed.push(...found.map((each) => ({ ...each, text: inputs.textOf(conditions) })))
    else if (rule.viaWays.length > 0) sequences.push(...found.map((each) => ({ ...each, size })))
    else if (size !== null) sized.push(...found.map((each) => ({ ...each, size })))
    else for (const { edges } of found) setOn(inputs, edges[0]!, edges[1]!, TurnField.forbidden, modes)
  }
  for (let node = 0; node < inputs.edges.nodeCount; node++) {
    const { sizes, hours } = inputs.factsOf(node)
    if (sizes.length + hours.length === 0) continue
    for (const edges of passages(inputs, node)) {
      sized.push(...sizes.map((size) => ({ edges, modes: size.modes, size })))
      timed.push(...hours.map(({ modes, conditions }) => ({ edges, modes, text: inputs.textOf(conditions) })))
    }
  }
  for (const { edges } of sized) setOn(inputs, edges[0]!, edges[1]!, TurnField.sized, 1)
  sized.sort((a, b) => a.edges[0]! - b.edges[0]!)
  return {
    firstRule: firstOf(sequences),
    ruleEdge: Uint32Array.from(sequences.flatMap(({ edges }) => edges)),
    ruleModes: Uint16Array.from(sequences, ({ modes }) => modes),
    ruleType: Uint8Array.from(sequences, ({ size }) => size?.type ?? ANY_SIZE),
    ruleValue: Uint32Array.from(sequences, ({ size }) => size?.value ?? 0),
    firstTimedRule: firstOf(timed),
    timedRuleEdge: Uint32Array.from(timed.flatMap(({ edges }) => edges)),
    timedRuleModes: Uint16Array.from(timed, ({ modes }) => modes),
    timedRuleText: Uint32Array.from(timed, ({ text }) => text),
    sizedTurnFrom: Uint32Array.from(sized, ({ edges }) => edges[0]!),
    sizedTurnTo: Uint32Array.from(sized, ({ edges }) => edges[1]!),
    sizedTurnModes: Uint16Array.from(sized, ({ modes }) => modes),
    sizedTurnType: Uint8Array.from(sized, ({ size }) => size.type),
    sizedTurnValue: Uint32Array.from(sized, ({ size }) => size.value),
  }
}

/** The turns over a node without U-turns. */
function passages(inputs: RestrictionInputs, node: number): [from: number, to: number][] {
  const leaving = edgesAt(inputs, node)
  return leaving.flatMap((back) =>
    leaving.filter((to) => to !== back).map((to): [number, number] => [inputs.edges.opposite[back]!, to]),
  )
}

function firstOf(sequences: readonly Forbidden[]): Uint32Array {
  const first = new Uint32Array(sequences.length + 1)
  sequences.forEach(({ edges }, i) => (first[i + 1] = first[i]! + edges.length))
  return first
}

/** Modes with a forbidden turn from each edge, as a turn or as the beginning of a longer rule. */
export function boundModes(
  edges: EdgeTable,
  turns: TurnTable,
  { firstRule, ruleEdge, ruleModes, ruleType }: Pick<RuleTable, 'firstRule' | 'ruleEdge' | 'ruleModes' | 'ruleType'>,
): Uint16Array {
  const bound = new Uint16Array(edges.head.length)
  for (let node = 0; node < edges.nodeCount; node++) {
    let turn = turns.firstTurn[node]!
    const first = edges.firstEdge[node]!
    const end = edges.firstEdge[node + 1]!
    for (let back = first; back < end; back++) {
      const arriving = edges.opposite[back]!
      for (let to = first; to < end; to++) bound[arriving]! |= get(turns.info[turn++]!, TurnField.forbidden)
    }
  }
  ruleModes.forEach((modes, rule) => {
    if (ruleType[rule] === ANY_SIZE) bound[ruleEdge[firstRule[rule]!]!]! |= modes
  })
  return bound
}

/** The turns that a restriction over a node forbids, each from an edge onto an edge. */
function forbiddenTurns(rule: TurnRule, inputs: RestrictionInputs): [from: number, to: number][] {
  const node = inputs.nodeOf(rule.viaNode)
  if (node < 0) return []
  const leaving = edgesAt(inputs, node)
  const targets = leaving.filter((edge) => inputs.wayOf(edge) === rule.to)
  if (targets.length === 0) return []
  return leaving
    .filter((edge) => inputs.wayOf(edge) === rule.from)
    .flatMap((back) => {
      const forbidden = rule.facts.only
        ? leaving.filter((edge) => !targets.includes(edge))
        : [chooseTarget(inputs, node, back, targets, rule.facts.turn)]
      return forbidden.map((to): [number, number] => [inputs.edges.opposite[back]!, to])
    })
}

/** Chooses the edge of the target way whose direction fits the restriction; the first one if none fits. */
function chooseTarget(
  inputs: RestrictionInputs,
  node: number,
  back: number,
  targets: readonly number[],
  turn: RestrictedTurn,
): number {
  if (turn === 'u' && targets.includes(back)) return back
  const wanted = WANTED[turn]
  const others = targets.filter((edge) => edge !== back)
  const candidates = others.length > 0 ? others : targets
  const fitting = candidates.find((edge) =>
    wanted.includes(get(inputs.turns.info[turnAt(inputs, node, back, edge)]!, TurnField.turn)),
  )
  return fitting ?? candidates[0]!
}

const WANTED: Readonly<Record<RestrictedTurn, readonly number[]>> = {
  left: [Turn.left, Turn.sharpLeft, Turn.slightLeft],
  right: [Turn.right, Turn.sharpRight, Turn.slightRight],
  straight: [Turn.straight, Turn.slightLeft, Turn.slightRight],
  u: [Turn.reverse, Turn.sharpLeft, Turn.sharpRight],
  any: [],
}

function edgesAt({ edges }: RestrictionInputs, node: number): number[] {
  return Array.from(
    { length: edges.firstEdge[node + 1]! - edges.firstEdge[node]! },
    (_, i) => edges.firstEdge[node]! + i,
  )
}

function turnAt({ edges, turns }: RestrictionInputs, node: number, back: number, to: number): number {
  const first = edges.firstEdge[node]!
  const degree = edges.firstEdge[node + 1]! - first
  return turns.firstTurn[node]! + (back - first) * degree + (to - first)
}

function setOn(inputs: RestrictionInputs, from: number, to: number, field: Field, bits: number): void {
  const { edges, turns } = inputs
  const at = turnAt(inputs, edges.head[from]!, edges.opposite[from]!, to)
  const before = turns.info[at]!
  turns.info[at] = put(before, field, get(before, field) | bits)
}

/**
 * The edge sequences that a restriction over ways forbids: in the order of its via members, else in any order that
 * connects.
 */
function forbiddenSequences(rule: TurnRule, inputs: RestrictionInputs): Forbidden[] {
  const ordered = sequencesOver(rule, inputs, (left) => left.slice(0, 1))
  return ordered.length > 0 || rule.viaWays.length === 1 ? ordered : sequencesOver(rule, inputs, (left) => left)
}

/** Returns the remaining via ways that may come next. */
type NextWays = (left: readonly number[]) => readonly number[]

/** Sequences of edges: from, along the via ways, and the turn at their end. */
function sequencesOver(rule: TurnRule, inputs: RestrictionInputs, next: NextWays): Forbidden[] {
  const { edges } = inputs
  const { modes } = rule.facts
  const found: Forbidden[] = []
  for (const from of inputs.edgesOf(rule.from)) {
    for (const path of pathsOver(inputs, from, rule.viaWays, next)) {
      const end = path.at(-1)!
      const leaving = edgesAt(inputs, edges.head[end]!)
      const targets = leaving.filter((edge) => inputs.wayOf(edge) === rule.to && edge !== edges.opposite[end])
      if (targets.length === 0) continue
      const forbidden = rule.facts.only
        ? leaving.filter((edge) => !targets.includes(edge))
        : [chooseTarget(inputs, edges.head[end]!, edges.opposite[end]!, targets, rule.facts.turn)]
      for (const to of forbidden) found.push({ edges: [from, ...path, to], modes })
    }
  }
  return found
}

/** Paths over all via ways from the end of an edge. */
function pathsOver(
  inputs: RestrictionInputs,
  from: number,
  viaWays: readonly number[],
  next: NextWays,
): (readonly number[])[] {
  const { edges } = inputs
  let open: { readonly path: readonly number[]; readonly left: readonly number[] }[] = [{ path: [], left: viaWays }]
  for (let step = 0; step < viaWays.length; step++) {
    open = open.flatMap(({ path, left }) => {
      const previous = path.at(-1) ?? from
      const firsts = edgesAt(inputs, edges.head[previous]!).filter(
        (edge) => next(left).includes(inputs.wayOf(edge)) && edge !== edges.opposite[previous],
      )
      return firsts
        .map((first) => ({
          path: [...path, ...alongWay(inputs, first)],
          left: left.toSpliced(left.indexOf(inputs.wayOf(first)), 1),
        }))
        .filter((longer) => longer.path.length <= MOST_VIA_EDGES)
    })
    open = open.slice(0, MOST_VIA_PATHS)
  }
  return open.map(({ path }) => path)
}

/** An edge and its continuations on the same way, to the end of the way. */
function alongWay(inputs: RestrictionInputs, first: number): number[] {
  const { edges } = inputs
  const path = [first]
  for (let edge = first; path.length <= MOST_VIA_EDGES;) {
    const next = edgesAt(inputs, edges.head[edge]!).find(
      (other) => inputs.wayOf(other) === inputs.wayOf(first) && other !== edges.opposite[edge] && !path.includes(other),
    )
    if (next === undefined) break
    path.push(next)
    edge = next
  }
  return path
}
