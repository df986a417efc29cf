import { growFloat64 } from '../grow.ts'

/**
 * Tells whether an id comes for the first time. As long as ids ascend, as they do in a sorted file, that costs a
 * comparison and 8 bytes; with the first one out of order a set takes over.
 */
export class Once {
  #ids = new Float64Array(256)
  #count = 0
  #last = -Infinity
  #set: Set<number> | null = null

  first(id: number): boolean {
    if (!this.#set && id > this.#last) {
      this.#ids = growFloat64(this.#ids, this.#count + 1)
      this.#ids[this.#count++] = this.#last = id
      return true
    }
    this.#set ??= new Set(this.#ids.subarray(0, this.#count))
    if (this.#set.has(id)) return false
    this.#set.add(id)
    return true
  }
}
