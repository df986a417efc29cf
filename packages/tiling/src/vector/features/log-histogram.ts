const STEPS_PER_OCTAVE = 8
const OCTAVES = 32

/** Counts positive lengths on a logarithmic scale: quantiles within 9 % without keeping the lengths. */
export class LogHistogram {
  readonly #bins = new Float64Array(OCTAVES * STEPS_PER_OCTAVE)
  #count = 0

  /** Counts a length of at least 1. */
  add(length: number): void {
    this.#bins[Math.min(this.#bins.length - 1, Math.floor(Math.log2(length) * STEPS_PER_OCTAVE))]!++
    this.#count++
  }

  /** The length below which the fraction `q` of all lengths lies, or null when there are none. */
  quantile(q: number): number | null {
    let rest = q * this.#count
    for (let bin = 0; bin < this.#bins.length; bin++) {
      rest -= this.#bins[bin]!
      if (rest < 0) return 2 ** (bin / STEPS_PER_OCTAVE)
    }
    return null
  }
}
