import { find, type HierarchyTopology } from './topology.ts'

/** Arcs whose kept ones are counted together. */
const BLOCK = 128
const WORD = 32
const WORDS_OF_A_BLOCK = BLOCK / WORD

/** Numbers in as few bytes as the largest of them takes: the lower 16 bits, and what is above them. */
export interface Narrow {
  readonly low: Uint16Array
  /** Of 8 bits where all are below 2²⁴, else of 16. */
  readonly high: Uint8Array | Uint16Array
}

/** The number at a place of narrow ones. */
export function numberAt({ low, high }: Narrow, at: number): number {
  return low[at]! | (high[at]! << 16)
}

/** @param values from 0 to 2³¹ − 1 */
function narrow(values: Int32Array): Narrow {
  const low = new Uint16Array(values.length)
  let most = 0
  for (const value of values) most = Math.max(most, value)
  const high = most < 2 ** 24 ? new Uint8Array(values.length) : new Uint16Array(values.length)
  for (const [i, value] of values.entries()) {
    low[i] = value & 0xffff
    high[i] = value >>> 16
  }
  return { low, high }
}

/**
 * One direction of a customized hierarchy: those arcs of the topology that some cheapest path needs, numbered in its order.
 * Heads are the topology's; an arc that is left out costs a bit.
 */
export interface SearchArcs {
  /** A bit per arc of the topology. */
  readonly kept: Uint32Array
  /** Kept arcs before each block of 128. */
  readonly before: Uint32Array
  /** By number of the kept arc. */
  readonly weight: Narrow
  /** The lower rank that the arc bypasses, plus one; 0 for an arc of the input graph. */
  readonly middle: Narrow
}

/** Takes the arcs of a topology that are to be kept. */
export function searchArcs(kept: Uint32Array, weights: Int32Array, middles: Int32Array): SearchArcs {
  const before = new Uint32Array(Math.ceil(kept.length / WORDS_OF_A_BLOCK))
  let count = 0
  for (let word = 0; word < kept.length; word++) {
    if (word % WORDS_OF_A_BLOCK === 0) before[word / WORDS_OF_A_BLOCK] = count
    count += ones(kept[word]!)
  }
  return { kept, before, weight: narrow(weights), middle: narrow(middles) }
}

/** Bits for so many arcs. */
export function bitsFor(arcs: number): Uint32Array {
  return new Uint32Array(Math.ceil(arcs / WORD))
}

/** How many arcs before one of the topology are kept, which is its number if it is kept itself. */
export function keptBefore({ kept, before }: SearchArcs, arc: number): number {
  const word = arc >>> 5
  let count = before[arc >>> 7]!
  for (let i = (arc >>> 7) * WORDS_OF_A_BLOCK; i < word; i++) count += ones(kept[i]!)
  return (arc & 31) === 0 ? count : count + ones(kept[word]! & ((1 << (arc & 31)) - 1))
}

/** Number of the kept arc between a rank and a higher one, which must be there. */
export function keptArc(arcs: SearchArcs, { firstUp, upHead }: UpperArcs, low: number, high: number): number {
  return keptBefore(arcs, find(upHead, firstUp[low]!, firstUp[low + 1]!, high))
}

/** The part of a topology that queries read. */
export type UpperArcs = Pick<HierarchyTopology, 'firstUp' | 'upHead'>

/** How many bits of a word are set (Warren, "Hacker's Delight", section 5-1). */
function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
