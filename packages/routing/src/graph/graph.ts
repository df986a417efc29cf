import { notAGraph } from '../errors.ts'
import type { SectionArray, SectionFile } from './sections.ts'

/**
 * A street network for routing, as flat arrays over one buffer. Edges meet at nodes. Edges are directed and ordered by
 * the node that they leave. Every edge has an opposite with the same geometry, even if that is closed to all modes.
 */
export interface Graph {
  readonly nodeCount: number
  readonly edgeCount: number

  /** Coordinates of nodes in 1e-7 degrees. */
  readonly nodeLon: Int32Array
  readonly nodeLat: Int32Array
  /** First edge that leaves a node; one entry more than nodes. */
  readonly firstEdge: Uint32Array
  /** First entry of a node in the turn table; see `turnIndex`. One entry more than nodes. */
  readonly firstTurn: Uint32Array
  /** Facts of a node; see `NodeField`. */
  readonly nodeInfo: Uint32Array
  /** Bit per access mode: whether the node belongs to a large strongly connected part of the mode's network. */
  readonly nodeConnected: Uint16Array

  /** Node an edge leads to. */
  readonly edgeHead: Uint32Array
  readonly edgeOpposite: Uint32Array
  /** Facts of an edge; see `EdgeField`. */
  readonly edgeInfo: Uint32Array
  readonly edgeTraffic: Uint32Array
  readonly edgeFlags: Uint16Array
  /** Metres, at least one. */
  readonly edgeLength: Uint32Array
  /** Heading where the edge begins, in 255 steps of a full circle; see `headingDegrees`. */
  readonly edgeHeading: Uint8Array
  /** List of names; see `nameList`. */
  readonly edgeNames: Uint32Array
  /** Geometry shared with the opposite edge. */
  readonly edgeShape: Uint32Array

  /** Facts of a turn; see `TurnField`. */
  readonly turnInfo: Uint32Array

  /** Points of geometry `g` in 1e-6 degrees: `firstPoint[g] … firstPoint[g + 1] - 1`, in the order of the way. */
  readonly firstPoint: Uint32Array
  readonly pointLon: Int32Array
  readonly pointLat: Int32Array
  /** OSM id of the way of a geometry. */
  readonly shapeWay: Uint32Array | Float64Array
  /** Tagged speed limit of the way of a geometry in km/h; zero where untagged, `UNLIMITED` for `none`. */
  readonly shapeLimit: Uint8Array
  /** Country of the way of a geometry: 1 for the first in `countryText`; zero at sea or without countries. */
  readonly shapeCountry: Uint8Array
  /** Three texts of each country: its ISO 3166-1 codes of two and three letters, and its name. */
  readonly countryText: Uint32Array

  /** Entries of list of names `n`: `firstName[n] … firstName[n + 1] - 1`. */
  readonly firstName: Uint32Array
  /** Text times two, plus one for route numbers. */
  readonly nameText: Uint32Array

  /** Edges with signs, ascending; their signs are `firstSign[i] … firstSign[i + 1] - 1`. */
  readonly signEdge: Uint32Array
  readonly firstSign: Uint32Array
  /** Text times two, plus one for route numbers. */
  readonly signText: Uint32Array
  readonly signType: Uint8Array

  /** Vehicle limits, ordered by edge; types as in `LimitBits`. */
  readonly limitEdge: Uint32Array
  readonly limitType: Uint8Array
  readonly limitValue: Uint32Array
  /** Modes that a limit applies to. */
  readonly limitModes: Uint16Array

  /** Edges with a toll for some modes only, ascending, and these modes; see `paysToll`. */
  readonly tollEdge: Uint32Array
  readonly tollModes: Uint16Array

  /** Turn restrictions over more than one node: edges of rule `r` are `ruleEdge[firstRule[r]] …`. */
  readonly firstRule: Uint32Array
  readonly ruleEdge: Uint32Array
  /** Modes to which a rule forbids the whole sequence. */
  readonly ruleModes: Uint16Array
  /** Size limit of a rule, which applies to larger vehicles; types as in `Limit`; `ANY_SIZE` applies to all. */
  readonly ruleType: Uint8Array
  readonly ruleValue: Uint32Array

  /** Timed rules, ordered by edge: modes, effects as in `TimedEffect`, texts of their conditions. */
  readonly timedEdge: Uint32Array
  readonly timedModes: Uint16Array
  readonly timedEffect: Uint8Array
  readonly timedText: Uint32Array
  /** Timed turn restrictions over two or more edges, in the layout of permanent ones. */
  readonly firstTimedRule: Uint32Array
  readonly timedRuleEdge: Uint32Array
  readonly timedRuleModes: Uint16Array
  readonly timedRuleText: Uint32Array
  /** Turns that are forbidden to modes whose size exceeds a limit, by the edge they leave; types as in `Limit`. */
  readonly sizedTurnFrom: Uint32Array
  readonly sizedTurnTo: Uint32Array
  readonly sizedTurnModes: Uint16Array
  readonly sizedTurnType: Uint8Array
  readonly sizedTurnValue: Uint32Array

  /** Unsupported conditional tags, ordered by place (an edge or, from `edgeCount` on, a node), with modes and text. */
  readonly unreadPlace: Uint32Array
  readonly unreadModes: Uint16Array
  readonly unreadText: Uint32Array

  /** Texts as UTF-8; text `t` is `textBytes[firstByte[t]] … textBytes[firstByte[t + 1] - 1]`. */
  readonly firstByte: Uint32Array
  readonly textBytes: Uint8Array

  /** Packed R-tree over the geometries; see `snap/boxes.ts`. */
  readonly boxes: Int32Array
  readonly boxShape: Uint32Array
  readonly boxStretch: Uint16Array
  readonly boxLevels: Uint32Array
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

/** Arrays of a graph, in the order they are written. */
export type GraphArrays = Omit<Graph, 'nodeCount' | 'edgeCount'>

const ARRAYS = {
  nodeLon: Int32Array,
  nodeLat: Int32Array,
  firstEdge: Uint32Array,
  firstTurn: Uint32Array,
  nodeInfo: Uint32Array,
  nodeConnected: Uint16Array,
  edgeHead: Uint32Array,
  edgeOpposite: Uint32Array,
  edgeInfo: Uint32Array,
  edgeTraffic: Uint32Array,
  edgeFlags: Uint16Array,
  edgeLength: Uint32Array,
  edgeHeading: Uint8Array,
  edgeNames: Uint32Array,
  edgeShape: Uint32Array,
  turnInfo: Uint32Array,
  firstPoint: Uint32Array,
  pointLon: Int32Array,
  pointLat: Int32Array,
  shapeWay: [Uint32Array, Float64Array],
  shapeLimit: Uint8Array,
  shapeCountry: Uint8Array,
  countryText: Uint32Array,
  firstName: Uint32Array,
  nameText: Uint32Array,
  signEdge: Uint32Array,
  firstSign: Uint32Array,
  signText: Uint32Array,
  signType: Uint8Array,
  limitEdge: Uint32Array,
  limitType: Uint8Array,
  limitValue: Uint32Array,
  limitModes: Uint16Array,
  tollEdge: Uint32Array,
  tollModes: Uint16Array,
  firstRule: Uint32Array,
  ruleEdge: Uint32Array,
  ruleModes: Uint16Array,
  ruleType: Uint8Array,
  ruleValue: Uint32Array,
  timedEdge: Uint32Array,
  timedModes: Uint16Array,
  timedEffect: Uint8Array,
  timedText: Uint32Array,
  firstTimedRule: Uint32Array,
  timedRuleEdge: Uint32Array,
  timedRuleModes: Uint16Array,
  timedRuleText: Uint32Array,
  sizedTurnFrom: Uint32Array,
  sizedTurnTo: Uint32Array,
  sizedTurnModes: Uint16Array,
  sizedTurnType: Uint8Array,
  sizedTurnValue: Uint32Array,
  unreadPlace: Uint32Array,
  unreadModes: Uint16Array,
  unreadText: Uint32Array,
  firstByte: Uint32Array,
  textBytes: Uint8Array,
  boxes: Int32Array,
  boxShape: Uint32Array,
  boxStretch: Uint16Array,
  boxLevels: Uint32Array,
} as const satisfies { readonly [Key in keyof GraphArrays]: unknown }

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
