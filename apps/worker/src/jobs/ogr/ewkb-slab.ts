import { EWKB_EXTRA, writeEwkb } from '@terrane/core'
import type { FeatureBatch } from './feature-stream.ts'

/** The EWKB of a batch's geometries, behind each other in one array. */
export class EwkbSlab {
  readonly #source: Uint8Array
  readonly #bytes: Uint8Array
  #filled = 0

  constructor({ geometry, rows }: FeatureBatch) {
    this.#source = geometry
    this.#bytes = new Uint8Array(geometry.length === 0 ? 0 : geometry.length + rows * EWKB_EXTRA)
  }

  ewkbOf(start: number, end: number, srid: number, multi: boolean): Uint8Array {
    const from = this.#filled
    this.#filled = writeEwkb(this.#bytes, from, this.#source, start, end, srid, multi)
    return this.#bytes.subarray(from, this.#filled)
  }
}
