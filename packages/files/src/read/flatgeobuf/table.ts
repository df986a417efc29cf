/** Position of a vector in a FlatBuffers table: offset of its first element, and number of elements. */
export interface VectorAt {
  readonly at: number
  readonly length: number
}

const NO_VECTOR: VectorAt = { at: 0, length: 0 }
const utf8 = new TextDecoder()

/**
 * A table of FlatBuffers (https://flatbuffers.dev/internals), little-endian: fields are found by their slot; a missing
 * field has its default. Reading beyond the bytes throws a RangeError.
 */
export class Table {
  readonly view: DataView
  readonly #at: number
  readonly #slots: number
  readonly #slotsEnd: number

  /** @param at offset of the table */
  constructor(view: DataView, at: number) {
    this.view = view
    this.#at = at
    this.#slots = at - view.getInt32(at, true)
    this.#slotsEnd = this.#slots + view.getUint16(this.#slots, true)
  }

  /** The table at the offset that is stored at `at`. */
  static from(view: DataView, at: number): Table {
    return new Table(view, at + view.getUint32(at, true))
  }

  byte(slot: number, otherwise = 0): number {
    const at = this.#find(slot)
    return at === 0 ? otherwise : this.view.getUint8(at)
  }

  short(slot: number, otherwise: number): number {
    const at = this.#find(slot)
    return at === 0 ? otherwise : this.view.getUint16(at, true)
  }

  int(slot: number): number {
    const at = this.#find(slot)
    return at === 0 ? 0 : this.view.getInt32(at, true)
  }

  /** A whole number of 64 bits; one past 2^53 is rounded. */
  long(slot: number): number {
    const at = this.#find(slot)
    return at === 0 ? 0 : Number(this.view.getBigUint64(at, true))
  }

  text(slot: number): string | null {
    const { at, length } = this.vector(slot, 1)
    return at === 0 ? null : utf8.decode(bytesAt(this.view, at, length))
  }

  table(slot: number): Table | null {
    const at = this.#find(slot)
    return at === 0 ? null : Table.from(this.view, at)
  }

  /** A vector with elements of a size in bytes; a missing one is empty, at offset 0. */
  vector(slot: number, bytes: number): VectorAt {
    const field = this.#find(slot)
    if (field === 0) return NO_VECTOR
    const start = field + this.view.getUint32(field, true)
    const length = this.view.getUint32(start, true)
    if (start + 4 + length * bytes > this.view.byteLength) throw new RangeError('a vector goes beyond its bytes')
    return { at: start + 4, length }
  }

  *tables(slot: number): Generator<Table> {
    const { at, length } = this.vector(slot, 4)
    for (let i = 0; i < length; i++) yield Table.from(this.view, at + 4 * i)
  }

  #find(slot: number): number {
    const at = this.#slots + 4 + 2 * slot
    if (at >= this.#slotsEnd) return 0
    const offset = this.view.getUint16(at, true)
    return offset === 0 ? 0 : this.#at + offset
  }
}

/** Bytes of a view, not copied. */
export function bytesAt({ buffer, byteOffset, byteLength }: DataView, at: number, length: number): Uint8Array {
  if (at + length > byteLength) throw new RangeError('a value goes beyond its bytes')
  return new Uint8Array(buffer, byteOffset + at, length)
}
