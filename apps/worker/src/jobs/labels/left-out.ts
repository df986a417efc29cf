import type { JobWarning } from '@terrane/contracts'

/** Longest name of a class, in characters. */
export const MAX_CLASS_NAME = 100
export const WITHOUT_CLASS = `Examples without a class, or with one of more than ${MAX_CLASS_NAME} characters or with control characters, were left out.`

/** Counts of left-out examples by code, with the first names. */
export class LeftOut {
  readonly #counts = new Map<string, { message: string; count: number; examples: (string | number)[] }>()

  add(code: string, message: string, count: number, examples: readonly (string | number)[] = []): void {
    if (count === 0) return
    const there = this.#counts.get(code) ?? { message, count: 0, examples: [] }
    there.count += count
    there.examples = [...there.examples, ...examples].slice(0, 10)
    this.#counts.set(code, there)
  }

  get warnings(): JobWarning[] {
    return [...this.#counts].map(([code, { examples, ...rest }]) => ({
      code,
      ...rest,
      ...(examples.length > 0 && { examples }),
    }))
  }
}
