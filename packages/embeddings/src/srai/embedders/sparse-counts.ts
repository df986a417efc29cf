/**
 * How often each column occurs in each cell, row by row: entries `[rowStart[r], rowStart[r + 1])` of `columns`
 * (ascending) and `values`.
 */
export interface SparseCounts {
  readonly rows: number
  readonly names: readonly string[]
  readonly rowStart: Uint32Array
  readonly columns: Uint32Array
  readonly values: Uint32Array
}

/** Collects single occurrences; memory grows with their number, not with rows times columns. */
export class CountBuilder {
  readonly #rows: number
  #cells = new Uint32Array(1 << 14)
  #columns = new Uint32Array(1 << 14)
  #length = 0

  constructor(rows: number) {
    this.#rows = rows
  }

  add(cell: number, column: number): void {
    if (this.#length === this.#cells.length) this.#grow()
    this.#cells[this.#length] = cell
    this.#columns[this.#length++] = column
  }

  /** @param places the final place of each column number */
  finish(names: readonly string[], places: Uint32Array): SparseCounts {
    const cells = this.#cells.subarray(0, this.#length)
    const columns = this.#columns.subarray(0, this.#length).map((column) => places[column]!)
    // Sorted by column, then stably by cell: each row ends up in the order of its columns.
    const byColumn = sortedOrder(columns, names.length, null)
    const order = sortedOrder(cells, this.#rows, byColumn)
    return mergeRuns(this.#rows, names, order, cells, columns)
  }

  #grow(): void {
    const [cells, columns] = [this.#cells, this.#columns]
    this.#cells = new Uint32Array(cells.length * 2)
    this.#columns = new Uint32Array(columns.length * 2)
    this.#cells.set(cells)
    this.#columns.set(columns)
  }
}

/** Positions of `keys` (each below `limit`) in ascending order, stable with regard to `before`: a counting sort. */
function sortedOrder(keys: Uint32Array, limit: number, before: Uint32Array | null): Uint32Array {
  const next = new Uint32Array(limit + 1)
  for (let i = 0; i < keys.length; i++) next[keys[i]! + 1]!++
  for (let key = 0; key < limit; key++) next[key + 1]! += next[key]!
  const order = new Uint32Array(keys.length)
  for (let i = 0; i < keys.length; i++) {
    const at = before ? before[i]! : i
    order[next[keys[at]!]!++] = at
  }
  return order
}

function mergeRuns(
  rows: number,
  names: readonly string[],
  order: Uint32Array,
  cells: Uint32Array,
  columns: Uint32Array,
): SparseCounts {
  const rowStart = new Uint32Array(rows + 1)
  const outColumns = new Uint32Array(order.length)
  const outValues = new Uint32Array(order.length)
  let length = 0
  let row = 0
  for (let i = 0; i < order.length; i++) {
    const at = order[i]!
    while (row < cells[at]!) rowStart[++row] = length
    const sameColumn = length > rowStart[row]! && outColumns[length - 1] === columns[at]
    if (!sameColumn) outColumns[length++] = columns[at]!
    outValues[length - 1]!++
  }
  while (row < rows) rowStart[++row] = length
  return { rows, names, rowStart, columns: outColumns.slice(0, length), values: outValues.slice(0, length) }
}
