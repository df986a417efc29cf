const CLEAR = 256
const END = 257
const FIRST = 258
const CODES = 4096

/**
 * A reusable decoder of TIFF's LZW with its own tables; not re-entrant. Each code is a run of bytes in the output so
 * far, so the dictionary has a start and a length per code. Strings are copied in ascending order, because the last
 * byte of a string may be the first one of its copy.
 *
 * Source: TIFF 6.0 section 13 (codes from the most significant bit, width changes one code early).
 */
export function createLzwDecoder(): (source: Uint8Array, target: Uint8Array) => number {
  const starts = new Uint32Array(CODES)
  const lengths = new Uint16Array(CODES)
  /** Fills `target` and returns the bytes written, fewer when the stream ends early, -1 when it is not LZW. */
  return (source, target) => decode(source, target, starts, lengths)
}

function decode(source: Uint8Array, target: Uint8Array, starts: Uint32Array, lengths: Uint16Array): number {
  const size = target.length
  const end = source.length
  let read = 0
  let written = 0
  let bits = 0
  let available = 0
  let width = 9
  let next = FIRST
  let previousStart = 0
  let previousLength = 0
  while (written < size) {
    while (available < width) {
      if (read === end) return written
      bits = (bits << 8) | (source[read++] as number)
      available += 8
    }
    available -= width
    const code = (bits >>> available) & ((1 << width) - 1)
    if (code === CLEAR) {
      width = 9
      next = FIRST
      previousLength = 0
      continue
    }
    if (code === END) return written
    if (previousLength !== 0 && next < CODES) {
      starts[next] = previousStart
      lengths[next++] = previousLength + 1
      if (next + 1 >= 1 << width && width < 12) width++
    }
    previousStart = written
    if (code < CLEAR) {
      previousLength = 1
      target[written++] = code
      continue
    }
    if (code >= next) return -1
    let from = starts[code] as number
    previousLength = lengths[code] as number
    const stop = Math.min(size, written + previousLength)
    while (written < stop) target[written++] = target[from++] as number
  }
  return written
}
