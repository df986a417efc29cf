import type { Ring } from './edge-bands.ts'

/** True when two edges of the ring cross (touching does not count), by their western ends: O(n log n) as drawn. */
export function ringCrosses(ring: Ring): boolean {
  const count = ring.length / 2 - 1
  const west = (edge: number): number => Math.min(ring[2 * edge]!, ring[2 * edge + 2]!)
  const order = Uint32Array.from({ length: count }, (_, i) => i).toSorted((a, b) => west(a) - west(b))
  for (let i = 0; i < count; i++) {
    const a = 2 * order[i]!
    const ax = ring[a]!
    const ay = ring[a + 1]!
    const bx = ring[a + 2]!
    const by = ring[a + 3]!
    const east = Math.max(ax, bx)
    const south = Math.min(ay, by)
    const north = Math.max(ay, by)
    for (let j = i + 1; j < count; j++) {
      const c = 2 * order[j]!
      const cx = ring[c]!
      const dx = ring[c + 2]!
      if (cx > east && dx > east) break
      const cy = ring[c + 1]!
      const dy = ring[c + 3]!
      if ((cy < south && dy < south) || (cy > north && dy > north)) continue
      const sideC = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
      const sideD = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
      if (sideC === 0 || sideD === 0 || sideC > 0 === sideD > 0) continue
      const sideA = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
      const sideB = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
      if (sideA !== 0 && sideB !== 0 && sideA > 0 !== sideB > 0) return true
    }
  }
  return false
}
