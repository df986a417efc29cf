// LZ4 frames (version 1.6.4 of the frame format) around blocks (version 1.5.1), as Arrow compresses its buffers. Blocks may
// refer to those before them, which libraries for single blocks cannot follow.
const MAGIC = 0x184d2204
const HAS_DICTIONARY = 1
const HAS_CONTENT_SIZE = 8
const HAS_BLOCK_CHECKSUMS = 16
const UNCOMPRESSED = 0x80000000
const LEAST_MATCH = 4
const LONG = 15

/**
 * Unpacks a frame of at most `maxBytes`.
 *
 * @throws RangeError for a damaged or larger frame
 */
export function unpackLz4Frame(input: Uint8Array, maxBytes: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  if (input.length < 7 || view.getUint32(0, true) !== MAGIC) throw new RangeError('no LZ4 frame')
  const flags = input[4]!
  let at = 7 + (flags & HAS_CONTENT_SIZE ? 8 : 0) + (flags & HAS_DICTIONARY ? 4 : 0)
  const output = new Output(maxBytes)
  for (;;) {
    const head = view.getUint32(at, true)
    at += 4
    if (head === 0) return output.taken()
    const size = (head & ~UNCOMPRESSED) >>> 0
    if (at + size > input.length) throw new RangeError('the LZ4 frame ends early')
    const block = input.subarray(at, at + size)
    if (head & UNCOMPRESSED) output.literals(block)
    else unpackBlock(block, output)
    at += size + (flags & HAS_BLOCK_CHECKSUMS ? 4 : 0)
  }
}

function unpackBlock(block: Uint8Array, output: Output): void {
  let at = 0
  const length = (start: number): number => {
    let total = start
    if (start !== LONG) return total
    let byte: number
    do {
      byte = block[at++] ?? 0
      total += byte
    } while (byte === 255)
    return total
  }
  while (at < block.length) {
    const token = block[at++]!
    const literals = length(token >> 4)
    if (at + literals > block.length) throw new RangeError('the LZ4 block ends early')
    output.literals(block.subarray(at, at + literals))
    at += literals
    if (at >= block.length) return
    const distance = block[at]! | (block[at + 1]! << 8)
    at += 2
    output.match(distance, length(token & LONG) + LEAST_MATCH)
  }
}

class Output {
  readonly #maxBytes: number
  #bytes = new Uint8Array(1 << 16)
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  taken(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  literals(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#size)
    this.#size += bytes.length
  }

  /** Copies bytes from `distance` bytes ago; the copy may overlap its own output. */
  match(distance: number, length: number): void {
    if (distance === 0 || distance > this.#size) throw new RangeError('an LZ4 match begins before the data')
    this.#reserve(length)
    const bytes = this.#bytes
    const end = this.#size + length
    if (distance >= length) bytes.copyWithin(this.#size, this.#size - distance, end - distance)
    else for (let i = this.#size; i < end; i++) bytes[i] = bytes[i - distance]!
    this.#size = end
  }

  #reserve(count: number): void {
    const needed = this.#size + count
    if (needed > this.#maxBytes) throw new RangeError(`LZ4 data of more than ${this.#maxBytes} bytes`)
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.taken())
    this.#bytes = larger
  }
}
