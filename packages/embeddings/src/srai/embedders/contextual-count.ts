import type { Ring } from './neighbourhood.ts'
import type { SparseCounts } from './sparse-counts.ts'

/** Aggregation of the counts of all cells of a ring. */
export type Aggregation = 'average' | 'median' | 'sum' | 'min' | 'max'

export interface ContextualOptions {
  /** Rings 1, 2, … around each cell. */
  readonly rings: readonly Ring[]
  /** Appends each ring's numbers to the cell's own; otherwise they are added, weighted by 1 / (distance + 1)². */
  readonly concat: boolean
  readonly aggregation: Aggregation
}

/** Names of the columns of `contextualRow`. */
export function contextualNames(counts: SparseCounts, { rings, concat }: ContextualOptions): string[] {
  if (!concat) return [...counts.names]
  return Array.from({ length: rings.length + 1 }, (_, d) => counts.names.map((name) => `${name}_${d}`)).flat()
}

/**
 * Writes the counts of one cell and of the rings around it. A ring without cells counts as 0.
 *
 * Source: ContextualCountEmbedder of srai (Raczycki and Szymański 2021).
 *
 * @param out as many numbers as there are names; they are overwritten
 */
export function contextualRow(counts: SparseCounts, row: number, options: ContextualOptions, out: Float64Array): void {
  const width = counts.names.length
  const ring = new Float64Array(width)
  out.fill(0)
  addRow(counts, row, out)
  for (const [i, { start, items }] of options.rings.entries()) {
    const cells = items.subarray(start[row], start[row + 1])
    if (cells.length === 0) continue
    aggregate(counts, cells, options.aggregation, ring)
    const weight = (i + 2) ** 2
    if (options.concat) out.set(ring, (i + 1) * width)
    else for (let c = 0; c < width; c++) out[c]! += ring[c]! / weight
  }
}

function aggregate(counts: SparseCounts, cells: Uint32Array, aggregation: Aggregation, out: Float64Array): void {
  const width = out.length
  if (aggregation === 'average' || aggregation === 'sum') {
    out.fill(0)
    for (const cell of cells) addRow(counts, cell, out)
    if (aggregation === 'average') for (let c = 0; c < width; c++) out[c]! /= cells.length
    return
  }
  const table = new Float64Array(cells.length * width)
  for (const [i, cell] of cells.entries()) addRow(counts, cell, table.subarray(i * width, (i + 1) * width))
  const column = new Float64Array(cells.length)
  for (let c = 0; c < width; c++) {
    for (let i = 0; i < cells.length; i++) column[i] = table[i * width + c]!
    column.sort()
    if (aggregation === 'min') out[c] = column[0]!
    else if (aggregation === 'max') out[c] = column.at(-1)!
    else out[c] = (column[(cells.length - 1) >> 1]! + column[cells.length >> 1]!) / 2
  }
}

/** Adds the counts of a cell to a dense row. */
export function addRow(
  { rowStart, columns, values }: SparseCounts,
  row: number,
  out: Float64Array | Float32Array,
): void {
  for (let at = rowStart[row]!; at < rowStart[row + 1]!; at++) out[columns[at]!]! += values[at]!
}
