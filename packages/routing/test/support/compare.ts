import polyline from '@mapbox/polyline'

import type { TripLeg } from '../../src/index.ts'

/** Positions in degrees. */
export type Shape = readonly (readonly [lon: number, lat: number])[]

/** The positions of a shape as answers carry it. */
export function decodeShape(shape: TripLeg['shape']): Shape {
  if (typeof shape === 'object') return shape.coordinates
  return polyline.decode(shape ?? '', 6).map(([lat, lon]) => [lon, lat] as const)
}

/** The share of the first shape that runs within some 20 m of the second. */
export function overlap(shape: Shape, other: Shape): number {
  const near = new Set<string>()
  for (const [x, y] of cellsOf(other)) {
    for (let i = -1; i <= 1; i++) for (let j = -1; j <= 1; j++) near.add(`${x + i},${y + j}`)
  }
  const cells = cellsOf(shape)
  return cells.filter(([x, y]) => near.has(`${x},${y}`)).length / cells.length
}

/** The least number of insertions, deletions and replacements that turn one list into another. */
export function editDistance(from: readonly unknown[], to: readonly unknown[]): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  from.forEach((value, i) => {
    const next = [i + 1]
    to.forEach((other, j) => next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + Number(value !== other))))
    row = next
  })
  return row.at(-1)!
}

/** The value below which a share of the values lies; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

/** NaN without values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const CELL_DEGREES = 0.0002
const STEP_DEGREES = 0.0001

/** The cell of a point every ten metres or so. */
function cellsOf(shape: Shape): [number, number][] {
  const cells: [number, number][] = []
  shape.forEach(([lon, lat], i) => {
    const [fromLon, fromLat] = shape[Math.max(0, i - 1)]!
    const steps = Math.max(1, Math.ceil(Math.hypot(lon - fromLon, lat - fromLat) / STEP_DEGREES))
    for (let step = 1; step <= steps; step++) {
      const share = step / steps
      cells.push([
        Math.floor((fromLon + (lon - fromLon) * share) / CELL_DEGREES),
        Math.floor((fromLat + (lat - fromLat) * share) / CELL_DEGREES),
      ])
    }
  })
  return cells
}
