/** Powers of ten that doubles hold exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))

/**
 * The number with these digits, the last `decimals` of them after the point. The quotient of two exact doubles is
 * rounded like the number's text. NaN when one of the two is too large to be exact.
 */
export function decimalOf(digits: number, decimals: number, isNegative: boolean): number {
  if (digits > Number.MAX_SAFE_INTEGER || decimals >= POWERS.length) return Number.NaN
  const number = digits / POWERS[decimals]!
  return isNegative ? -number : number
}
