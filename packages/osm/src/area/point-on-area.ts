import type { AreaAssembler } from './assemble.ts'

/** A point within the polygons: the centroid of the largest if inside, else on the parallel through its middle. */
export function pointOnArea(area: AreaAssembler): readonly [lon: number, lat: number] {
  const polygon = largest(area)
  const first = area.polygonStart[polygon]!
  const last = area.polygonStart[polygon + 1]!
  const [x, y] = centroid(area, first, last)
  const crossings = crossingsAt(area, first, last, y)
  for (let i = 0; i + 1 < crossings.length; i += 2) {
    if (x > crossings[i]! && x < crossings[i + 1]!) return [Math.round(x), Math.round(y)]
  }
  return middleOfWidest(area, first, last)
}

function largest(area: AreaAssembler): number {
  let best = 0
  let most = -Infinity
  for (let p = 0; p < area.polygonCount; p++) {
    const size = ringArea(area, area.polygonStart[p]!)
    if (size > most) {
      most = size
      best = p
    }
  }
  return best
}

/** Twice the signed area. */
function ringArea({ lon, lat, ringStart }: AreaAssembler, ring: number): number {
  const from = ringStart[ring]!
  let sum = 0
  for (let i = from + 1; i < ringStart[ring + 1]!; i++) {
    sum += (lon[i - 1]! - lon[from]!) * (lat[i]! - lat[from]!) - (lon[i]! - lon[from]!) * (lat[i - 1]! - lat[from]!)
  }
  return sum
}

function centroid({ lon, lat, ringStart }: AreaAssembler, first: number, last: number): [number, number] {
  // Relative to a corner, or the products would lose their last digits.
  const x0 = lon[ringStart[first]!]!
  const y0 = lat[ringStart[first]!]!
  let sum = 0
  let sumX = 0
  let sumY = 0
  for (let r = first; r < last; r++) {
    for (let i = ringStart[r]! + 1; i < ringStart[r + 1]!; i++) {
      const ax = lon[i - 1]! - x0
      const ay = lat[i - 1]! - y0
      const bx = lon[i]! - x0
      const by = lat[i]! - y0
      const cross = ax * by - bx * ay
      sum += cross
      sumX += (ax + bx) * cross
      sumY += (ay + by) * cross
    }
  }
  return [x0 + sumX / (3 * sum), y0 + sumY / (3 * sum)]
}

/** Crossings of the border with a parallel, from west to east: the interior lies between each odd and the next. */
function crossingsAt({ lon, lat, ringStart }: AreaAssembler, first: number, last: number, y: number): number[] {
  const crossings: number[] = []
  for (let r = first; r < last; r++) {
    for (let i = ringStart[r]! + 1; i < ringStart[r + 1]!; i++) {
      const ay = lat[i - 1]!
      const by = lat[i]!
      if (ay > y === by > y) continue
      crossings.push(lon[i - 1]! + ((lon[i]! - lon[i - 1]!) * (y - ay)) / (by - ay))
    }
  }
  return crossings.toSorted((a, b) => a - b)
}

function middleOfWidest(area: AreaAssembler, first: number, last: number): [number, number] {
  const { lat, ringStart } = area
  let south = Infinity
  let north = -Infinity
  for (let i = ringStart[first]!; i < ringStart[first + 1]!; i++) {
    south = Math.min(south, lat[i]!)
    north = Math.max(north, lat[i]!)
  }
  // Half a unit off the coordinate grid, so that no corner lies on this parallel.
  const y = Math.floor((south + north) / 2) + 0.5
  const crossings = crossingsAt(area, first, last, y)
  let best = 0
  for (let i = 2; i + 1 < crossings.length; i += 2) {
    if (crossings[i + 1]! - crossings[i]! > crossings[best + 1]! - crossings[best]!) best = i
  }
  return [Math.round((crossings[best]! + crossings[best + 1]!) / 2), Math.round(y)]
}
