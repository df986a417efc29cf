/** A number rounded to an integer, halves away from zero as in C, also for negative numbers. */
export function roundAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value)
}
