const CLEAR = 256
const END = 257
const FIRST = 258
const LAST = 4093

/** TIFF's LZW: codes from the most significant bit, the width grows one code early. Source: TIFF 6.0 section 13. */
export function encodeLzw(source: Uint8Array): Uint8Array {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  let width = 9
  const put = (code: number): void => {
    bits = (bits << width) | code
    held += width
    while (held >= 8) bytes.push((bits >>> (held -= 8)) & 255)
    bits &= (1 << held) - 1
  }
  let codes = new Map<number, number>()
  let next = FIRST
  let prefix = -1
  put(CLEAR)
  for (const byte of source) {
    const known = prefix === -1 ? byte : codes.get(prefix * 256 + byte)
    if (known !== undefined) {
      prefix = known
      continue
    }
    put(prefix)
    codes.set(prefix * 256 + byte, next++)
    prefix = byte
    if (next > LAST) {
      put(CLEAR)
      codes = new Map()
      next = FIRST
      width = 9
    } else if (next >= 1 << width) width++
  }
  if (prefix !== -1) put(prefix)
  // The decoder has added an entry for the last string, too.
  if (prefix !== -1 && next + 1 >= 1 << width && width < 12) width++
  put(END)
  if (held > 0) bytes.push((bits << (8 - held)) & 255)
  return Uint8Array.from(bytes)
}
