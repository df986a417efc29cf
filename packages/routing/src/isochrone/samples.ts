import { distanceMeters } from '../geometry/geodesy.ts'
import type { Graph } from '../graph/graph.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import { shapesTouching } from '../snap/touching.ts'
import type { Candidate } from '../snap/snap.ts'
import type { Contour } from './request.ts'
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
/** How near to a contour values are that it may pass by, as a share. */
const NEAR = 0.3

/** Streets that are looked at in one step. */
const STEP = 4096

/** How far the two ends of a street are: in the order of its points and against it; seconds and metres. */
interface Ends {
  ahead: number
  aheadMeters: number
  back: number
  backMeters: number
}

/**
 * Samples the streets that a sweep reached: every crossing, and the streets between, densely where a contour may be. In
 * steps.
 *
 * @param origins where the sweep began
 */
export function* samplesOf(
  graph: Graph,
  reached: Reached,
  contours: readonly Contour[],
  origins: readonly Candidate[],
): Generator<void, Samples> {
  const streets = streetsOf(graph, reached)
  const samples = new Sampler(graph, reached, contours)
  let done = 0
  for (const [shape, ends] of streets) {
    samples.add(shape, ends)
    if (++done % STEP === 0) yield
  }
  samples.addOthers(streets)
  for (const { lon, lat } of origins) samples.push(lon, lat, HERE)
  return samples.samples
}

function streetsOf(graph: Graph, { sweep, states, reverse, counts }: Reached): Map<number, Ends> {
  const { edgeShape } = graph
  const edges = shapeEdges(graph)
  const streets = new Map<number, Ends>()
  for (const state of sweep.reached) {
    const edge = states.stateEdge[state]!
    // Who begins on a street has not come there by any way.
    if (!counts(state) || (reverse && states.edgeState[edge] !== state)) continue
    const shape = edgeShape[edge]!
    let ends = streets.get(shape)
    if (ends === undefined) {
      ends = { ahead: Infinity, aheadMeters: Infinity, back: Infinity, backMeters: Infinity }
      streets.set(shape, ends)
    }
    const seconds = sweep.secondsOf(state)
    if (edges[2 * shape] === edge) {
      if (seconds >= ends.ahead) continue
      ends.ahead = seconds
      ends.aheadMeters = sweep.metersOf(state)
    } else if (seconds < ends.back) {
      ends.back = seconds
      ends.backMeters = sweep.metersOf(state)
    }
  }
  return streets
}

class Sampler {
  readonly samples: Samples = { lon: [], lat: [], seconds: [], meters: [] }
  readonly #graph: Graph
  readonly #reached: Reached
  readonly #edges: Uint32Array
  readonly #levels: { metric: Contour['metric']; value: number }[]
  readonly #nodes = new Map<number, number>()
  /** Distances along a street to each of its points. */
  #along = new Float64Array(64)

  constructor(graph: Graph, reached: Reached, contours: readonly Contour[]) {
    this.#graph = graph
    this.#reached = reached
    this.#edges = shapeEdges(graph)
    this.#levels = contours.map(({ metric, value }) => ({ metric, value: levelOf({ metric, value }) }))
  }

  /** Adds the samples of a street. */
  add(shape: number, ends: Ends): void {
    const { edgeHead, firstPoint } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const length = this.#measure(first, last)
    const atBegin = this.#at(shape, ends, 0)
    const atEnd = this.#at(shape, ends, 1)
    this.#atNode(edgeHead[this.#edges[2 * shape + 1]!]!, atBegin)
    this.#atNode(edgeHead[this.#edges[2 * shape]!]!, atEnd)
    const spacing = this.#mayCross(atBegin, atEnd) ? FINE : COARSE
    const pieces = Math.ceil(length / spacing)
    let segment = first
    for (let piece = 1; piece < pieces; piece++) {
      const meters = (length * piece) / pieces
      while (segment + 1 < last && this.#along[segment + 1 - first]! < meters) segment++
      this.#between(segment, first, meters, this.#at(shape, ends, piece / pieces))
    }
  }

  /** Adds the crossings around that the sweep did not come to: they keep contours from running over them. */
  addOthers(streets: ReadonlyMap<number, Ends>): void {
    const { lon, lat } = this.samples
    if (lon.length === 0) return
    const [west, east] = extentOf(lon)
    const [south, north] = extentOf(lat)
    const box = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ] as const
    const { costing } = this.#reached.prepared
    for (const shape of shapesTouching(this.#graph, [box])) {
      if (streets.has(shape)) continue
      const [ahead, back] = [this.#edges[2 * shape]!, this.#edges[2 * shape + 1]!]
      if (!costing.edgeOpen(ahead) && !costing.edgeOpen(back)) continue
      for (const edge of [ahead, back]) this.#atNode(this.#graph.edgeHead[edge]!, NOWHERE)
    }
  }

  /** How far a place on a street is, by its share of the way along it. */
  #at(shape: number, { ahead, aheadMeters, back, backMeters }: Ends, share: number): Value {
    const one = this.#onEdge(this.#edges[2 * shape]!, ahead, aheadMeters, share)
    const other = this.#onEdge(this.#edges[2 * shape + 1]!, back, backMeters, 1 - share)
    return one.seconds <= other.seconds ? one : other
  }

  /** How far a place on an edge is, of whose end that is known; infinite before the place where a path begins. */
  #onEdge(edge: number, seconds: number, meters: number, share: number): Value {
    if (seconds === Infinity) return NOWHERE
    const { prepared, reverse } = this.#reached
    const rest = reverse ? 1 - share : share - 1
    const value = {
      seconds: seconds + rest * prepared.costing.edgeSeconds(edge),
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
    const known = this.#nodes.get(node)
    const { samples } = this
    if (known === undefined) {
      this.#nodes.set(node, samples.lon.length)
      this.push(this.#graph.nodeLon[node]! / 1e7, this.#graph.nodeLat[node]! / 1e7, { seconds, meters })
    } else if (seconds < samples.seconds[known]!) {
      samples.seconds[known] = seconds
      samples.meters[known] = meters
    }
  }

  #between(segment: number, first: number, meters: number, value: Value): void {
    const { pointLon, pointLat } = this.#graph
    const begin = this.#along[segment - first]!
    const length = this.#along[segment + 1 - first]! - begin
    const share = length > 0 ? Math.min(1, (meters - begin) / length) : 0
    this.push(
      (pointLon[segment]! + (pointLon[segment + 1]! - pointLon[segment]!) * share) / 1e6,
      (pointLat[segment]! + (pointLat[segment + 1]! - pointLat[segment]!) * share) / 1e6,
      value,
    )
  }

  /** Adds a place. */
  push(lon: number, lat: number, { seconds, meters }: Value): void {
    const { samples } = this
    samples.lon.push(lon)
    samples.lat.push(lat)
    samples.seconds.push(seconds)
    samples.meters.push(meters)
  }

  #measure(first: number, last: number): number {
    const { pointLon, pointLat } = this.#graph
    if (last - first + 1 > this.#along.length) this.#along = new Float64Array(2 * (last - first + 1))
    for (let i = first; i < last; i++) {
      const part = distanceMeters(
        pointLon[i]! / 1e6,
        pointLat[i]! / 1e6,
        pointLon[i + 1]! / 1e6,
        pointLat[i + 1]! / 1e6,
      )
      this.#along[i + 1 - first] = this.#along[i - first]! + part
    }
    return this.#along[last - first]!
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
