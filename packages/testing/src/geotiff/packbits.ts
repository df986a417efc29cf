/** PackBits: runs of three bytes or more as a pair, everything else literally. Source: TIFF 6.0 section 9. */
export function encodePackBits(source: Uint8Array): Uint8Array {
  const bytes: number[] = []
  for (let at = 0; at < source.length;) {
    const run = runAt(source, at)
    if (run >= 3) {
      bytes.push(257 - run, source[at] as number)
      at += run
      continue
    }
    const start = at
    while (at < source.length && at - start < 128 && runAt(source, at) < 3) at++
    bytes.push(at - start - 1, ...source.subarray(start, at))
  }
  return Uint8Array.from(bytes)
}

function runAt(source: Uint8Array, at: number): number {
  let end = at
  while (end < source.length && end - at < 128 && source[end] === source[at]) end++
  return end - at
}
