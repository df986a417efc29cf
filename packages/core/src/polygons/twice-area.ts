/** Twice the signed area of the ring `xy[start, end)` (vertex indices), positive when it turns from +x to +y. */
export function twiceArea(xy: Int32Array | Float64Array, start: number, end: number): number {
  if (end - start < 3) return 0
  // Coordinates relative to the first vertex keep the products exact for every ring on a grid of ±2^14.
  const x0 = xy[2 * start]!
  const y0 = xy[2 * start + 1]!
  let sum = 0
  let ax = 0
  let ay = 0
  for (let i = start + 1; i < end; i++) {
    const bx = xy[2 * i]! - x0
    const by = xy[2 * i + 1]! - y0
    sum += ax * by - bx * ay
    ax = bx
    ay = by
  }
  return sum
}
