/** Coordinates of points in 1e-7 degrees. */
interface Points {
  readonly lon: Int32Array
  readonly lat: Int32Array
}

const RADIANS = Math.PI / 180 / 1e7

/**
 * Numbers of the points `from .. to` that a line keeps when no point may lie further from it than the tolerance (Douglas
 * and Peucker 1973), first and last included.
 *
 * @param tolerance in 1e-7 degrees of latitude; longitudes are scaled to the same length at the line's first point
 */
export function keptPoints({ lon, lat }: Points, from: number, to: number, tolerance: number): number[] {
  const scale = Math.cos(lat[from]! * RADIANS)
  const most = tolerance * tolerance
  const isKept = new Uint8Array(to - from)
  isKept[0] = isKept[to - from - 1] = 1
  const stack = [from, to - 1]
  while (stack.length > 0) {
    const last = stack.pop()!
    const first = stack.pop()!
    let farthest = -1
    let distance = most
    const ax = lon[first]! * scale
    const ay = lat[first]!
    const dx = lon[last]! * scale - ax
    const dy = lat[last]! - ay
    const square = dx * dx + dy * dy
    for (let i = first + 1; i < last; i++) {
      const px = lon[i]! * scale - ax
      const py = lat[i]! - ay
      const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / square))
      const away = (px - along * dx) ** 2 + (py - along * dy) ** 2
      if (away <= distance) continue
      distance = away
      farthest = i
    }
    if (farthest < 0) continue
    isKept[farthest - from] = 1
    stack.push(first, farthest, farthest, last)
  }
  const kept: number[] = []
  for (let i = from; i < to; i++) if (isKept[i - from] === 1) kept.push(i)
  return kept
}
