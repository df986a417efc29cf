import { Access } from './attributes.ts'
import type { Graph } from './graph.ts'

/** A range of bits in a word. */
export interface Field {
  readonly shift: number
  readonly mask: number
}

const field = (shift: number, bits: number): Field => ({ shift, mask: 2 ** bits - 1 })

/** Layout of `nodeInfo`. */
export const NodeField = {
  access: field(0, 10),
  type: field(10, 4),
  density: field(14, 4),
  signal: field(18, 1),
  taggedAccess: field(19, 1),
  /** Whether timed turn rules decide for the modes that `access` excludes, too. */
  opensAtTimes: field(20, 1),
  cashOnlyToll: field(21, 1),
  intersection: field(22, 2),
  driveOnRight: field(24, 1),
  /** Modes that may pass for local access only; see `privateBits`. */
  private: field(25, 7),
} as const

/** Layout of `edgeInfo`. */
export const EdgeField = {
  access: field(0, 10),
  roadClass: field(10, 3),
  use: field(13, 6),
  surface: field(19, 3),
  hikingDifficulty: field(22, 3),
  lanes: field(25, 4),
  cycleLane: field(29, 2),
  /** Whether the edge runs in the order of its way's nodes. */
  forward: field(31, 1),
} as const

/** Layout of `edgeTraffic`: speeds in km/h and facts along the edge. */
export const TrafficField = {
  speed: field(0, 8),
  truckSpeed: field(8, 8),
  toll: field(16, 1),
  roundabout: field(17, 1),
  truckRoute: field(18, 1),
  bikeNetwork: field(19, 1),
  useSidepath: field(20, 1),
  dismount: field(21, 1),
  sidewalkLeft: field(22, 1),
  sidewalkRight: field(23, 1),
  shoulder: field(24, 1),
  internal: field(25, 1),
  tunnel: field(26, 1),
  bridge: field(27, 1),
  link: field(28, 1),
  named: field(29, 1),
  lit: field(30, 1),
  indoor: field(31, 1),
} as const

/** Layout of `edgeFlags`. */
export const FlagField = {
  signal: field(0, 1),
  stop: field(1, 1),
  signs: field(2, 1),
  limits: field(3, 1),
  timed: field(4, 1),
  /** Whether the edge is a driveway or similar, without through traffic. */
  yard: field(5, 1),
  /** Modes with local access only. */
  local: field(6, 10),
} as const

/** Layout of `turnInfo`. */
export const TurnField = {
  /** Stop impact: likelihood of a stop, 0 … 7. */
  stopImpact: field(0, 3),
  turn: field(3, 3),
  /** Whether other edges lie between the turn and straight on, to that side. */
  edgeToLeft: field(6, 1),
  edgeToRight: field(7, 1),
  /** Whether both edges share a name, or have none. */
  sameName: field(8, 1),
  /** Clockwise angle, 0 … 359. */
  degrees: field(9, 9),
  /** Modes for which a restriction forbids the turn. */
  forbidden: field(18, 10),
  /** Whether a restriction forbids the turn to vehicles above some size. */
  sized: field(28, 1),
} as const

/** Reads a field of a word. */
export function get(word: number, { shift, mask }: Field): number {
  return (word >>> shift) & mask
}

/** A word with a field set; other fields of the word are kept. */
export function put(word: number, { shift, mask }: Field, value: number | boolean): number {
  return ((word & ~(mask << shift)) | ((Number(value) & mask) << shift)) >>> 0
}

/** Whether an edge is for local traffic of a mode only. */
export function isForLocals({ edgeFlags }: Pick<Graph, 'edgeFlags'>, edge: number, access: number): boolean {
  const flags = edgeFlags[edge]!
  return (get(flags, FlagField.local) & access) !== 0 || get(flags, FlagField.yard) === 1
}

const PRIVATE_FAMILIES = [
  Access.car,
  Access.truck,
  Access.bus,
  Access.taxi,
  Access.motorcycle | Access.moped,
  Access.bicycle,
  Access.foot | Access.wheelchair,
]

/** The bits of `NodeField.private` for some modes. */
export function privateBits(modes: number): number {
  return PRIVATE_FAMILIES.reduce((bits, family, i) => ((modes & family) === 0 ? bits : bits | (1 << i)), 0)
}

/** Node that an edge leaves. */
export function tailOf(graph: Graph, edge: number): number {
  return graph.edgeHead[graph.edgeOpposite[edge]!]!
}

/** Index of the turn from an edge onto another, which begins at the end of the first. */
export function turnIndex(graph: Graph, from: number, to: number): number {
  const node = graph.edgeHead[from]!
  const first = graph.firstEdge[node]!
  const degree = graph.firstEdge[node + 1]! - first
  return graph.firstTurn[node]! + (graph.edgeOpposite[from]! - first) * degree + (to - first)
}

/** Converts a stored heading to degrees. */
export function headingDegrees(stored: number): number {
  return Math.round((stored * 359) / 255)
}

/** Converts a heading in degrees to its stored form. */
export function storedHeading(degrees: number): number {
  return Math.round(((Math.round(degrees) % 360) * 255) / 359)
}
