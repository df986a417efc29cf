import type { Bbox } from '@terrane/core'
import { UNITS_PER_DEGREE } from '../block.ts'

/** The box around points in 1e-7 degrees. */
export class Extent {
  #west = Infinity
  #south = Infinity
  #east = -Infinity
  #north = -Infinity

  /** Takes in the first `count` points of the arrays. */
  add(lon: ArrayLike<number>, lat: ArrayLike<number>, count: number): void {
    for (let i = 0; i < count; i++) {
      const x = lon[i]!
      const y = lat[i]!
      if (x < this.#west) this.#west = x
      if (x > this.#east) this.#east = x
      if (y < this.#south) this.#south = y
      if (y > this.#north) this.#north = y
    }
  }

  /** The extent in degrees; null without a feature. */
  get bbox(): Bbox | null {
    if (this.#west > this.#east) return null
    const units = UNITS_PER_DEGREE
    return [this.#west / units, this.#south / units, this.#east / units, this.#north / units]
  }
}
