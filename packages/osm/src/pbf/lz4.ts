import { osmMalformed } from '../errors.ts'

/**
 * Decompresses one raw LZ4 block of known size.
 *
 * Source: "LZ4 Block Format Description", lz4/lz4.
 * @throws OSM_MALFORMED when the block does not decompress to exactly `size` bytes
 */
export function lz4Decompress(input: Uint8Array, size: number): Uint8Array {
  const output = new Uint8Array(size)
  let from = 0
  let to = 0
  while (from < input.length) {
    const token = input[from++]!
    let literals = token >>> 4
    if (literals === 15) {
      let byte = 255
      while (byte === 255) {
        byte = input[from++] ?? fail()
        literals += byte
      }
    }
    if (from + literals > input.length || to + literals > size) fail()
    output.set(input.subarray(from, from + literals), to)
    from += literals
    to += literals
    // The last sequence has literals only.
    if (from === input.length) break
    const distance = input[from]! | ((input[from + 1] ?? fail()) << 8)
    from += 2
    let length = (token & 15) + 4
    if (length === 19) {
      let byte = 255
      while (byte === 255) {
        byte = input[from++] ?? fail()
        length += byte
      }
    }
    if (distance === 0 || distance > to || to + length > size) fail()
    // A match may overlap its own output, so it is copied byte by byte instead of by copyWithin.
    for (let end = to + length; to < end; to++) output[to] = output[to - distance]!
  }
  if (to !== size) fail()
  return output
}

function fail(): never {
  throw osmMalformed({ what: 'an lz4 block is damaged' })
}
