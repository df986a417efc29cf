/** Type as which the values of a scanned column are read. */
export type ScanType = 'int8' | 'float8' | 'bool' | 'text' | 'bytes'

/** A column of a scan: an SQL expression, cast to its type. */
export interface ScanColumn {
  readonly sql: string
  readonly type: ScanType
}

/** Byte strings back to back; a range without bytes is a null or an empty string. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** End of each string in `bytes`. */
  readonly ends: Uint32Array<ArrayBuffer>
}

/** Values of a column: `int8` as numbers, or bigints beyond 2^53; `bytes` packed; null where SQL has null. */
export type ScanValues = readonly (number | bigint | boolean | string | null)[] | PackedBytes

export interface ScanBatch {
  readonly rows: number
  /** In the order of the requested columns. */
  readonly columns: readonly ScanValues[]
}

/** Collects the values of one column. */
export class ColumnBuilder {
  readonly type: ScanType
  values: (number | bigint | boolean | string | null)[] = []
  #bytes = new Uint8Array(0)
  #size = 0
  #ends: number[] = []

  constructor(type: ScanType) {
    this.type = type
  }

  /** Adds bytes, or a null for no bytes. */
  addBytes(source: Uint8Array | null): void {
    if (source) {
      this.#reserve(source.length)
      this.#bytes.set(source, this.#size)
      this.#size += source.length
    }
    this.#ends.push(this.#size)
  }

  /** Returns the added values, in memory of their own. */
  take(): ScanValues {
    if (this.type !== 'bytes') {
      const { values } = this
      this.values = []
      return values
    }
    const packed = { bytes: this.#bytes.subarray(0, this.#size), ends: new Uint32Array(this.#ends) }
    this.#bytes = new Uint8Array(0)
    this.#size = 0
    this.#ends = []
    return packed
  }

  #reserve(more: number): void {
    if (this.#size + more <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#size + more, this.#bytes.length * 2, 1 << 16))
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}

/** A bigint as a number where that is exact. */
export function narrowed(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}
