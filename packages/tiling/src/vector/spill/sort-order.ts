const DIGIT_BITS = 16
const RADIX = 1 << DIGIT_BITS

/**
 * The order that sorts whole numbers 0 ≤ key < 2^53, equal keys in their given order: a least-significant-digit radix
 * sort over 16-bit digits that skips digits in which all keys agree.
 */
export function sortOrder(keys: Float64Array, count: number): Uint32Array {
  let order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = i
  let swap = new Uint32Array(count)
  const low = new Uint32Array(count)
  const high = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    low[i] = keys[i]! % 0x100000000
    high[i] = keys[i]! / 0x100000000
  }
  const places = new Uint32Array(RADIX)
  for (const [words, shift] of [
    [low, 0],
    [low, DIGIT_BITS],
    [high, 0],
    [high, DIGIT_BITS],
  ] as const) {
    if (count === 0 || !countDigits(words, shift, count, places)) continue
    for (let i = 0; i < count; i++) {
      const index = order[i]!
      const digit = (words[index]! >>> shift) & (RADIX - 1)
      swap[places[digit]!++] = index
    }
    ;[order, swap] = [swap, order]
  }
  return order
}

/** Fills `places` with the start of each digit's run; returns false if all words have the same digit. */
function countDigits(words: Uint32Array, shift: number, count: number, places: Uint32Array): boolean {
  places.fill(0)
  for (let i = 0; i < count; i++) places[(words[i]! >>> shift) & (RADIX - 1)]!++
  if (places[(words[0]! >>> shift) & (RADIX - 1)] === count) return false
  let sum = 0
  for (let digit = 0; digit < RADIX; digit++) {
    const size = places[digit]!
    places[digit] = sum
    sum += size
  }
  return true
}
