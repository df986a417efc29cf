/** Counts values that a format cannot hold, by a stable code. */
export interface Losses {
  /** Counts one loss of a kind, with an example. */
  count(code: string, message: string, example?: number | string): void
  /** Adds all losses of a kind at once. */
  add(code: string, message: string, count?: number, examples?: readonly (number | string)[]): void
}
