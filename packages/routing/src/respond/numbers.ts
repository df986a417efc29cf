import type { Units } from '../narrate/lengths.ts'

const MILES_PER_KILOMETER = 0.621371
const SCALES = { 3: 1e3, 4: 1e4, 6: 1e6 } as const

/**
 * Truncates a number to some decimals, as Valhalla's JSON writer does with the shortest text. The comparison with the
 * neighbours corrects rounding errors of the product.
 */
function cut(value: number, decimals: 3 | 4 | 6): number {
  const scale = SCALES[decimals]
  const size = Math.abs(value)
  // Larger numbers have no meaningful decimals.
  if (size > 1e9) return Math.trunc(value)
  let units = Math.trunc(size * scale)
  if (units / scale > size) units--
  else if ((units + 1) / scale <= size) units++
  return value < 0 ? -units / scale : units / scale
}

/** A length in the units of an answer: three decimals of kilometres, four of miles. */
export function lengthIn(units: Units, meters: number): number {
  return units === 'miles' ? cut((meters / 1000) * MILES_PER_KILOMETER, 4) : cut(meters / 1000, 3)
}

/** Seconds, or cost, with three decimals. */
export function secondsOf(value: number): number {
  return cut(value, 3)
}

/** A coordinate with six decimals. */
export function degreesOf(value: number): number {
  return cut(value, 6)
}
