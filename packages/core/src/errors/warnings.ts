/** A notice about successful work: what was left out or changed, by reason. */
export interface Warning {
  /** Upper case, stable. */
  readonly code: string
  readonly message: string
  /** Layer of a file that the warning concerns; absent when it concerns no single layer. */
  readonly layer?: string
  /** Number of affected rows, features or values. */
  readonly count?: number
  /** The first affected ones, at most ten: row numbers from 1, or names. */
  readonly examples?: (number | string)[]
}

/** Maximum number of examples of a warning. */
const MOST_EXAMPLES = 10

/** Collects warnings: one per code, with a count and the first examples. */
export class Warnings {
  readonly #byCode = new Map<string, { message: string; count: number; examples: (number | string)[] }>()

  /** Counts one more of a kind; the message of the first stays. */
  count(code: string, message: string, example?: number | string): void {
    const found = this.#byCode.get(code) ?? { message, count: 0, examples: [] }
    this.#byCode.set(code, found)
    found.count++
    const { examples } = found
    if (example !== undefined && examples.length < MOST_EXAMPLES && !examples.includes(example)) examples.push(example)
  }

  /** Counts some more of a kind, if there are any. */
  addUp(code: string, message: string, count: number, examples: readonly (number | string)[] = []): void {
    const before = this.#byCode.get(code) ?? { message, count: 0, examples: [] }
    if (count > 0) this.add(code, before.message, before.count + count, [...before.examples, ...examples])
  }

  /** Sets the warning of a code: about one thing only (count 0), or with a count that is already known. */
  add(code: string, message: string, count = 0, examples: readonly (number | string)[] = []): void {
    this.#byCode.set(code, { message, count, examples: examples.slice(0, MOST_EXAMPLES) })
  }

  /** All warnings so far; `layer` is their common layer. */
  list(layer?: string): Warning[] {
    return [...this.#byCode].map(([code, { message, count, examples }]) => ({
      code,
      message,
      ...(layer !== undefined && { layer }),
      ...(count > 0 && { count }),
      ...(examples.length > 0 && { examples }),
    }))
  }

  /** The warnings since the last call; `layer` is their common layer. */
  take(layer?: string): Warning[] {
    const list = this.list(layer)
    this.#byCode.clear()
    return list
  }
}
