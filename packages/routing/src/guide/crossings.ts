import { RoadClass, turnOf, Use } from '../graph/attributes.ts'
import { EdgeField, get, headingDegrees, tailOf, turnIndex, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { turnDegrees } from '../geometry/geodesy.ts'
import { type TravelMode, TRAVEL_ACCESS } from '../cost/profile.ts'

/** An edge that meets the route at a node. */
export interface Crossing {
  /** Heading in which it leaves the node, in degrees. */
  readonly heading: number
  /** Modes that may leave the node over it, and modes that may arrive at the node over it; see `Access`. */
  readonly out: number
  readonly in: number
  /** Whether it shares a name with the edge of the route before or after the node. */
  readonly sameNameBefore: boolean
  readonly sameNameAfter: boolean
  readonly use: number
  readonly roadClass: number
  readonly lanes: number
}

/**
 * The edges at the node between two edges of a route that are not part of it; `before` is null at the start of the
 * route.
 */
export function crossingsAt(graph: Graph, before: number | null, after: number): Crossing[] {
  const node = tailOf(graph, after)
  const crossings: Crossing[] = []
  for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; edge++) {
    if (edge === after || (before !== null && edge === graph.edgeOpposite[before])) continue
    const info = graph.edgeInfo[edge]!
    if (get(info, EdgeField.use) === Use.construction) continue
    const opposite = graph.edgeOpposite[edge]!
    crossings.push({
      heading: headingDegrees(graph.edgeHeading[edge]!),
      out: get(info, EdgeField.access),
      in: get(graph.edgeInfo[opposite]!, EdgeField.access),
      sameNameBefore: before !== null && sameName(graph, before, edge),
      sameNameAfter: sameName(graph, opposite, after),
      use: guidedUse(get(info, EdgeField.use)),
      roadClass: get(info, EdgeField.roadClass),
      lanes: get(info, EdgeField.lanes),
    })
  }
  return crossings
}

/** Use of a street or path for guidance: sidewalks count as footways, and platforms as roads. */
export function guidedUse(use: number): number {
  if (use === Use.sidewalk) return Use.footway
  return use === Use.platform ? Use.road : use
}

function sameName(graph: Graph, from: number, to: number): boolean {
  return get(graph.turnInfo[turnIndex(graph, from, to)]!, TurnField.sameName) === 1
}

/** Numbers of edges on one side of the route: all, with a similar angle, and open to the mode. */
export interface SideCount {
  readonly all: number
  readonly similar: number
  readonly open: number
  readonly similarOpen: number
}

const SIMILAR_DEGREES = 40

/**
 * The crossing edges at a node, by their angle to the direction of arrival. Thresholds are those of Valhalla 3.6
 * (`odin/enhancedtrippath.cc`).
 */
export class CrossingView {
  readonly crossings: readonly Crossing[]
  /** Clockwise angle of each crossing edge. */
  readonly degrees: readonly number[]
  readonly #access: number
  readonly #arrived: number

  constructor(crossings: readonly Crossing[], arrivedHeading: number, mode: TravelMode) {
    this.crossings = crossings
    this.#arrived = arrivedHeading
    this.degrees = crossings.map(({ heading }) => turnDegrees(arrivedHeading, heading))
    this.#access = TRAVEL_ACCESS[mode]
  }

  /** The same edges with the access of another mode. */
  as(mode: TravelMode): CrossingView {
    return TRAVEL_ACCESS[mode] === this.#access ? this : new CrossingView(this.crossings, this.#arrived, mode)
  }

  /** Whether some open edge meets a condition. */
  someOpen(condition: (crossing: Crossing, degrees: number) => boolean): boolean {
    const { crossings, degrees } = this
    for (let i = 0; i < crossings.length; i++) {
      if (this.isOpen(crossings[i]!) && condition(crossings[i]!, degrees[i]!)) return true
    }
    return false
  }

  isOpen(crossing: Crossing): boolean {
    return (crossing.out & this.#access) !== 0
  }

  /** Whether some edge may be travelled in either direction. */
  someTravelled(condition: (crossing: Crossing, degrees: number) => boolean = () => true): boolean {
    return this.crossings.some(
      (crossing, i) => ((crossing.out | crossing.in) & this.#access) !== 0 && condition(crossing, this.degrees[i]!),
    )
  }

  someTurn(turn: number): boolean {
    return this.someOpen((_, degrees) => turnOf(degrees) === turn)
  }

  /** Edges to the right and to the left of the route. */
  sides(routeDegrees: number): { right: SideCount; left: SideCount } {
    return { right: this.#side(routeDegrees, true), left: this.#side(routeDegrees, false) }
  }

  #side(route: number, right: boolean): SideCount {
    const count = { all: 0, similar: 0, open: 0, similarOpen: 0 }
    for (let i = 0; i < this.crossings.length; i++) {
      const crossing = this.crossings[i]!
      const degrees = this.degrees[i]!
      if (!isBeside(route, degrees, right)) continue
      const open = Number(this.isOpen(crossing))
      const angle = right ? turnDegrees(route, degrees) : turnDegrees(degrees, route)
      const similar = Number(angle <= SIMILAR_DEGREES)
      count.all++
      count.similar += similar
      count.open += open
      count.similarOpen += similar & open
    }
    return count
  }

  /** Angle and use of the straightest open edge; straight back without one. */
  straightestOpen(): { degrees: number; use: number | null } {
    return this.#straightest((crossing) => this.isOpen(crossing))
  }

  /** Angle of the straightest edge, open to the mode or not. */
  straightest(): number {
    return this.#straightest(() => true).degrees
  }

  #straightest(counts: (crossing: Crossing) => boolean): { degrees: number; use: number | null } {
    let best: { degrees: number; use: number | null } = { degrees: 180, use: null }
    for (let i = 0; i < this.crossings.length; i++) {
      const crossing = this.crossings[i]!
      const degrees = this.degrees[i]!
      if (counts(crossing) && bend(degrees) < bend(best.degrees)) best = { degrees, use: crossing.use }
    }
    return best
  }

  /** The angle nearest to a right angle on one side, among the route and the open edges. */
  sharpestTo(right: boolean, routeDegrees: number): number {
    const square = right ? 90 : 270
    let best = routeDegrees
    for (let i = 0; i < this.crossings.length; i++) {
      const degrees = this.degrees[i]!
      if (this.isOpen(this.crossings[i]!) && apart(degrees, square) < apart(best, square)) best = degrees
    }
    return best
  }
}

/** Whether an angle lies to one side of the route; straight back counts for neither side. */
function isBeside(route: number, degrees: number, right: boolean): boolean {
  if (route > 180) return right ? degrees > route || degrees < 180 : degrees < route && degrees > 180
  return right ? degrees > route && degrees < 180 : degrees < route || degrees > 180
}

/** Degrees from straight on, to either side. */
export function bend(degrees: number): number {
  return degrees > 180 ? 360 - degrees : degrees
}

/** Absolute difference of two angles in degrees. */
export function apart(a: number, b: number): number {
  const difference = Math.abs(a - b)
  return difference > 180 ? 360 - difference : difference
}

/** Whether an edge is a motorway and not one of its ramps or turn channels. */
export function isHighway({ roadClass, use }: { roadClass: number; use: number }): boolean {
  return roadClass === RoadClass.motorway && use !== Use.ramp && use !== Use.turnChannel
}
