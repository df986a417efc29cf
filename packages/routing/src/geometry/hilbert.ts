/**
 * Position of a cell along a Hilbert curve that fills a square of 2¹⁶ × 2¹⁶ cells. Neighbours on the curve are
 * neighbours in the plane, which keeps what is near in space near in memory.
 *
 * Source: Skilling, "Programming the Hilbert curve", 2004, for two dimensions.
 */
function hilbert(x: number, y: number): number {
  let px = x
  let py = y
  let index = 0
  for (let side = 1 << 15; side > 0; side >>>= 1) {
    const rx = (px & side) > 0 ? 1 : 0
    const ry = (py & side) > 0 ? 1 : 0
    index += side * side * ((3 * rx) ^ ry)
    if (ry === 0) {
      if (rx === 1) {
        px = 0xffff - px
        py = 0xffff - py
      }
      ;[px, py] = [py, px]
    }
  }
  return index
}

/** A permutation that orders points along a Hilbert curve over their bounding box. */
export function hilbertOrder(x: Int32Array, y: Int32Array): Uint32Array {
  const [minX, spanX] = extent(x)
  const [minY, spanY] = extent(y)
  const count = x.length
  const keys = new Uint32Array(count)
  for (let i = 0; i < count; i++) keys[i] = hilbert(cell(x[i]!, minX, spanX), cell(y[i]!, minY, spanY))
  return orderOf(keys)
}

/** A stable permutation that orders keys, by their lower and then by their upper 16 bits. O(keys). */
function orderOf(keys: Uint32Array): Uint32Array {
  let order = Uint32Array.from({ length: keys.length }, (_, i) => i)
  for (const shift of [0, 16]) {
    const next = new Uint32Array(2 ** 16 + 1)
    for (const key of keys) next[((key >>> shift) & 0xffff) + 1]!++
    for (let digit = 0; digit < 2 ** 16; digit++) next[digit + 1]! += next[digit]!
    const sorted = new Uint32Array(keys.length)
    for (const i of order) sorted[next[(keys[i]! >>> shift) & 0xffff]!++] = i
    order = sorted
  }
  return order
}

function extent(values: Int32Array): [number, number] {
  let least = Infinity
  let most = -Infinity
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  return [least, Math.max(1, most - least)]
}

function cell(value: number, least: number, span: number): number {
  return Math.floor(((value - least) / span) * 0xffff)
}
