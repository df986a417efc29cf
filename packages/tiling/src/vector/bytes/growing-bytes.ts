/** A byte buffer that grows: `ensure(n)`, write at `at`, move `at`. */
export class GrowingBytes {
  bytes: Uint8Array
  at = 0

  constructor(capacity = 1 << 12) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Makes room for `more` bytes after `at`; earlier references to `bytes` may become invalid. */
  ensure(more: number): void {
    const wanted = this.at + more
    if (wanted <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(wanted, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.at))
    this.bytes = grown
  }

  /** Appends `source[start, end)`. */
  append(source: Uint8Array, start: number, end: number): void {
    this.ensure(end - start)
    copyBytes(this.bytes, this.at, source, start, end)
    this.at += end - start
  }

  /** The written part, not copied. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.at)
  }
}

/** Copies `source[start, end)`; byte by byte when that is faster than creating a view. */
export function copyBytes(target: Uint8Array, at: number, source: Uint8Array, start: number, end: number): void {
  if (end - start > 48) target.set(source.subarray(start, end), at)
  else for (let i = start; i < end; i++) target[at++] = source[i]!
}
