import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import type { Candidate } from '../snap/candidate.ts'
import { type Box, Cells, PASSED } from './cells.ts'
import { type Grid, gridOf, shapesIn } from './grid.ts'
import { type Level, levelOf } from './levels.ts'
import type { Contour } from './request.ts'
import { Ruler } from './ruler.ts'
import { bitsOf, giveBackStreets, type Streets, takeStreets } from './streets.ts'
import type { Reached } from './values.ts'

/** Metres between samples: fine near possible contours, coarse elsewhere. */
const FINE = 20
const COARSE = 60
/** Initial capacity in samples. */
const FIRST_ROOM = 2 ** 15
/** Number of streets per step. */
const STEP = 4096

/** Places on streets with their distances; infinite where unreachable. Coordinates are in millionths of a degree. */
export class Samples {
  lon = new Float64Array(FIRST_ROOM)
  lat = new Float64Array(FIRST_ROOM)
  seconds = new Float64Array(FIRST_ROOM)
  meters = new Float64Array(FIRST_ROOM)
  count = 0

  /** Adds a place, and returns its number. */
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
 * Samples the streets near possible contours in steps, densely where a contour may cross.
 *
 * @param origins starting points of the sweep
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
  const sampler = new Sampler({ graph, grid: yield* gridOf(graph) }, reached, streets, contours.map(levelOf), origins)
  const near = streets.list()
  const within = new Int32Array(near.length)
  yield* inSteps(near.length, (first, end) => sampler.look(near, within, first, end))
  const others = sampler.others(near)
  yield
  yield* inSteps(near.length, (first, end) => sampler.mark(near, within, first, end))
  const outside = new Int32Array(others.length)
  yield* inSteps(others.length, (first, end) => sampler.mark(others, outside, first, end))
  sampler.closeCells()
  yield
  yield* inSteps(near.length, (first, end) => sampler.take(near, within, first, end))
  yield* inSteps(others.length, (first, end) => sampler.take(others, outside, first, end))
  for (const { lon, lat } of origins) sampler.samples.add(lon * 1e6, lat * 1e6, 0, 0)
  sampler.close()
  giveBackStreets(graph, streets)
  return sampler.samples
}

function* inSteps(count: number, look: (first: number, end: number) => void): Generator<void> {
  for (let first = 0; first < count; first += STEP) {
    look(first, Math.min(first + STEP, count))
    yield
  }
}

class Sampler {
  readonly samples = new Samples()
  readonly #graph: Graph
  readonly #reached: Reached
  readonly #streets: Streets
  readonly #levels: readonly Level[]
  readonly #ruler: Ruler
  readonly #grid: Grid
  /** Bounds of the starting points, and of the streets inside or across a contour. */
  readonly #box: Box
  #cells: Cells | null = null
  /** Nodes with an entry in `sampleOf`. */
  readonly #nodes: number[] = []

  constructor(
    { graph, grid }: { readonly graph: Graph; readonly grid: Grid },
    reached: Reached,
    streets: Streets,
    levels: readonly Level[],
    origins: readonly Candidate[],
  ) {
    this.#graph = graph
    this.#reached = reached
    this.#streets = streets
    this.#levels = levels
    this.#ruler = new Ruler(graph)
    this.#grid = grid
    this.#box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
    for (const { edge } of origins) this.#enclose(graph.edgeShape[edge]!)
  }

  /** Finds the contours that contain each whole street; see `Streets`. */
  look(shapes: Uint32Array, within: Int32Array, first: number, end: number): void {
    for (let i = first; i < end; i++) {
      within[i] = this.#streets.within(shapes[i]!, this.#levels)
      if (within[i] !== 0) this.#enclose(shapes[i]!)
    }
  }

  /**
   * Creates the cells, and returns nearby open streets that the sweep did not reach; their samples exclude them from
   * contours.
   */
  others(near: Uint32Array): Uint32Array {
    const cells = (this.#cells = new Cells(this.#grid, this.#box))
    const { closures, prepared } = this.#reached
    const { weights, costing } = prepared
    const { nodeConnected, edgeHead } = this.#graph
    const edges = shapeEdges(this.#graph)
    const isConnected = (edge: number): boolean => (nodeConnected[edgeHead[edge]!]! & costing.access) !== 0
    // Islands are unreachable at any time, so their samples would be misleading.
    const onMainland = near.some((shape) => isConnected(edges[2 * shape]!))
    // Excluded edges are not sampled.
    const isOpen = (edge: number): boolean =>
      weights.edge(edge) < UNREACHABLE && (!onMainland || isConnected(edge)) && !closures.has(edge)
    const others: number[] = []
    const { west, south, east, north } = cells.box
    for (const shapes of shapesIn(this.#grid, [west, south], [east, north])) {
      for (let i = 0; i < shapes.length; i++) {
        const shape = shapes[i]!
        if (this.#streets.note(shape) && (isOpen(edges[2 * shape]!) || isOpen(edges[2 * shape + 1]!)))
          others.push(shape)
      }
    }
    return Uint32Array.from(others)
  }

  /** Records the contours around the parts of streets. */
  mark(shapes: Uint32Array, within: Int32Array, first: number, end: number): void {
    for (let i = first; i < end; i++) {
      if (within[i]! >= 0) this.#scan(shapes[i]!, within[i]!)
      else this.#markPassed(shapes[i]!)
    }
  }

  /** Finds where contours may run. */
  closeCells(): void {
    this.#cells!.close()
  }

  /** Adds the samples of streets that may affect a contour. */
  take(shapes: Uint32Array, within: Int32Array, first: number, end: number): void {
    for (let i = first; i < end; i++) {
      const spacing = within[i]! < 0 ? FINE : this.#scan(shapes[i]!, -1)
      if (spacing > 0) this.#take(shapes[i]!, spacing)
    }
  }

  /** Resets the shared memory for reuse. */
  close(): void {
    for (const node of this.#nodes) this.#streets.sampleOf[node] = 0
  }

  #markPassed(shape: number): void {
    const cells = this.#cells!
    const streets = this.#streets
    streets.open(shape)
    this.#ruler.visit(shape, FINE, (lon, lat, share) => {
      streets.at(share)
      cells.mark(cells.at(lon, lat), bitsOf(this.#levels, streets.seconds, streets.meters))
    })
  }

  #take(shape: number, spacing: number): void {
    const cells = this.#cells!
    const streets = this.#streets
    streets.open(shape)
    this.#ruler.visit(shape, spacing, (lon, lat, share) => {
      if (!cells.takes(cells.at(lon, lat))) return
      streets.at(share)
      if (share === 0) this.#atNode(streets.beginOf(shape), lon, lat)
      else if (share === 1) this.#atNode(streets.endOf(shape), lon, lat)
      else this.samples.add(lon, lat, streets.seconds, streets.meters)
    })
  }

  #enclose(shape: number): void {
    const box = this.#box
    const { firstCell, cells } = this.#grid
    for (let i = firstCell[shape]!; i < firstCell[shape + 1]!; i++) {
      const column = cells[i]! & 0xffff
      const row = cells[i]! >>> 16
      if (column < box.west) box.west = column
      if (column > box.east) box.east = column
      if (row < box.south) box.south = row
      if (row > box.north) box.north = row
    }
  }

  /**
   * Marks the cells of a street as within some contours. A negative value marks none and returns the distance of
   * samples.
   */
  #scan(shape: number, within: number): number {
    const here = this.#cells!
    const { firstCell, cells } = this.#grid
    let spacing = 0
    for (let i = firstCell[shape]!; i < firstCell[shape + 1]!; i++) {
      const at = here.of(cells[i]!)
      if (within >= 0) here.mark(at, within)
      else {
        const need = here.need(at)
        if (need === PASSED) return FINE
        if (need > 0) spacing = COARSE
      }
    }
    return spacing
  }

  /** Adds or lowers the sample of a node, with the last distance that the streets computed. */
  #atNode(node: number, lon: number, lat: number): void {
    const { samples } = this
    const { sampleOf, seconds, meters } = this.#streets
    const known = sampleOf[node]!
    if (known === 0) {
      sampleOf[node] = samples.add(lon, lat, seconds, meters) + 1
      this.#nodes.push(node)
    } else if (seconds < samples.seconds[known - 1]!) {
      samples.seconds[known - 1] = seconds
      samples.meters[known - 1] = meters
    }
  }
}
