/**
 * Decompresses PackBits into `target`; returns the bytes written, fewer when the stream ends early.
 *
 * Source: TIFF 6.0 section 9.
 */
export function decodePackBits(source: Uint8Array, target: Uint8Array): number {
  let read = 0
  let written = 0
  while (read < source.length && written < target.length) {
    const head = source[read++] as number
    if (head < 128) {
      const literal = source.subarray(read, Math.min(read + head + 1, read + target.length - written))
      target.set(literal, written)
      read += head + 1
      written += literal.length
    } else if (head > 128 && read < source.length) {
      const stop = Math.min(target.length, written + 257 - head)
      target.fill(source[read++] as number, written, stop)
      written = stop
    }
  }
  return written
}
