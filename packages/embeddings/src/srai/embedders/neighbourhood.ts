import { gridDiskDistances } from 'h3-js'

/** For each cell the numbers of the cells at one distance: entries `[start[c], start[c + 1])` of `items`. */
export interface Ring {
  readonly start: Uint32Array
  readonly items: Uint32Array
}

/** The rings at distances 1 to `distance`, of those neighbours that are among the cells. */
export function neighbourRings(cells: readonly string[], distance: number): Ring[] {
  const numbers = new Map(cells.map((cell, number) => [cell, number]))
  const starts = Array.from({ length: distance }, () => new Uint32Array(cells.length + 1))
  const items = Array.from({ length: distance }, (): number[] => [])
  for (const [c, cell] of cells.entries()) {
    const rings = gridDiskDistances(cell, distance)
    for (let d = 1; d <= distance; d++) {
      for (const neighbour of rings[d] ?? []) {
        const number = numbers.get(neighbour)
        if (number !== undefined) items[d - 1]!.push(number)
      }
      starts[d - 1]![c + 1] = items[d - 1]!.length
    }
  }
  return starts.map((start, d) => ({ start, items: Uint32Array.from(items[d]!) }))
}
