import type { JobWarning } from '@terrane/contracts'
import { vectorsEmpty } from './errors.ts'

/** Vectors with fewer dimensions are not counted as constant, because their numbers may be equal by chance. */
const LEAST_DIMS = 8
/** Minimum rows for a warning about equal vectors, because a share of one half means nothing with fewer. */
const LEAST_ROWS = 3

/** Counts so far; plain data for a checkpoint. */
export interface VectorCountsState {
  readonly rows: number
  readonly zero: number
  readonly constant: number
  readonly alike: number
  readonly first: readonly number[] | null
}

const NONE: VectorCountsState = { rows: 0, zero: 0, constant: 0, alike: 0, first: null }

/** Counts vectors that are zero, the same number throughout, or equal to the raster's first one. */
export class VectorCounts {
  #state: VectorCountsState

  constructor(state: VectorCountsState | null | undefined) {
    this.#state = state ?? NONE
  }

  get state(): VectorCountsState {
    return this.#state
  }

  /** Counts the vectors of a batch, one after the other in `embeddings`. */
  add(embeddings: Float32Array, dims: number): void {
    let { rows, zero, constant, alike } = this.#state
    const first = this.#state.first ?? (embeddings.length > 0 ? Array.from(embeddings.subarray(0, dims)) : null)
    for (let at = 0; at + dims <= embeddings.length; at += dims) {
      rows++
      if (isFlat(embeddings, at, dims)) {
        if (embeddings[at] === 0) zero++
        if (embeddings[at] === 0 || dims >= LEAST_DIMS) constant++
      }
      if (first !== null && isSame(embeddings, at, first)) alike++
    }
    this.#state = { rows, zero, constant, alike, first }
  }

  /**
   * @param invalid number of vectors that were not added, because they contain NaN or infinity
   * @throws VECTORS_EMPTY when more than half of the vectors are zero, constant or invalid
   */
  check(invalid = 0): void {
    const { rows, constant } = this.#state
    if (2 * (constant + invalid) > rows + invalid)
      throw vectorsEmpty({ count: constant + invalid, rows: rows + invalid })
  }

  /** Warnings about vectors that no search finds, or that every search finds. */
  warnings(): JobWarning[] {
    const { rows, zero, alike } = this.#state
    const warnings: JobWarning[] = []
    if (zero > 0) {
      const message = `${zero} of ${rows} vectors are zero: no search finds them. Check nodata value, stretch and model.`
      warnings.push({ code: 'VECTORS_ZERO', message, count: zero })
    }
    if (rows >= LEAST_ROWS && 2 * alike > rows) {
      const message = `${alike} of ${rows} vectors are the same. Check nodata value, stretch and model.`
      warnings.push({ code: 'VECTORS_ALIKE', message, count: alike })
    }
    return warnings
  }
}

function isFlat(values: Float32Array, at: number, dims: number): boolean {
  for (let i = 1; i < dims; i++) if (values[at + i] !== values[at]) return false
  return true
}

function isSame(values: Float32Array, at: number, first: readonly number[]): boolean {
  for (let i = 0; i < first.length; i++) if (values[at + i] !== first[i]) return false
  return true
}
