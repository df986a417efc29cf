import { Warnings } from '@terrane/core/errors'
import { dequantize } from '@terrane/embeddings/products'
import type { VectorRows, VectorTable } from '@terrane/files/parquet'
import { createCrsCatalogue, toLngLat } from '@terrane/tiling/raster'
import { ringsOfPlace, type Convert } from './places.ts'
import type { ImportedRows, ReadSummary, RowPlan } from './protocol.ts'
import { instantOf, textOf } from '../times.ts'

/** Rows that are sent to the other thread in one message. */
const ROWS = 2000
/** Maximum difference of a unit vector's length from 1; half floats of a thousand dimensions stay within it. */
const UNIT_TOLERANCE = 2e-3

/** Makes rows of a table from the rows of a file, in their order. */
export class RowMaker {
  readonly #table: VectorTable
  readonly #plan: RowPlan
  readonly #convert: Convert
  readonly #groups: AsyncGenerator<VectorRows>
  readonly #warnings = new Warnings()
  #group: VectorRows | null = null
  #at = 0
  #invalid = 0
  #isUnit = true

  constructor(table: VectorTable, plan: RowPlan) {
    this.#table = table
    this.#plan = plan
    const { own, id, datetimeColumn, srid, crs } = plan
    this.#convert = toLngLat(srid, createCrsCatalogue(crs))
    this.#groups = table.read(own?.columns ?? [id, datetimeColumn].filter((name) => name !== null))
  }

  async next(): Promise<ImportedRows | null> {
    const { dims } = this.#table
    const made = { ids: [], polygons: [], attributes: [], labels: [] } as {
      readonly [Name in 'ids' | 'polygons' | 'attributes' | 'labels']: ImportedRows[Name][number][]
    }
    const vectors = new Float32Array(ROWS * dims)
    while (made.ids.length < ROWS) {
      if (this.#group === null || this.#at === this.#group.count) {
        const { value, done } = await this.#groups.next()
        if (done === true) break
        this.#group = value
        this.#at = 0
      }
      const row = this.#at++
      const { ids } = made
      if (!this.#vector(this.#group, row, vectors.subarray(ids.length * dims, (ids.length + 1) * dims))) continue
      const rings = this.#rings(this.#group, row)
      if (rings === null) continue
      made.polygons.push(rings)
      const { id, attributes, label } = this.#columns(this.#group, row)
      ids.push(id)
      made.attributes.push(attributes)
      made.labels.push(label)
    }
    if (made.ids.length === 0 || this.#group === null) return null
    return { ...made, vectors: vectors.slice(0, made.ids.length * dims), done: this.#group.start + this.#at }
  }

  summary(): ReadSummary {
    return {
      invalid: this.#invalid,
      isUnit: this.#isUnit,
      warnings: [...this.#table.warnings.list(), ...this.#warnings.list()],
    }
  }

  /** Writes the values of a vector; false for a row without one. */
  #vector({ vectors, start }: VectorRows, row: number, target: Float32Array): boolean {
    const stored = vectors[row]
    const { quantization, normalize } = this.#plan
    let squares = 0
    for (let i = 0; i < target.length; i++) {
      const value = stored ? dequantize(stored[i] as number, quantization) : Number.NaN
      target[i] = value
      squares += target[i]! * target[i]!
    }
    if (!Number.isFinite(squares)) {
      this.#invalid++
      const message = 'Rows without a vector, or with values that are not numbers, were left out.'
      this.#warnings.count('VECTORS_INVALID', message, start + row + 1)
      return false
    }
    const length = Math.sqrt(squares)
    if (normalize && length > 0) for (let i = 0; i < target.length; i++) target[i] = target[i]! / length
    else if (Math.abs(length - 1) > UNIT_TOLERANCE) this.#isUnit = false
    return true
  }

  #rings({ places, start }: VectorRows, row: number): readonly Float64Array[] | null {
    const wkb = places[row] ?? null
    const place = wkb === null ? null : ringsOfPlace(wkb, this.#plan.groundSizeMeters, this.#convert)
    if (place === null) {
      const message = 'Rows without a place in longitude and latitude that is a point or an area were left out.'
      this.#warnings.count('ROWS_WITHOUT_PLACE', message, start + row + 1)
      return null
    }
    if (place.hasHoles) {
      this.#warnings.count('HOLES_FILLED', 'A table keeps outer rings: holes of areas were filled.', start + row + 1)
    }
    if (place.isSplit) {
      const message =
        'Areas with longitudes beyond 180 degrees, or with a side longer than 180, were taken to reach over the antimeridian and cut there.'
      this.#warnings.count('AREAS_SPLIT', message, start + row + 1)
    }
    return place.rings
  }

  #columns({ columns, start }: VectorRows, row: number) {
    const { own, id, datetimeColumn, datetime } = this.#plan
    const number = start + row
    if (own === null) {
      const values = columns.map((column) => column[row])
      const key = id === null ? null : values[0]
      const time = datetimeColumn === null ? null : values.at(-1)
      const instant = instantOf(time)
      if (instant === null && time !== null && time !== undefined && time !== '') {
        const message = 'Times that cannot be read became those of the request, or null.'
        this.#warnings.count('DATETIME_UNREADABLE', message, number + 1)
      }
      const placeId = key === null || key === undefined ? String(number) : textOf(key)
      return { id: number, attributes: [placeId, instant ?? datetime, 1], label: null }
    }
    const [first, ...rest] = columns.map((column) => column[row])
    const label = own.hasLabels ? rest.shift() : null
    const names = own.columns.slice(own.hasLabels ? 2 : 1)
    const attributes = rest.map((value, i) => ownValue(names[i]!, value))
    return { id: Number(first), attributes, label: label === null || label === undefined ? null : textOf(label) }
  }
}

/** A value of a column of our own tables. */
function ownValue(name: string, value: unknown): unknown {
  if (name === 'h3_index' || name === 'place_id') return textOf(value ?? '')
  return name === 'datetime' ? instantOf(value) : Number(value)
}
