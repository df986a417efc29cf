import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import { stretchesInBox } from '../snap/touching.ts'
import type { Candidate } from '../snap/candidate.ts'
import { type Box, Cells } from './cells.ts'
import type { Contour } from './request.ts'
import { Ruler } from './ruler.ts'
import { giveBackStreets, type Streets, takeStreets } from './streets.ts'
import type { Reached } from './values.ts'

/** Metres between samples on streets that a contour may cross, and on others. */
const FINE = 20
const COARSE = 120
/** Stands for the sample of a node that is reached and has none. */
const SEEN = 0xffffffff
/** How near to a contour values are that it may pass by, as a share. */
const NEAR = 0.3

/** Streets that are looked at in one step. */
const STEP = 4096

/** Places on streets and how far each is; infinite where nobody comes. Coordinates are degrees. */
export class Samples {
  lon = new Float64Array(4096)
  lat = new Float64Array(4096)
  seconds = new Float64Array(4096)
  meters = new Float64Array(4096)
  count = 0

  /** Adds a place, and gives its number. */
  add(lon: number, lat: number, seconds: number, meters: number): number {
    const at = this.count++
    if (at === this.lon.length) this.#grow()
    this.lon[at] = lon
    this.lat[at] = lat
    this.seconds[at] = seconds
    this.meters[at] = meters
    return at
  }

  #grow(): void {
    for (const column of ['lon', 'lat', 'seconds', 'meters'] as const) {
      const grown = new Float64Array(2 * this[column].length)
      grown.set(this[column])
      this[column] = grown
    }
  }
}

/**
 * Samples the streets that a sweep reached where contours may run: the crossings, and the streets between, densely where
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
  for (const { lon, lat } of origins) sampler.samples.add(lon, lat, 0, 0)
  sampler.close()
  giveBackStreets(graph, streets)
  return sampler.samples
}

/** Looks at geometries, some at a time. */
function* inSteps(shapes: ArrayLike<number>, look: (shape: number) => void): Generator<void> {
  for (let first = 0; first < shapes.length; first += STEP) {
    lookAtSome(shapes, first, look)
    yield
  }
}

function lookAtSome(shapes: ArrayLike<number>, first: number, look: (shape: number) => void): void {
  const end = Math.min(first + STEP, shapes.length)
  for (let i = first; i < end; i++) look(shapes[i]!)
}

class Sampler {
  readonly samples = new Samples()
  readonly #graph: Graph
  readonly #reached: Reached
  readonly #streets: Streets
  readonly #edges: Uint32Array
  readonly #levels: readonly Level[]
  readonly #cells: Cells
  /** Nodes that `sampleOf` knows something of. */
  readonly #nodes: number[] = []
  readonly #box: Box
  readonly #ruler: Ruler

  constructor(graph: Graph, reached: Reached, streets: Streets, contours: readonly Contour[]) {
    this.#graph = graph
    this.#reached = reached
    this.#streets = streets
    this.#edges = shapeEdges(graph)
    this.#ruler = new Ruler(graph)
    this.#levels = contours.map((contour) => ({ isTime: contour.metric === 'time', value: levelOf(contour) }))
    this.#box = streets.box()
    this.#cells = new Cells(this.#box)
  }

  /** Notes within which contours the parts of a street are. */
  look(shape: number): void {
    this.#see(this.#beginOf(shape))
    this.#see(this.#endOf(shape))
    this.#visit(shape, this.#cells.meters, this.#mark)
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
    return stretchesInBox(this.#graph, this.#box).filter((shape) => {
      return this.#streets.note(shape) && (isOpen(this.#edges[2 * shape]!) || isOpen(this.#edges[2 * shape + 1]!))
    })
  }

  /** Notes that nobody comes to the ends of a street. */
  lookBeyond(shape: number): void {
    this.#lookBeyond(this.#beginOf(shape))
    this.#lookBeyond(this.#endOf(shape))
  }

  /** Finds where contours may run. */
  closeCells(): void {
    this.#cells.close()
  }

  /** Adds the samples of a street, where they may shape a contour. */
  add(shape: number): void {
    this.#isAnyNeeded = false
    this.#visit(shape, this.#cells.meters, this.#need)
    if (!this.#isAnyNeeded) return
    const streets = this.#streets
    streets.at(shape, 0)
    const { seconds, meters } = streets
    this.#atNode(this.#beginOf(shape), seconds, meters)
    streets.at(shape, 1)
    this.#atNode(this.#endOf(shape), streets.seconds, streets.meters)
    const spacing = this.#mayCross(seconds, meters) ? FINE : COARSE
    this.#ruler.visit(shape, this.#pieces(shape, spacing), (lon, lat, share) => {
      if (!this.#cells.isNeeded(lon, lat)) return
      streets.at(shape, share)
      this.samples.add(lon, lat, streets.seconds, streets.meters)
    })
  }

  /** Adds the ends of a street that nobody comes to, where they may shape a contour. */
  addBeyond(shape: number): void {
    this.#addBeyond(this.#beginOf(shape))
    this.#addBeyond(this.#endOf(shape))
  }

  /** Leaves nothing behind in what others use again. */
  close(): void {
    for (const node of this.#nodes) this.#streets.sampleOf[node] = 0
  }

  #beginOf(shape: number): number {
    return this.#graph.edgeHead[this.#edges[2 * shape + 1]!]!
  }

  #endOf(shape: number): number {
    return this.#graph.edgeHead[this.#edges[2 * shape]!]!
  }

  #pieces(shape: number, spacing: number): number {
    return Math.ceil(this.#graph.edgeLength[this.#edges[2 * shape]!]! / spacing)
  }

  /** Visits the ends of a street, and places between them. */
  #visit(shape: number, spacing: number, visit: (lon: number, lat: number, share: number) => void): void {
    const { firstPoint, pointLon, pointLat } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    this.#shape = shape
    visit(pointLon[first]! / 1e6, pointLat[first]! / 1e6, 0)
    visit(pointLon[last]! / 1e6, pointLat[last]! / 1e6, 1)
    this.#ruler.visit(shape, this.#pieces(shape, spacing), visit)
  }

  #shape = 0
  readonly #mark = (lon: number, lat: number, share: number): void => {
    this.#streets.at(this.#shape, share)
    this.#cells.mark(lon, lat, this.#within(this.#streets.seconds, this.#streets.meters))
  }

  #isAnyNeeded = false
  readonly #need = (lon: number, lat: number): void => {
    this.#isAnyNeeded ||= this.#cells.isNeeded(lon, lat)
  }

  #see(node: number): void {
    if (this.#streets.sampleOf[node] === SEEN) return
    this.#streets.sampleOf[node] = SEEN
    this.#nodes.push(node)
  }

  #lookBeyond(node: number): void {
    if (this.#streets.sampleOf[node] === 0 && this.#isInBox(node)) {
      this.#cells.mark(this.#graph.nodeLon[node]! / 1e7, this.#graph.nodeLat[node]! / 1e7, 0)
    }
  }

  #addBeyond(node: number): void {
    if (this.#streets.sampleOf[node] !== 0 || !this.#isInBox(node)) return
    this.#nodes.push(node)
    this.#streets.sampleOf[node] = SEEN
    this.#atNode(node, Infinity, Infinity)
  }

  #isInBox(node: number): boolean {
    const lon = this.#graph.nodeLon[node]! / 1e7
    const lat = this.#graph.nodeLat[node]! / 1e7
    const { west, south, east, north } = this.#box
    return lon >= west && lon <= east && lat >= south && lat <= north
  }

  /** The contours that a place is within, as bits. */
  #within(seconds: number, meters: number): number {
    let within = 0
    for (let i = 0; i < this.#levels.length; i++) {
      const { isTime, value } = this.#levels[i]!
      if ((isTime ? seconds : meters) <= value) within |= 1 << i
    }
    return within
  }

  /** Whether a contour may pass between a place and the one that the streets last told of. */
  #mayCross(seconds: number, meters: number): boolean {
    const streets = this.#streets
    return this.#levels.some(({ isTime, value }) => {
      const a = isTime ? seconds : meters
      const b = isTime ? streets.seconds : streets.meters
      return Math.min(a, b) <= value * (1 + NEAR) && Math.max(a, b) >= value * (1 - NEAR)
    })
  }

  /** Adds the sample of a node where it may shape a contour, or lowers it. */
  #atNode(node: number, seconds: number, meters: number): void {
    const { samples } = this
    const { sampleOf } = this.#streets
    const known = sampleOf[node]!
    if (known === SEEN) {
      const lon = this.#graph.nodeLon[node]! / 1e7
      const lat = this.#graph.nodeLat[node]! / 1e7
      if (this.#cells.isNeeded(lon, lat)) sampleOf[node] = samples.add(lon, lat, seconds, meters) + 1
    } else if (seconds < samples.seconds[known - 1]!) {
      samples.seconds[known - 1] = seconds
      samples.meters[known - 1] = meters
    }
  }
}

/** Seconds or metres of a contour. */
interface Level {
  readonly isTime: boolean
  readonly value: number
}

/** Seconds or metres of a contour. */
export function levelOf({ metric, value }: Pick<Contour, 'metric' | 'value'>): number {
  return value * (metric === 'time' ? 60 : 1000)
}
