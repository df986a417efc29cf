/** Counts values that a format cannot hold, by a stable code. */
export interface Losses {
  /** One more of a kind, with an example. */
  count(code: string, message: string, example?: number | string): void
  /** A kind that is known at once. */
  add(code: string, message: string, count?: number, examples?: readonly (number | string)[]): void
}
