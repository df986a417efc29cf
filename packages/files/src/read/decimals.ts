/** Powers of ten that doubles hold exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))

/**
 * The number that has these digits, the last ones of them behind its point: a quotient of two numbers that doubles hold exactly
 * is rounded as its text would be. NaN where one of them is too large for that.
 */
export function decimalOf(digits: number, decimals: number, isNegative: boolean): number {
  if (digits > Number.MAX_SAFE_INTEGER || decimals >= POWERS.length) return Number.NaN
  const number = digits / POWERS[decimals]!
  return isNegative ? -number : number
}
