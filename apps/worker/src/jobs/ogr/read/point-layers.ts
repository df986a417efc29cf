import { wkbOfGeoJson } from '@terrane/core/wkb'
import { Warnings } from '../../warnings.ts'
import { csvColumnsUnknown } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type LayerSchema } from '../feature-stream.ts'
import { coordinateColumns, type Columns } from './coordinate-columns.ts'
import { UNREADABLE, coordinateOf, doubtfulColumns } from './coordinates.ts'

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
export function pointLayers(reader: FeatureReader, wanted: Wanted, srid: number): FeatureReader {
  const warnings = new Warnings()
  const places = reader.layers.map((layer) => placeOf(layer, wanted, warnings))
  if ((wanted.x ?? wanted.y) !== undefined && places.every((place) => place === null)) {
    throw csvColumnsUnknown({ columns: [wanted.x, wanted.y].filter((name) => name !== undefined) })
  }
  return {
    layers: reader.layers.map((layer, i) =>
      places[i] ? { ...layer, hasGeometry: true, geometryTypes: [POINT], srid } : layer,
    ),
    async *read(layer) {
      const place = places[layer]
      for await (const batch of reader.read(layer)) yield place ? withPoints(batch, place, warnings) : batch
    },
    takeWarnings: () => [...reader.takeWarnings(), ...warnings.take()],
  }
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

function withPoints(batch: FeatureBatch, { x, y }: Columns, warnings: Warnings): FeatureBatch {
  const builder = new BatchBuilder(0)
  for (let row = 0; row < batch.rows; row++) {
    const given = [batch.columns[x]![row], batch.columns[y]![row]]
    const [lng, lat] = given.map((value) => coordinateOf(value))
    const isPoint = typeof lng === 'number' && typeof lat === 'number'
    if (!isPoint && given.some((value) => value !== null && value !== '')) {
      warnings.count('GEOMETRY_UNREADABLE', UNREADABLE)
    }
    builder.add(isPoint ? wkbOfGeoJson({ type: 'Point', coordinates: [lng, lat] }) : null, [])
  }
  return { ...builder.take(), columns: batch.columns }
}
