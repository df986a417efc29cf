import { type OnProgress, seededRandom } from '@terrane/core'

import { notEnoughRegions } from '../errors.ts'
import { Encoder } from './encoder.ts'
import type { Ring } from './neighbourhood.ts'
import type { SparseCounts } from './sparse-counts.ts'

export interface Hex2VecOptions {
  /**
   * Rings 1, 2, … around each cell: cells of the first ring are positive samples, and no cell of any ring is a negative
   * one.
   */
  readonly rings: readonly Ring[]
  /** Sizes of the layers; the last is the length of an embedding. */
  readonly layers: readonly number[]
  /** Passes over all pairs of neighbours. */
  readonly epochs: number
  readonly batch: number
  readonly learningRate: number
  readonly seed: number
  readonly onProgress?: OnProgress | undefined
}

export interface Hex2VecResult {
  /** `rows · dims`. */
  readonly embeddings: Float32Array
  readonly dims: number
  /** Mean loss of each epoch. */
  readonly losses: readonly number[]
  /** All weights of the encoder. */
  readonly learned: Encoder['parameters']
}

/**
 * Learns embeddings in which neighbouring cells have a large dot product and cells far apart a small one: an encoder
 * of counts, trained on triples (cell, neighbour, cell that is not near) by binary cross-entropy. The same seed gives
 * the same numbers.
 *
 * Source: Woźniak and Szymański, Hex2Vec (2021); parameters as in srai.
 *
 * @throws NOT_ENOUGH_REGIONS
 */
export function trainHex2Vec(counts: SparseCounts, options: Hex2VecOptions): Hex2VecResult {
  const random = seededRandom(options.seed)
  const encoder = new Encoder(counts, options.layers, random)
  const pairs = new NeighbourPairs(counts.rows, options.rings)
  const trainer = new TripleTrainer(encoder)
  const losses: number[] = []
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    pairs.shuffle(random)
    let loss = 0
    for (let start = 0; start < pairs.count; start += options.batch) {
      const end = Math.min(start + options.batch, pairs.count)
      const share = 1 / (2 * (end - start))
      for (let at = start; at < end; at++) {
        const cell = pairs.cells[at]!
        loss += trainer.learn(cell, pairs.neighbours[at]!, pairs.farFrom(cell, random), share)
      }
      encoder.step(options.learningRate)
      const isLast = end === pairs.count
      if (!isLast && (start / options.batch) % REPORT_EVERY !== 0) continue
      options.onProgress?.({
        phase: 'train',
        done: epoch * pairs.count + end,
        total: options.epochs * pairs.count,
        unit: 'pairs',
        message: `epoch ${epoch + 1}: loss ${(loss / (2 * end)).toFixed(4)}`,
      })
    }
    losses.push(loss / (2 * pairs.count))
  }
  return { embeddings: encodeAll(encoder, counts.rows), dims: encoder.dims, losses, learned: encoder.parameters }
}

/** Number of batches between reports of progress. */
const REPORT_EVERY = 256

function encodeAll(encoder: Encoder, rows: number): Float32Array {
  const out = new Float32Array(rows * encoder.dims)
  const activations = encoder.allocate()
  for (let row = 0; row < rows; row++) out.set(encoder.forward(row, activations), row * encoder.dims)
  return out
}

/** All ordered pairs of neighbours, and the sampling of cells that are not near. */
class NeighbourPairs {
  readonly cells: Uint32Array
  readonly neighbours: Uint32Array
  readonly #rows: number
  readonly #rings: readonly Ring[]

  constructor(rows: number, rings: readonly Ring[]) {
    const first = rings[0]!
    const near = (row: number): number => rings.reduce((sum, { start }) => sum + start[row + 1]! - start[row]!, 1)
    this.#rows = rows
    this.#rings = rings
    // Each cell needs a cell outside of its rings, else no triple can be drawn.
    const lonely = Array.from({ length: rows }, (_, row) => row).some((row) => near(row) >= rows)
    if (first.items.length === 0 || lonely) throw notEnoughRegions({ cells: rows })
    this.neighbours = first.items.slice()
    this.cells = new Uint32Array(first.items.length)
    for (let row = 0; row < rows; row++) this.cells.fill(row, first.start[row], first.start[row + 1])
  }

  get count(): number {
    return this.cells.length
  }

  /** Shuffles by the algorithm of Fisher and Yates. */
  shuffle(random: () => number): void {
    for (let i = this.count - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1))
      swap(this.cells, i, j)
      swap(this.neighbours, i, j)
    }
  }

  farFrom(cell: number, random: () => number): number {
    for (;;) {
      const candidate = Math.floor(random() * this.#rows)
      if (candidate !== cell && !this.#rings.some((ring) => isIn(ring, cell, candidate))) return candidate
    }
  }
}

/** Forward and backward over one triple. */
class TripleTrainer {
  readonly #encoder: Encoder
  readonly #anchor: ReturnType<Encoder['allocate']>
  readonly #near: ReturnType<Encoder['allocate']>
  readonly #far: ReturnType<Encoder['allocate']>
  readonly #gradients: readonly Float64Array[]
  readonly #anchorGradient: Float64Array

  constructor(encoder: Encoder) {
    this.#encoder = encoder
    this.#anchor = encoder.allocate()
    this.#near = encoder.allocate()
    this.#far = encoder.allocate()
    this.#gradients = encoder.allocate().layers
    this.#anchorGradient = new Float64Array(encoder.dims)
  }

  /** Adds the gradients of a triple, each weighted by `share`; returns its loss. */
  learn(cell: number, neighbour: number, far: number, share: number): number {
    const anchor = this.#encoder.forward(cell, this.#anchor)
    this.#anchorGradient.fill(0)
    let loss = 0
    for (const [row, memory, label] of [
      [neighbour, this.#near, 1],
      [far, this.#far, 0],
    ] as const) {
      const other = this.#encoder.forward(row, memory)
      let score = 0
      for (let d = 0; d < other.length; d++) score += anchor[d]! * other[d]!
      // log(1 + e^x) without overflow
      loss += Math.max(score, 0) - score * label + Math.log1p(Math.exp(-Math.abs(score)))
      const slope = (1 / (1 + Math.exp(-score)) - label) * share
      const last = this.#gradients.at(-1)!
      for (let d = 0; d < other.length; d++) {
        last[d] = slope * anchor[d]!
        this.#anchorGradient[d]! += slope * other[d]!
      }
      this.#encoder.backward(memory, this.#gradients)
    }
    this.#gradients.at(-1)!.set(this.#anchorGradient)
    this.#encoder.backward(this.#anchor, this.#gradients)
    return loss
  }
}

function isIn({ start, items }: Ring, cell: number, candidate: number): boolean {
  for (let at = start[cell]!; at < start[cell + 1]!; at++) if (items[at] === candidate) return true
  return false
}

function swap(list: Uint32Array, i: number, j: number): void {
  const kept = list[i]!
  list[i] = list[j]!
  list[j] = kept
}
