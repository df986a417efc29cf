import { orient } from './orient.ts'

/** True when a closed line of `n` segments meets itself only in ends of neighbours. All pairs: for small rings. */
export function isSimpleRing(xs: Int32Array, ys: Int32Array, n: number): boolean {
  if (n < 3) return false
  for (let i = 0; i < n; i++) {
    const ax = xs[2 * i]!
    const ay = ys[2 * i]!
    const bx = xs[2 * i + 1]!
    const by = ys[2 * i + 1]!
    // A neighbour must not run back over this side.
    const next = 2 * ((i + 1) % n)
    const cx = xs[next + 1]!
    const cy = ys[next + 1]!
    if (orient(ax, ay, bx, by, cx, cy) === 0 && (ax - bx) * (cx - bx) + (ay - by) * (cy - by) > 0) return false
    const west = Math.min(ax, bx)
    const east = Math.max(ax, bx)
    const south = Math.min(ay, by)
    const north = Math.max(ay, by)
    for (let j = i + 2; j < (i === 0 ? n - 1 : n); j++) {
      const px = xs[2 * j]!
      const py = ys[2 * j]!
      const qx = xs[2 * j + 1]!
      const qy = ys[2 * j + 1]!
      if ((px < west && qx < west) || (px > east && qx > east)) continue
      if ((py < south && qy < south) || (py > north && qy > north)) continue
      const p = orient(ax, ay, bx, by, px, py)
      const q = orient(ax, ay, bx, by, qx, qy)
      if ((p > 0 && q > 0) || (p < 0 && q < 0)) continue
      const a = orient(px, py, qx, qy, ax, ay)
      const b = orient(px, py, qx, qy, bx, by)
      if ((a > 0 && b > 0) || (a < 0 && b < 0)) continue
      return false
    }
  }
  return true
}
