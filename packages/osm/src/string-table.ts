import { growUint32 } from './grow.ts'

/** The strings of one block: kept as bytes, decoded on first use. */
export class StringTable {
  #bytes: Buffer = Buffer.alloc(0)
  #starts = new Uint32Array(0)
  #ends = new Uint32Array(0)
  #decoded: (string | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** String `index`; the empty string for an index beyond the table. */
  get(index: number): string {
    const known = this.#decoded[index]
    if (known !== undefined) return known
    if (index >= this.#size) return ''
    const text = this.#bytes.toString('utf8', this.#starts[index], this.#ends[index])
    this.#decoded[index] = text
    return text
  }

  /** Starts again with the bytes of a block. */
  reset(bytes: Uint8Array): void {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#decoded = []
    this.#size = 0
  }

  /** Adds the string that the block's bytes hold between two offsets. */
  addBytes(start: number, end: number): void {
    const at = this.#size++
    if (at === this.#starts.length) {
      this.#starts = growUint32(this.#starts, at + 1)
      this.#ends = growUint32(this.#ends, at + 1)
    }
    this.#starts[at] = start
    this.#ends[at] = end
  }

  /** Adds a string that is decoded already; returns its index. */
  addText(text: string): number {
    this.#decoded[this.#size] = text
    return this.#size++
  }
}
