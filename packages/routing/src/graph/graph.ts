import { notAGraph } from '../errors.ts'
import type { SectionArray, SectionFile } from './sections.ts'

/** Types of the arrays of a graph, in the order they are written. */
const ARRAYS = {
  /** Coordinates of nodes in 1e-7 degrees. */
  nodeLon: Int32Array,
  nodeLat: Int32Array,
  /** First edge that leaves a node; one entry more than nodes. */
  firstEdge: Uint32Array,
  /** First entry of a node in the turn table; see `turnIndex`. One entry more than nodes. */
  firstTurn: Uint32Array,
  /** Facts of a node; see `NodeField`. */
  nodeInfo: Uint32Array,
  /** Bit per access mode: whether the node belongs to a large strongly connected part of the mode's network. */
  nodeConnected: Uint16Array,

  /** Node an edge leads to. */
  edgeHead: Uint32Array,
  edgeOpposite: Uint32Array,
  /** Facts of an edge; see `EdgeField`. */
  edgeInfo: Uint32Array,
  edgeTraffic: Uint32Array,
  edgeFlags: Uint16Array,
  /** Metres, at least one. */
  edgeLength: Uint32Array,
  /** Heading where the edge begins, in 255 steps of a full circle; see `headingDegrees`. */
  edgeHeading: Uint8Array,
  /** List of names; see `nameList`. */
  edgeNames: Uint32Array,
  /** Geometry shared with the opposite edge. */
  edgeShape: Uint32Array,

  /** Facts of a turn; see `TurnField`. */
  turnInfo: Uint32Array,

  /** Points of geometry `g` in 1e-6 degrees: `firstPoint[g] … firstPoint[g + 1] - 1`, in the order of the way. */
  firstPoint: Uint32Array,
  pointLon: Int32Array,
  pointLat: Int32Array,
  /** OSM id of the way of a geometry. */
  shapeWay: [Uint32Array, Float64Array],
  /** Tagged speed limit of the way of a geometry in km/h; zero where untagged, `UNLIMITED` for `none`. */
  shapeLimit: Uint8Array,
  /** Country of the way of a geometry: 1 for the first in `countryText`; zero at sea or without countries. */
  shapeCountry: Uint8Array,
  /** Three texts of each country: its ISO 3166-1 codes of two and three letters, and its name. */
  countryText: Uint32Array,

  /** Entries of list of names `n`: `firstName[n] … firstName[n + 1] - 1`. */
  firstName: Uint32Array,
  /** Text times two, plus one for route numbers. */
  nameText: Uint32Array,

  /** Edges with signs, ascending; their signs are `firstSign[i] … firstSign[i + 1] - 1`. */
  signEdge: Uint32Array,
  firstSign: Uint32Array,
  /** Text times two, plus one for route numbers. */
  signText: Uint32Array,
  signType: Uint8Array,

  /** Vehicle limits, ordered by edge; types as in `LimitBits`. */
  limitEdge: Uint32Array,
  limitType: Uint8Array,
  limitValue: Uint32Array,
  /** Modes that a limit applies to. */
  limitModes: Uint16Array,

  /** Edges with a toll for some modes only, ascending, and these modes; see `paysToll`. */
  tollEdge: Uint32Array,
  tollModes: Uint16Array,

  /** Turn restrictions over more than one node: edges of rule `r` are `ruleEdge[firstRule[r]] …`. */
  firstRule: Uint32Array,
  ruleEdge: Uint32Array,
  /** Modes to which a rule forbids the whole sequence. */
  ruleModes: Uint16Array,
  /** Size limit of a rule, which applies to larger vehicles; types as in `Limit`; `ANY_SIZE` applies to all. */
  ruleType: Uint8Array,
  ruleValue: Uint32Array,

  /** Timed rules, ordered by edge: modes, effects as in `TimedEffect`, texts of their conditions. */
  timedEdge: Uint32Array,
  timedModes: Uint16Array,
  timedEffect: Uint8Array,
  timedText: Uint32Array,
  /** Timed turn restrictions over two or more edges, in the layout of permanent ones. */
  firstTimedRule: Uint32Array,
  timedRuleEdge: Uint32Array,
  timedRuleModes: Uint16Array,
  timedRuleText: Uint32Array,
  /** Turns that are forbidden to modes whose size exceeds a limit, by the edge they leave; types as in `Limit`. */
  sizedTurnFrom: Uint32Array,
  sizedTurnTo: Uint32Array,
  sizedTurnModes: Uint16Array,
  sizedTurnType: Uint8Array,
  sizedTurnValue: Uint32Array,

  /** Unsupported conditional tags, ordered by place (an edge or, from `edgeCount` on, a node), with modes and text. */
  unreadPlace: Uint32Array,
  unreadModes: Uint16Array,
  unreadText: Uint32Array,

  /** Texts as UTF-8; text `t` is `textBytes[firstByte[t]] … textBytes[firstByte[t + 1] - 1]`. */
  firstByte: Uint32Array,
  textBytes: Uint8Array,

  /** Packed R-tree over the geometries; see `snap/boxes.ts`. */
  boxes: Int32Array,
  boxShape: Uint32Array,
  boxStretch: Uint16Array,
  boxLevels: Uint32Array,
} as const

type ArrayOf<Type> = Type extends readonly (infer One)[]
  ? ArrayOf<One>
  : Type extends { prototype: infer Array }
    ? Array
    : never

/** Arrays of a graph. */
export type GraphArrays = { readonly [Name in keyof typeof ARRAYS]: ArrayOf<(typeof ARRAYS)[Name]> }

/**
 * A street network for routing, as flat arrays over one buffer. Edges meet at nodes. Edges are directed and ordered by
 * the node that they leave. Every edge has an opposite with the same geometry, even if that is closed to all modes.
 */
export interface Graph extends GraphArrays {
  readonly nodeCount: number
  readonly edgeCount: number
}

/** The `ruleType` of rules for all sizes. */
export const ANY_SIZE = 255

/** Layout of `limitType`. */
export const LimitBits = {
  /** Kind of limit; see `Limit`. */
  type: 0x0f,
  /** Local traffic is exempt. */
  exceptDestination: 0x40,
} as const

/** The graph of a file's sections. */
export function graphOf(file: SectionFile): Graph {
  const arrays: Record<string, SectionArray> = {}
  for (const [name, types] of Object.entries(ARRAYS)) {
    const array = file.arrays.get(name)
    if (array === undefined || ![types].flat().some((type) => array instanceof type))
      throw notAGraph({ reason: `section ${name} is missing` })
    arrays[name] = array
  }
  return graphFrom(arrays as unknown as GraphArrays)
}

/** The graph of built arrays. */
export function graphFrom(arrays: GraphArrays): Graph {
  return { nodeCount: arrays.nodeLon.length, edgeCount: arrays.edgeHead.length, ...arrays }
}

/** The names of a graph's arrays, in the order they are written. */
export const GRAPH_ARRAYS = Object.keys(ARRAYS) as readonly (keyof GraphArrays)[]
