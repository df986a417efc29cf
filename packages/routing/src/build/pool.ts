/** Maximum number of cached keys: a `Map` throws at 2²⁴, and rare values need no sharing. */
const MOST_KEYS = 2 ** 20

/** Numbered values that are created once per key, as far as keys are cached. */
export class Pool<T> {
  readonly values: T[] = []
  readonly #numbers = new Map<string, number>()

  number(key: string, make: () => T): number {
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.values.push(make()) - 1
      if (this.#numbers.size >= MOST_KEYS) this.#numbers.clear()
      this.#numbers.set(key, number)
    }
    return number
  }
}
