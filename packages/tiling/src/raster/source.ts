/**
 * Random access to the bytes of one raster file. Reads are synchronous, because a decoding worker thread reads them,
 * and a read from the page cache is faster than a promise.
 */
export interface ByteSource {
  /** Length in bytes. */
  readonly size: number
  /** The bytes `[offset, offset + length)`, cut at the end of the source, in memory that the caller owns. */
  read(offset: number, length: number): Uint8Array
}

/** A source over bytes in memory. */
export function bufferSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.byteLength,
    read: (offset, length) => new Uint8Array(bytes.subarray(offset, offset + length)),
  }
}
