import { UNREACHABLE } from '../search.ts'

/** Number of arcs of a topology per word of presence bits. */
const WORD = 32

/**
 * Data of the kept arcs of a word, in one buffer: the lower 16 bits of all weights, the higher bits, a byte per arc for
 * its middle, and the middles that do not fit into a byte. The upper two bits of `SearchArcs.index` give the width of
 * the parts: `Format`. Equal data of different metrics is stored once.
 */
export interface ArcPool {
  readonly words: Uint16Array
  /** The same memory as bytes. */
  readonly bytes: Uint8Array
}

/** Widths of the parts of a word's arcs. */
export const Format = {
  /** Weights of 16 bits, far middles of 16. */
  narrow: 0,
  /** Weights of 24 bits, far middles of 16. */
  wide: 1,
  /** Weights of 24 bits, far middles of 32. */
  wider: 2,
  /** Weights and far middles of 32 bits. */
  widest: 3,
} as const

/** An offset in 16-bit words, below the format. */
export const OFFSET = 2 ** 30 - 1
export const FORMAT_SHIFT = 30
/** Byte value for a middle that is stored after the others. */
const FAR = 255

/**
 * One direction of a customized hierarchy: those arcs of the topology that some cheapest path needs. Heads are those of
 * the topology; a dropped arc takes one bit.
 */
export interface SearchArcs {
  /** For each 32 arcs of the topology a bit per kept arc, then the format and offset of their data. */
  readonly index: Uint32Array
  readonly pool: ArcPool
}

/** The weights of one direction of a metric, and the middles of its shortcuts. */
export interface CustomizedArcs {
  /** Weight by arc of the topology; `UNREACHABLE` where the arc is left out. */
  readonly weight: Int32Array
  /** Distance in ranks of an arc's middle below its lower rank; 0 for an arc of the input graph. */
  readonly middle: Int32Array
}

/** Collects and packs the arcs of metrics. */
export class ArcPacker {
  #words = new Uint16Array(2 ** 16)
  #size = 0
  readonly #weight = new Int32Array(WORD)
  readonly #middle = new Int32Array(WORD)

  /** @param pool an existing pool to extend */
  constructor(pool?: ArcPool) {
    if (pool === undefined) return
    this.#words = pool.words.slice()
    this.#size = pool.words.length
  }

  /**
   * Adds the arcs of a direction.
   *
   * @param like the index of a similar direction whose arcs are in the pool
   * @returns their index
   */
  add({ weight, middle }: CustomizedArcs, like?: Uint32Array): Uint32Array {
    const index = new Uint32Array(2 * Math.ceil(weight.length / WORD))
    for (let word = 0; 2 * word < index.length; word++) {
      let kept = 0
      let count = 0
      for (let arc = WORD * word; arc < Math.min(weight.length, WORD * word + WORD); arc++) {
        if (weight[arc]! >= UNREACHABLE) continue
        kept |= 1 << (arc & 31)
        this.#weight[count] = weight[arc]!
        this.#middle[count++] = middle[arc]!
      }
      index[2 * word] = kept
      if (count === 0) continue
      const { format, length } = this.#write(count)
      const known = like !== undefined && like[2 * word] === kept >>> 0 ? like[2 * word + 1]! : null
      if (known !== null && known >>> FORMAT_SHIFT === format && this.#isAgainAt(known & OFFSET, length)) {
        index[2 * word + 1] = known
        continue
      }
      if (this.#size > OFFSET)
        throw new RangeError('A metric is beyond 2 GiB: the network is too large for one graph file.')
      index[2 * word + 1] = ((format << FORMAT_SHIFT) | this.#size) >>> 0
      this.#size += length
    }
    return index
  }

  /** All added data, in memory that the packer continues to use. */
  get words(): Uint16Array {
    return this.#words.subarray(0, this.#size)
  }

  /** All that was added. */
  pool(): ArcPool {
    return poolOf(this.words.slice())
  }

  /** Appends the arcs of a word. */
  #write(count: number): { format: number; length: number } {
    const weights = this.#weight
    const middles = this.#middle
    let heaviest = 0
    let farthest = 0
    let far = 0
    for (let i = 0; i < count; i++) {
      heaviest = Math.max(heaviest, weights[i]!)
      farthest = Math.max(farthest, middles[i]!)
      if (middles[i]! >= FAR) far++
    }
    const format = formatFor(heaviest, farthest)
    const farBytes = format < Format.wider ? 2 : 4
    const most = count * 5 + far * farBytes
    while (2 * this.#words.length < 2 * this.#size + most + 1) this.#words = grown(this.#words)
    const words = this.#words
    const bytes = new Uint8Array(words.buffer)
    for (let i = 0; i < count; i++) words[this.#size + i] = weights[i]! & 0xffff
    let at = 2 * (this.#size + count)
    for (let i = 0; i < count && format !== Format.narrow; i++) {
      bytes[at++] = (weights[i]! >>> 16) & 0xff
      if (format === Format.widest) bytes[at++] = weights[i]! >>> 24
    }
    for (let i = 0; i < count; i++) bytes[at++] = Math.min(FAR, middles[i]!)
    for (let i = 0; i < count; i++) {
      if (middles[i]! < FAR) continue
      for (let byte = 0; byte < farBytes; byte++) bytes[at++] = (middles[i]! >>> (8 * byte)) & 0xff
    }
    if (at % 2 === 1) bytes[at++] = 0
    return { format, length: at / 2 - this.#size }
  }

  #isAgainAt(offset: number, length: number): boolean {
    for (let i = 0; i < length; i++) if (this.#words[offset + i] !== this.#words[this.#size + i]) return false
    return true
  }
}

/** The pool of a buffer, or of a view of one. */
export function poolOf(words: Uint16Array): ArcPool {
  return { words, bytes: new Uint8Array(words.buffer, words.byteOffset, words.byteLength) }
}

/** Distance in ranks of a kept arc's middle below its lower rank; 0 for an arc of the input graph. */
export function middleOfArc(arcs: SearchArcs, arc: number): number {
  const kept = arcs.index[2 * (arc >>> 5)]!
  const place = arcs.index[2 * (arc >>> 5) + 1]!
  const format = place >>> FORMAT_SHIFT
  const before = ones(kept & ((1 << (arc & 31)) - 1))
  const { bytes } = arcs.pool
  const count = ones(kept)
  const first = 2 * (place & OFFSET) + count * (format === Format.narrow ? 2 : format === Format.widest ? 4 : 3)
  const near = bytes[first + before]!
  if (near < FAR) return near
  const farBytes = format < Format.wider ? 2 : 4
  let at = first + count
  for (let i = 0; i < before; i++) if (bytes[first + i] === FAR) at += farBytes
  const low = bytes[at]! | (bytes[at + 1]! << 8)
  return farBytes === 2 ? low : low | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function formatFor(heaviest: number, farthest: number): number {
  if (heaviest >= 2 ** 24) return Format.widest
  if (farthest >= 2 ** 16) return Format.wider
  return heaviest >= 2 ** 16 ? Format.wide : Format.narrow
}

function grown({ buffer, length }: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  return new Uint16Array(buffer.transfer(2 * Math.ceil(1.5 * length)))
}

/** Number of set bits of a word (Warren, "Hacker's Delight", section 5-1). */
export function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
