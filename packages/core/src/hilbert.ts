/**
 * Position of the cell (x, y) on the Hilbert curve that fills a grid of 2^order cells a side; order ≤ 26, so that the
 * result is exact. A cell's position is a prefix of the positions of its parts.
 * Neighbours on the curve are neighbours in the plane.
 *
 * Source: PMTiles v3; the same curve as FlatGeobuf's.
 */
export function hilbertIndex(order: number, x: number, y: number): number {
  let index = 0
  let a = x
  let b = y
  for (let bit = order - 1; bit >= 0; bit--) {
    const rx = (a >>> bit) & 1
    const ry = (b >>> bit) & 1
    index = index * 4 + ((3 * rx) ^ ry)
    if (ry === 0) {
      const swap = rx === 1 ? ~a : a
      a = rx === 1 ? ~b : b
      b = swap
    }
  }
  return index
}
