type Numbers = Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>

/** A growing typed array. A JavaScript array takes 8 bytes per number and is limited to 2²⁷ of them. */
abstract class NumberList<T extends Numbers> {
  length = 0
  #array: T

  constructor(array: T) {
    this.#array = array
    this.length = array.length
  }

  protected abstract over(buffer: ArrayBuffer): T

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
    const taken = this.over(buffer.transfer(this.length * BYTES_PER_ELEMENT))
    this.#array = this.over(new ArrayBuffer(0))
    this.length = 0
    return taken
  }

  #grow(length: number): void {
    const { buffer, BYTES_PER_ELEMENT } = this.#array
    const room = Math.max(length, Math.ceil(this.#array.length * 1.5), 64)
    this.#array = this.over(buffer.transfer(room * BYTES_PER_ELEMENT))
  }
}

export class Float64List extends NumberList<Float64Array<ArrayBuffer>> {
  constructor() {
    super(new Float64Array())
  }

  protected over(buffer: ArrayBuffer): Float64Array<ArrayBuffer> {
    return new Float64Array(buffer)
  }
}

export class Uint32List extends NumberList<Uint32Array<ArrayBuffer>> {
  constructor(values: readonly number[] = []) {
    super(Uint32Array.from(values))
  }

  protected over(buffer: ArrayBuffer): Uint32Array<ArrayBuffer> {
    return new Uint32Array(buffer)
  }
}

export class Int32List extends NumberList<Int32Array<ArrayBuffer>> {
  protected over(buffer: ArrayBuffer): Int32Array<ArrayBuffer> {
    return new Int32Array(buffer)
  }
}

export class Uint16List extends NumberList<Uint16Array<ArrayBuffer>> {
  constructor() {
    super(new Uint16Array())
  }

  protected over(buffer: ArrayBuffer): Uint16Array<ArrayBuffer> {
    return new Uint16Array(buffer)
  }
}
