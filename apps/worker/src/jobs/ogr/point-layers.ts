import type { JobWarning } from '@terrane/contracts'
import { wkbOfGeoJson } from '@terrane/core'
import { Warnings } from '../warnings.ts'
import { csvColumnsUnknown } from './errors.ts'
import { BatchBuilder, type FeatureBatch, type LayerSchema, type LayerSource } from './feature-stream.ts'
import { coordinateColumns, type Columns } from './read/coordinate-columns.ts'
import { UNREADABLE, coordinateOf, doubtfulColumns } from './read/coordinates.ts'

const NUMBERS = new Set(['int4', 'int8', 'float8', 'numeric'])
const POINT = 1

interface Wanted {
  readonly x?: string | undefined
  readonly y?: string | undefined
}

/**
 * The sheets of a workbook, with points where two columns hold coordinates: those that are named, else those that are
 * called as usual and hold numbers. The columns stay.
 *
 * @param srid EPSG code of the coordinates
 * @throws CSV_COLUMNS_UNKNOWN
 */
export function pointLayers(source: LayerSource, wanted: Wanted, srid: number): LayerSource {
  const warnings = new Warnings()
  const places = source.layers.map((layer) => placeOf(layer, wanted, warnings))
  if ((wanted.x ?? wanted.y) !== undefined && places.every((place) => place === null)) {
    throw csvColumnsUnknown({ columns: [wanted.x, wanted.y].filter((name) => name !== undefined) })
  }
  return new PointLayers(source, places, srid, warnings)
}

function placeOf({ fields, hasGeometry }: LayerSchema, wanted: Wanted, warnings: Warnings): Columns | null {
  if (hasGeometry) return null
  const found = coordinateColumns(
    fields.map(({ name }) => name),
    wanted,
  )
  if ('x' in found) {
    const isNumeric = [found.x, found.y].every((i) => NUMBERS.has(fields[i]!.type))
    return isNumeric || (wanted.x ?? wanted.y) !== undefined ? found : null
  }
  doubtfulColumns(found.doubtful, warnings)
  return null
}

class PointLayers implements LayerSource {
  readonly layers: readonly LayerSchema[]
  readonly #source: LayerSource
  readonly #places: readonly (Columns | null)[]
  readonly #warnings: Warnings

  constructor(source: LayerSource, places: readonly (Columns | null)[], srid: number, warnings: Warnings) {
    this.#source = source
    this.#places = places
    this.#warnings = warnings
    this.layers = source.layers.map((layer, i) => {
      const place = places[i]
      if (!place) return layer
      return { ...layer, hasGeometry: true, geometryTypes: [POINT], srid }
    })
  }

  get warnings(): readonly JobWarning[] {
    return [...this.#source.warnings, ...this.#warnings.list()]
  }

  async *read(chosen: readonly number[]) {
    for await (const { layer, batch } of this.#source.read(chosen)) {
      const place = this.#places[layer]
      yield { layer, batch: place ? this.#withPoints(batch, place) : batch }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#source[Symbol.asyncDispose]()
  }

  #withPoints(batch: FeatureBatch, { x, y }: Columns): FeatureBatch {
    const builder = new BatchBuilder(0)
    for (let row = 0; row < batch.rows; row++) {
      const given = [batch.columns[x]![row], batch.columns[y]![row]]
      const [lng, lat] = given.map((value) => coordinateOf(value))
      const isPoint = typeof lng === 'number' && typeof lat === 'number'
      if (!isPoint && given.some((value) => value !== null && value !== '')) {
        this.#warnings.count('GEOMETRY_UNREADABLE', UNREADABLE)
      }
      builder.add(isPoint ? wkbOfGeoJson({ type: 'Point', coordinates: [lng, lat] }) : null, [])
    }
    return { ...builder.take(), columns: batch.columns }
  }
}
