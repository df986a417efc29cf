import type { Graph } from '../graph/graph.ts'

/** Minimum side of a cell in metres, and maximum number of cells. */
const CELL_METERS = 60
const MOST_CELLS = 2 ** 28
/** Bits of a cell's column or row, and number of bits fewer for a block's column or row. */
const CELL_BITS = 16
const BLOCK_BITS = 4
/** Number of streets per step of building a grid. */
const STEP = 2 ** 14
/** Metres per millionth of a degree of latitude. */
export const METERS_PER_UNIT = 0.111195

/**
 * A grid of cells over a graph, with the cells of each street and the streets of each block of 16 × 16 cells. It takes
 * 4 bytes per cell of a street, per street, per block, and per street of a block.
 */
export interface Grid {
  /** Side of a cell in metres. */
  readonly meters: number
  /** The south-western corner in millionths of a degree, and cells per millionth. */
  readonly west: number
  readonly south: number
  readonly perLon: number
  readonly perLat: number
  /** Cells of street `s`, from `cells[firstCell[s]]` on: a row in the upper 16 bits, a column in the lower. */
  readonly firstCell: Uint32Array
  readonly cells: Uint32Array
  /** Number of columns and rows of blocks. */
  readonly blockColumns: number
  readonly blockRows: number
  /** Streets through block `b`: `shapes[firstShape[b]] … shapes[firstShape[b + 1] - 1]`. */
  readonly firstShape: Uint32Array
  readonly shapes: Uint32Array
}

/** The grid of a graph, or the generator that builds it. */
const known = new WeakMap<Graph, { grid: Grid | null; readonly making: Generator<void, Grid> }>()

/** The grid of a graph, built on first use, in steps; all waiting callers advance the same generator. */
export function* gridOf(graph: Graph): Generator<void, Grid> {
  const entry = known.get(graph) ?? { grid: null, making: makeGrid(graph) }
  known.set(graph, entry)
  for (;;) {
    if (entry.grid !== null) return entry.grid
    const step = stepOf(graph, entry.making)
    if (step.done === true) entry.grid = step.value
    else yield
  }
}

function stepOf(graph: Graph, making: Generator<void, Grid>): IteratorResult<void, Grid> {
  try {
    return making.next()
  } catch (error) {
    // After an error, e.g. for lack of memory, the next caller starts again.
    known.delete(graph)
    throw error
  }
}

/** The streets in the blocks of a range of columns and rows of cells; some may occur more than once. */
export function* shapesIn(grid: Grid, first: readonly number[], last: readonly number[]): Generator<Uint32Array> {
  const { blockColumns, blockRows, firstShape, shapes } = grid
  const [west, east] = [blockOf(first[0]!, blockColumns), blockOf(last[0]!, blockColumns)]
  for (let row = blockOf(first[1]!, blockRows); row <= blockOf(last[1]!, blockRows); row++) {
    yield shapes.subarray(firstShape[row * blockColumns + west], firstShape[row * blockColumns + east + 1])
  }
}

/** The nearest block of a row or column of cells. */
function blockOf(cell: number, blocks: number): number {
  return Math.max(0, Math.min(blocks - 1, cell >> BLOCK_BITS))
}

function* makeGrid(graph: Graph): Generator<void, Grid> {
  const { pointLon, pointLat, firstPoint } = graph
  const [west, east] = extentOf(pointLon)
  const [south, north] = extentOf(pointLat)
  const metersPerLon = METERS_PER_UNIT * Math.max(0.01, Math.cos(((south + north) / 2e6) * (Math.PI / 180)))
  const [width, height] = [(east - west) * metersPerLon, (north - south) * METERS_PER_UNIT]
  const longest = 2 ** CELL_BITS - 1
  const meters = Math.max(CELL_METERS, Math.sqrt((width * height) / MOST_CELLS), width / longest, height / longest)
  const [perLon, perLat] = [metersPerLon / meters, METERS_PER_UNIT / meters]
  const count = firstPoint.length - 1
  const firstCell = new Uint32Array(count + 1)
  let cells = new Uint32Array(4 * count)
  let size = 0
  for (let shape = 0; shape < count; shape++) {
    if (shape % STEP === STEP - 1) yield
    const last = firstPoint[shape + 1]! - 1
    for (let point = firstPoint[shape]!; point <= last; point++) {
      const [x, y] = [(pointLon[point]! - west) * perLon, (pointLat[point]! - south) * perLat]
      const dx = point < last ? (pointLon[point + 1]! - pointLon[point]!) * perLon : 0
      const dy = point < last ? (pointLat[point + 1]! - pointLat[point]!) * perLat : 0
      const steps = Math.max(1, Math.ceil(Math.max(Math.abs(dx), Math.abs(dy))))
      for (let step = 0; step < steps; step++) {
        const cell = (Math.floor(y + (dy * step) / steps) * 2 ** CELL_BITS + Math.floor(x + (dx * step) / steps)) >>> 0
        if (size > firstCell[shape]! && cells[size - 1] === cell) continue
        if (size === cells.length) cells = grown(cells)
        cells[size++] = cell
      }
    }
    firstCell[shape + 1] = size
  }
  const corner = { meters, west, south, perLon, perLat }
  const blockColumns = (Math.floor(width / meters) >> BLOCK_BITS) + 1
  const blockRows = (Math.floor(height / meters) >> BLOCK_BITS) + 1
  const firstShape = new Uint32Array(blockColumns * blockRows + 1)
  // The last street in each block, by number and pass.
  const seen = new Uint32Array(blockColumns * blockRows)
  function* blocksOf(shape: number, turn: number): Generator<number> {
    for (let i = firstCell[shape]!; i < firstCell[shape + 1]!; i++) {
      const block = (cells[i]! >>> (CELL_BITS + BLOCK_BITS)) * blockColumns + ((cells[i]! & longest) >> BLOCK_BITS)
      if (seen[block] === 1 + shape + turn * count) continue
      seen[block] = 1 + shape + turn * count
      yield block
    }
  }
  for (let shape = 0; shape < count; shape++) {
    if (shape % STEP === STEP - 1) yield
    for (const block of blocksOf(shape, 0)) firstShape[block + 1]!++
  }
  for (let block = 1; block < firstShape.length; block++) firstShape[block]! += firstShape[block - 1]!
  const shapes = new Uint32Array(firstShape.at(-1)!)
  const next = firstShape.slice()
  for (let shape = 0; shape < count; shape++) {
    if (shape % STEP === STEP - 1) yield
    for (const block of blocksOf(shape, 1)) shapes[next[block]!++] = shape
  }
  return { ...corner, firstCell, cells: cells.slice(0, size), blockColumns, blockRows, firstShape, shapes }
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * array.length)
  more.set(array)
  return more
}

function extentOf(values: Int32Array): [least: number, most: number] {
  let least = Infinity
  let most = -Infinity
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value < least) least = value
    if (value > most) most = value
  }
  return [least, most]
}
