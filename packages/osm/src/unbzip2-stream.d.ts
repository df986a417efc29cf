declare module 'unbzip2-stream/lib/bit_iterator.js' {
  /** Reads the given number of bits; null skips to the next whole byte. */
  interface BitReader {
    (bits: number | null): number
    readonly bytesRead: number
  }
  export default function bitIterator(next: () => Uint8Array | undefined): BitReader
}

declare module 'unbzip2-stream/lib/bzip2.js' {
  import type { BitReader } from 'unbzip2-stream/lib/bit_iterator.js'

  const bzip2: {
    /** Size of the blocks of a stream, in units of 100,000 bytes. */
    header(reader: BitReader): number
    /** Unpacks a block byte by byte. Returns the current checksum; null after the last block of a stream. */
    decompress(
      reader: BitReader,
      take: (byte: number) => void,
      memory: Int32Array,
      size: number,
      checksum: number | null,
    ): number | null
  }
  export default bzip2
}
