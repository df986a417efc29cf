import type { Units } from '../narrate/lengths.ts'

const MILES_PER_KILOMETER = 0.621371

/** A number cut, not rounded, to so many decimals, as Valhalla's JSON writer does. */
function cut(value: number, decimals: number): number {
  const text = String(value)
  const dot = text.indexOf('.')
  if (dot < 0) return value
  if (text.includes('e')) return Math.trunc(value)
  return Number(text.slice(0, dot + 1 + decimals))
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
