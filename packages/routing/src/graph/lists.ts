type Numbers = Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>

/** A growing typed array. A JavaScript array takes 8 bytes per number and is limited to 2²⁷ of them. */
export class NumberList<T extends Numbers> {
  length: number
  readonly #over: new (buffer: ArrayBuffer) => T
  #array: T

  /** @param array the first numbers, in the type of the list */
  constructor(array: T) {
    this.#over = array.constructor as new (buffer: ArrayBuffer) => T
    this.#array = array
    this.length = array.length
  }

  push(value: number): void {
    if (this.length === this.#array.length) this.#grow(this.length + 1)
    this.#array[this.length++] = value
  }

  append(values: T): void {
    const length = this.length + values.length
    if (length > this.#array.length) this.#grow(length)
    this.#array.set(values, this.length)
    this.length = length
  }

  /** Returns the numbers in a new array and empties the list. */
  take(): T {
    const { buffer, BYTES_PER_ELEMENT } = this.#array
    const taken = new this.#over(buffer.transfer(this.length * BYTES_PER_ELEMENT))
    this.#array = new this.#over(new ArrayBuffer(0))
    this.length = 0
    return taken
  }

  #grow(length: number): void {
    const { buffer, BYTES_PER_ELEMENT } = this.#array
    const room = Math.max(length, Math.ceil(this.#array.length * 1.5), 64)
    this.#array = new this.#over(buffer.transfer(room * BYTES_PER_ELEMENT))
  }
}
