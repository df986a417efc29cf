import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import { shapesInBox } from '../snap/touching.ts'
import type { Candidate } from '../snap/candidate.ts'
import { type Box, Cells } from './cells.ts'
import type { Contour } from './request.ts'
import { Ruler } from './ruler.ts'
import { giveBackStreets, type Streets, takeStreets } from './streets.ts'
import type { Reached } from './values.ts'

/** Places on streets and how far each is; infinite where nobody comes. Coordinates are degrees. */
export interface Samples {
  readonly lon: number[]
  readonly lat: number[]
  readonly seconds: number[]
  readonly meters: number[]
}

/** Metres between samples on streets that a contour may cross, and on others. */
const FINE = 20
const COARSE = 120
/** Metres from which on a street is looked at between its ends, and from one place that is looked at to the next. */
const LONG = 150
const LOOK = 100
/** Stands for the sample of a node that is reached and has none. */
const SEEN = 0xffffffff
/** How near to a contour values are that it may pass by, as a share. */
const NEAR = 0.3

/** Streets that are looked at in one step. */
const STEP = 4096

/**
 * Samples the streets that a sweep reached where contours may run: every crossing, and the streets between, densely where
 * a contour may be. In steps.
 *
 * @param origins where the sweep began
 */
export function* samplesOf(
  graph: Graph,
  reached: Reached,
  contours: readonly Contour[],
  origins: readonly Candidate[],
): Generator<void, Samples> {
  const streets = takeStreets(graph)
  streets.collect(reached)
  yield
  const sampler = new Sampler(graph, reached, streets, contours)
  yield* inSteps(streets.shapes, (shape) => sampler.look(shape))
  const others = sampler.others()
  yield* inSteps(others, (shape) => sampler.lookBeyond(shape))
  sampler.closeCells()
  yield* inSteps(streets.shapes, (shape) => sampler.add(shape))
  yield* inSteps(others, (shape) => sampler.addBeyond(shape))
  for (const { lon, lat } of origins) sampler.push(lon, lat, HERE)
  sampler.close()
  giveBackStreets(graph, streets)
  return sampler.samples
}

/** Looks at geometries, some at a time. */
function* inSteps(shapes: readonly number[], look: (shape: number) => void): Generator<void> {
  for (let first = 0; first < shapes.length; first += STEP) {
    for (let i = first; i < Math.min(first + STEP, shapes.length); i++) look(shapes[i]!)
    yield
  }
}

class Sampler {
  readonly samples: Samples = { lon: [], lat: [], seconds: [], meters: [] }
  readonly #graph: Graph
  readonly #reached: Reached
  readonly #streets: Streets
  readonly #edges: Uint32Array
  readonly #levels: { metric: Contour['metric']; value: number }[]
  readonly #cells: Cells
  readonly #nodes: number[] = []
  readonly #box: Box
  readonly #ruler: Ruler

  constructor(graph: Graph, reached: Reached, streets: Streets, contours: readonly Contour[]) {
    this.#graph = graph
    this.#reached = reached
    this.#streets = streets
    this.#edges = shapeEdges(graph)
    this.#ruler = new Ruler(graph)
    this.#levels = contours.map(({ metric, value }) => ({ metric, value: levelOf({ metric, value }) }))
    this.#box = streets.box()
    this.#cells = new Cells(this.#box)
  }

  /** Notes within which contours the parts of a street are. */
  look(shape: number): void {
    const { firstPoint, pointLon, pointLat, edgeLength } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const atBegin = this.#at(shape, 0)
    const atEnd = this.#at(shape, 1)
    for (const node of this.#endsOf(shape)) {
      if (this.#streets.sampleOf[node] === SEEN) continue
      this.#streets.sampleOf[node] = SEEN
      this.#nodes.push(node)
    }
    this.#mark(pointLon[first]! / 1e6, pointLat[first]! / 1e6, atBegin)
    this.#mark(pointLon[last]! / 1e6, pointLat[last]! / 1e6, atEnd)
    const edge = this.#edges[2 * shape]!
    const length = edgeLength[edge]!
    if (length >= LONG) {
      for (const { lon, lat, share } of this.#ruler.places(shape, LOOK)) this.#mark(lon, lat, this.#at(shape, share))
      return
    }
    // Between its ends a street is at most as far as half of it beyond the farther end.
    const more = this.#reached.prepared.weights.edgeSeconds(edge) / 2
    const farthest = {
      seconds: Math.max(atBegin.seconds, atEnd.seconds) + more,
      meters: Math.max(atBegin.meters, atEnd.meters) + length / 2,
    }
    const nearest = {
      seconds: Math.min(atBegin.seconds, atEnd.seconds),
      meters: Math.min(atBegin.meters, atEnd.meters),
    }
    if (this.#within(farthest) === this.#within(nearest)) return
    for (const point of [first, last]) this.#cells.markMixed(pointLon[point]! / 1e6, pointLat[point]! / 1e6)
  }

  /** The geometries around that the sweep did not come to but somebody may travel: they keep contours from running over them. */
  others(): number[] {
    if (this.#streets.shapes.length === 0) return []
    const { weights, costing } = this.#reached.prepared
    const { nodeConnected, edgeHead } = this.#graph
    const isConnected = (edge: number): boolean => (nodeConnected[edgeHead[edge]!]! & costing.access) !== 0
    // Nobody comes to islands at any time, so they say nothing of how far places are.
    const onMainland = this.#streets.shapes.some((shape) => isConnected(this.#edges[2 * shape]!))
    const isOpen = (edge: number): boolean => weights.edge(edge) < UNREACHABLE && (!onMainland || isConnected(edge))
    return shapesInBox(this.#graph, this.#box).filter((shape) => {
      if (this.#streets.has(shape)) return false
      return isOpen(this.#edges[2 * shape]!) || isOpen(this.#edges[2 * shape + 1]!)
    })
  }

  /** Notes that nobody comes to the ends of a street. */
  lookBeyond(shape: number): void {
    for (const node of this.#endsOf(shape)) {
      if (this.#streets.sampleOf[node] === 0 && this.#isInBox(node)) {
        this.#cells.mark(this.#graph.nodeLon[node]! / 1e7, this.#graph.nodeLat[node]! / 1e7, 0)
      }
    }
  }

  /** Finds where contours may run. */
  closeCells(): void {
    this.#cells.close()
  }

  /** Adds the samples of a street, where they may shape a contour. */
  add(shape: number): void {
    const { firstPoint, pointLon, pointLat, edgeLength } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const edge = this.#edges[2 * shape]!
    let isNeeded = false
    for (let point = first; point <= last && !isNeeded; point++) {
      isNeeded = this.#cells.isNeeded(pointLon[point]! / 1e6, pointLat[point]! / 1e6)
    }
    if (!isNeeded && edgeLength[edge]! < LONG) return
    if (!isNeeded && !this.#ruler.places(shape, LOOK).some(({ lon, lat }) => this.#cells.isNeeded(lon, lat))) return
    const atBegin = this.#at(shape, 0)
    const atEnd = this.#at(shape, 1)
    const [begin, end] = this.#endsOf(shape)
    this.#atNode(begin, atBegin)
    this.#atNode(end, atEnd)
    const spacing = this.#mayCross(atBegin, atEnd) ? FINE : COARSE
    for (const { lon, lat, share } of this.#ruler.places(shape, spacing)) this.push(lon, lat, this.#at(shape, share))
  }

  /** Adds the ends of a street that nobody comes to, where they may shape a contour. */
  addBeyond(shape: number): void {
    const { nodeLon, nodeLat } = this.#graph
    for (const node of this.#endsOf(shape)) {
      if (this.#streets.sampleOf[node] !== 0 || !this.#isInBox(node)) continue
      if (this.#cells.isNeeded(nodeLon[node]! / 1e7, nodeLat[node]! / 1e7)) this.#atNode(node, NOWHERE)
    }
  }

  /** Leaves nothing behind in what others use again. */
  close(): void {
    for (const node of this.#nodes) this.#streets.sampleOf[node] = 0
  }

  #isInBox(node: number): boolean {
    const [lon, lat] = [this.#graph.nodeLon[node]! / 1e7, this.#graph.nodeLat[node]! / 1e7]
    const { west, south, east, north } = this.#box
    return lon >= west && lon <= east && lat >= south && lat <= north
  }

  #endsOf(shape: number): [begin: number, end: number] {
    const { edgeHead } = this.#graph
    return [edgeHead[this.#edges[2 * shape + 1]!]!, edgeHead[this.#edges[2 * shape]!]!]
  }

  #mark(lon: number, lat: number, value: Value): void {
    this.#cells.mark(lon, lat, this.#within(value))
  }

  /** The contours that a place is within, as bits. */
  #within({ seconds, meters }: Value): number {
    let within = 0
    this.#levels.forEach(({ metric, value }, i) => {
      if ((metric === 'time' ? seconds : meters) <= value) within |= 1 << i
    })
    return within
  }

  /** How far a place on a street is, by its share of the way along it. */
  #at(shape: number, share: number): Value {
    const { ahead, aheadMeters, back, backMeters } = this.#streets
    const one = this.#onEdge(this.#edges[2 * shape]!, ahead[shape]!, aheadMeters[shape]!, share)
    const other = this.#onEdge(this.#edges[2 * shape + 1]!, back[shape]!, backMeters[shape]!, 1 - share)
    return one.seconds <= other.seconds ? one : other
  }

  /** How far a place on an edge is, of whose end that is known; infinite before the place where a path begins. */
  #onEdge(edge: number, seconds: number, meters: number, share: number): Value {
    if (seconds === Infinity) return NOWHERE
    const { prepared, reverse } = this.#reached
    const rest = reverse ? 1 - share : share - 1
    const value = {
      seconds: seconds + rest * prepared.weights.edgeSeconds(edge),
      meters: meters + rest * this.#graph.edgeLength[edge]!,
    }
    return value.meters < -1e-6 ? NOWHERE : value
  }

  #mayCross(a: Value, b: Value): boolean {
    return this.#levels.some(({ metric, value }) => {
      const [x, y] = metric === 'time' ? [a.seconds, b.seconds] : [a.meters, b.meters]
      return Math.min(x, y) <= value * (1 + NEAR) && Math.max(x, y) >= value * (1 - NEAR)
    })
  }

  #atNode(node: number, { seconds, meters }: Value): void {
    const { samples } = this
    const { sampleOf } = this.#streets
    const known = sampleOf[node]!
    if (known === 0 || known === SEEN) {
      if (known === 0) this.#nodes.push(node)
      sampleOf[node] = samples.lon.length + 1
      this.push(this.#graph.nodeLon[node]! / 1e7, this.#graph.nodeLat[node]! / 1e7, { seconds, meters })
    } else if (seconds < samples.seconds[known - 1]!) {
      samples.seconds[known - 1] = seconds
      samples.meters[known - 1] = meters
    }
  }

  /** Adds a place. */
  push(lon: number, lat: number, { seconds, meters }: Value): void {
    const { samples } = this
    samples.lon.push(lon)
    samples.lat.push(lat)
    samples.seconds.push(seconds)
    samples.meters.push(meters)
  }
}

interface Value {
  readonly seconds: number
  readonly meters: number
}

const HERE: Value = { seconds: 0, meters: 0 }
const NOWHERE: Value = { seconds: Infinity, meters: Infinity }

/** Seconds or metres of a contour. */
export function levelOf({ metric, value }: Pick<Contour, 'metric' | 'value'>): number {
  return value * (metric === 'time' ? 60 : 1000)
}

export function extentOf(values: readonly number[]): [least: number, most: number] {
  let least = Infinity
  let most = -Infinity
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  return [least, most]
}
