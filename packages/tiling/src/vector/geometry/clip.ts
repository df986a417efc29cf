import type { Path } from '@terrane/core'

/** The coordinate that is clipped. */
export type Axis = 0 | 1

/** Puts the parts of lines with `low ≤ coordinate ≤ high` into `out`; a line that leaves and returns becomes two. */
export function clipLines(path: Path, out: Path, axis: Axis, low: number, high: number): void {
  out.clear()
  const xy = path.xy
  for (let part = 0; part < path.parts; part++) {
    const end = path.ends[part]!
    let i = path.startOf(part)
    let a = xy[i + axis]!
    out.ensure(1)
    if (a >= low && a <= high) out.push(xy[i]!, xy[i + 1]!)
    for (i += 2; i < end; i += 2) {
      out.ensure(3)
      const b = xy[i + axis]!
      if (a < low ? b >= low : a > high ? b <= high : false) pushCut(xy, i, out, axis, a < low ? low : high)
      if (b > high ? a <= high : b < low ? a >= low : false) {
        pushCut(xy, i, out, axis, b > high ? high : low)
        out.endPart(0, 2)
      } else if (b >= low && b <= high) out.push(xy[i]!, xy[i + 1]!)
      a = b
    }
    out.endPart(0, 2)
  }
}

/**
 * Puts rings cut at `low` and `high` into `out`; a ring that is cut into pieces stays one ring that runs along the cut.
 *
 * Source: I. Sutherland and G. Hodgman, "Reentrant polygon clipping", 1974.
 */
export function clipRings(path: Path, out: Path, axis: Axis, low: number, high: number): void {
  out.clear()
  const xy = path.xy
  for (let part = 0; part < path.parts; part++) {
    const start = path.startOf(part)
    const end = path.ends[part]!
    let last = end - 2
    let a = xy[last + axis]!
    for (let i = start; i < end; i += 2) {
      const b = xy[i + axis]!
      out.ensure(3)
      // A segment may enter over one side and leave over the other.
      if (a < low) {
        if (b >= low) pushBetween(xy, last, i, out, axis, low)
        if (b > high) pushBetween(xy, last, i, out, axis, high)
      } else if (a > high) {
        if (b <= high) pushBetween(xy, last, i, out, axis, high)
        if (b < low) pushBetween(xy, last, i, out, axis, low)
      } else if (b < low) pushBetween(xy, last, i, out, axis, low)
      else if (b > high) pushBetween(xy, last, i, out, axis, high)
      if (b >= low && b <= high) out.push(xy[i]!, xy[i + 1]!)
      last = i
      a = b
    }
    out.endPart(path.holes[part]!, 3)
  }
}

/** Puts the points with `low ≤ coordinate ≤ high` into `out`. */
export function clipPoints(path: Path, out: Path, axis: Axis, low: number, high: number): void {
  out.clear()
  out.ensure(path.length / 2)
  for (let i = 0; i < path.length; i += 2) {
    const coordinate = path.xy[i + axis]!
    if (coordinate >= low && coordinate <= high) out.push(path.xy[i]!, path.xy[i + 1]!)
  }
  out.endPart(0, 1)
}

function pushCut(xy: Float64Array, i: number, out: Path, axis: Axis, at: number): void {
  pushBetween(xy, i - 2, i, out, axis, at)
}

/**
 * Appends the crossing of the segment between two vertices and the line `coordinate = at`; equal for both directions.
 */
function pushBetween(xy: Float64Array, i: number, j: number, out: Path, axis: Axis, at: number): void {
  const forward = xy[i + axis]! < xy[j + axis]!
  const a = forward ? i : j
  const b = forward ? j : i
  const t = (at - xy[a + axis]!) / (xy[b + axis]! - xy[a + axis]!)
  const other = xy[a + 1 - axis]! + t * (xy[b + 1 - axis]! - xy[a + 1 - axis]!)
  if (axis === 0) out.push(at, other)
  else out.push(other, at)
}
