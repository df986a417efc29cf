import { gridDiskDistances } from 'h3-js'

/** For each cell the numbers of the cells at one distance: entries `[start[c], start[c + 1])` of `items`. */
export interface Ring {
  readonly start: Uint32Array
  readonly items: Uint32Array
}

/** The rings at distances 1 to `distance`, of those neighbours that are among the cells. */
export function neighbourRings(cells: readonly string[], distance: number): Ring[] {
  const numbers = new Map(cells.map((cell, number) => [cell, number]))
  // A ring at distance d has 6 d cells, fewer around a pentagon.
  const rings = Array.from({ length: distance }, (_, i) => ({
    start: new Uint32Array(cells.length + 1),
    items: new Uint32Array(cells.length * 6 * (i + 1)),
  }))
  for (const [c, cell] of cells.entries()) {
    const around = gridDiskDistances(cell, distance)
    for (const [i, { start, items }] of rings.entries()) {
      let end = start[c]!
      for (const neighbour of around[i + 1] ?? []) {
        const number = numbers.get(neighbour)
        if (number !== undefined) items[end++] = number
      }
      start[c + 1] = end
    }
  }
  return rings.map(({ start, items }) => ({ start, items: items.subarray(0, start.at(-1)) }))
}
