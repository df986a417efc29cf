/** Coordinates of points in 1e-7 degrees. */
interface Points {
  readonly lon: Int32Array
  readonly lat: Int32Array
}

const RADIANS = Math.PI / 180 / 1e7

/** Maximum point checks of a line per point; a line that halves evenly needs one per halving. */
const LOOKS_PER_POINT = 500

/**
 * Numbers of the points `from .. to` that a line keeps when no point may lie further from it than the tolerance
 * (Douglas and Peucker 1973), first and last included; null for a line that is too much work.
 *
 * @param tolerance in 1e-7 degrees of latitude; longitudes are scaled by the latitude of the section that is nearest to
 * the equator
 */
export function keptPoints({ lon, lat }: Points, from: number, to: number, tolerance: number): number[] | null {
  const most = tolerance * tolerance
  const isKept = new Uint8Array(to - from)
  isKept[0] = isKept[to - from - 1] = 1
  const stack = [from, to - 1]
  let looks = LOOKS_PER_POINT * (to - from)
  while (stack.length > 0) {
    const last = stack.pop()!
    const first = stack.pop()!
    looks -= last - first
    if (looks < 0) return null
    const scale = Math.cos(leastLatitude(lat, first, last) * RADIANS)
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

/** Absolute latitude nearest to the equator of a section, in 1e-7 degrees. */
function leastLatitude(lat: Int32Array, first: number, last: number): number {
  let south = lat[first]!
  let north = south
  for (let i = first + 1; i <= last; i++) {
    const y = lat[i]!
    if (y < south) south = y
    else if (y > north) north = y
  }
  return Math.max(south, -north, 0)
}
