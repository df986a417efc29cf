import type { Path } from './path.ts'

/** Appends a ring to `out` without vertices that do not change its area: repeated, straight ones, tips of spikes. */
export function tidyRing(xy: Float64Array, start: number, end: number, isHole: number, out: Path): void {
  out.ensure((end - start) / 2)
  const ring = out.xy
  const base = out.openStart()
  let at = base
  for (let i = start; i < end; i += 2) {
    const x = xy[i]!
    const y = xy[i + 1]!
    while (at - base >= 4 && isStraight(ring, at - 4, at - 2, x, y)) at -= 2
    if (at > base && ring[at - 2] === x && ring[at - 1] === y) continue
    ring[at] = x
    ring[at + 1] = y
    at += 2
  }
  // The same over the seam between the last vertex and the first.
  let from = base
  for (let changed = true; changed && at - from >= 6;) {
    changed = true
    if (isStraight(ring, at - 4, at - 2, ring[from]!, ring[from + 1]!)) at -= 2
    else if (isStraight(ring, at - 2, from, ring[from + 2]!, ring[from + 3]!)) from += 2
    else changed = false
  }
  if (from > base) ring.copyWithin(base, from, at)
  out.length = base + at - from
  out.endPart(isHole, 3)
}

/** True when the vertex at `j` lies on the line from the one at `i` to (x, y), or equals one of them. */
function isStraight(ring: Float64Array, i: number, j: number, x: number, y: number): boolean {
  return (ring[j]! - ring[i]!) * (y - ring[j + 1]!) === (ring[j + 1]! - ring[i + 1]!) * (x - ring[j]!)
}
