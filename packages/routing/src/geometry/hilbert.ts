import { hilbertIndex } from '@terrane/core'

/** The curve fills a square of 2¹⁶ × 2¹⁶ cells. */
const ORDER = 16

/** A permutation that orders points along a Hilbert curve over their bounding box. */
export function hilbertOrder(x: Int32Array, y: Int32Array): Uint32Array {
  const [minX, spanX] = extent(x)
  const [minY, spanY] = extent(y)
  const count = x.length
  const keys = new Uint32Array(count)
  for (let i = 0; i < count; i++) keys[i] = hilbertIndex(ORDER, cell(x[i]!, minX, spanX), cell(y[i]!, minY, spanY))
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
