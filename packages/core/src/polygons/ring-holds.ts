import type { Path } from './path.ts'

/** Whether a point that is on no ring lies in a ring: parity of the crossings of the ray to +x. */
export function ringHolds(path: Path, part: number, x: number, y: number): boolean {
  const xy = path.xy
  const end = path.ends[part]!
  let inside = false
  let j = end - 2
  for (let i = path.startOf(part); i < end; j = i, i += 2) {
    const ay = xy[i + 1]!
    const by = xy[j + 1]!
    if (ay > y === by > y) continue
    const ax = xy[i]!
    if (x < ((xy[j]! - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}
