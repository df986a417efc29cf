import { wkbOfGeoJson } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { csvColumnsUnknown } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader } from '../feature-stream.ts'
import { areDegrees, coordinateColumns, type Columns } from './coordinate-columns.ts'
import { UNREADABLE, coordinateOf, doubtfulColumns, unreadableColumns } from './coordinates.ts'

const NUMBERS = new Set(['int4', 'int8', 'float8', 'numeric'])
const POINT = 1
const AXES = ['x', 'y'] as const

interface Wanted {
  readonly x?: string | undefined
  readonly y?: string | undefined
}

/**
 * Adds points to the layers of a workbook or a table whose columns hold coordinates: the named columns, or else columns
 * with usual names that contain numbers, or texts that are coordinates. The columns stay.
 *
 * @param srid EPSG code of the coordinates
 * @throws CSV_COLUMNS_UNKNOWN when no layer has the named columns, and there is a layer without a geometry
 */
export async function pointLayers(reader: FeatureReader, wanted: Wanted, srid: number): Promise<FeatureReader> {
  const warnings = new Warnings()
  const places: (Columns | null)[] = []
  for (const i of reader.layers.keys()) places.push(await placeOf(reader, i, wanted, warnings))
  if ((wanted.x ?? wanted.y) !== undefined && places.every((place) => place === null)) {
    if (reader.layers.some(({ hasGeometry }) => !hasGeometry)) {
      throw csvColumnsUnknown({ columns: [wanted.x, wanted.y].filter((name) => name !== undefined) })
    }
    const unused = (['x', 'y'] as const).filter((axis) => wanted[axis] !== undefined).map((axis) => `csv.${axis}`)
    const message = 'The file has geometries of its own: columns of coordinates were not read.'
    warnings.add('OPTIONS_UNUSED', message, unused.length, unused)
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

async function placeOf(
  reader: FeatureReader,
  layer: number,
  wanted: Wanted,
  warnings: Warnings,
): Promise<Columns | null> {
  const { fields, hasGeometry } = reader.layers[layer]!
  if (hasGeometry) return null
  const names = fields.map(({ name }) => name)
  const found = coordinateColumns(names, wanted)
  if ('x' in found) {
    const isNumeric = [found.x, found.y].every((i) => NUMBERS.has(fields[i]!.type))
    if (isNumeric || (wanted.x ?? wanted.y) !== undefined) return found
    const { hasPoints, hasValues } = await lookAt(reader, layer, found)
    if (hasPoints) return found
    const isSaid = hasValues && (areDegrees(names, found) || (await areSwapped(reader, layer, found)))
    if (isSaid) unreadableColumns([names[found.x]!, names[found.y]!], warnings)
    return null
  }
  doubtfulColumns(found.doubtful, warnings)
  return null
}

/** Whether texts of two columns are coordinates, such as degrees and minutes. */
async function lookAt(reader: FeatureReader, layer: number, { x, y }: Columns) {
  let hasValues = false
  for await (const { rows, columns } of reader.read(layer)) {
    for (let row = 0; row < rows; row++) {
      const given = [columns[x]![row], columns[y]![row]]
      if (given.every((value, i) => coordinateOf(value, AXES[i]!) !== null)) return { hasPoints: true, hasValues: true }
      hasValues ||= given.some((value) => value !== null && value !== '')
    }
  }
  return { hasPoints: false, hasValues }
}

/** Whether two columns hold coordinates with letters of the other axis. */
async function areSwapped(reader: FeatureReader, layer: number, { x, y }: Columns): Promise<boolean> {
  return (await lookAt(reader, layer, { x: y, y: x })).hasPoints
}

function withPoints(batch: FeatureBatch, { x, y }: Columns, warnings: Warnings): FeatureBatch {
  const builder = new BatchBuilder(0)
  for (let row = 0; row < batch.rows; row++) {
    const given = [batch.columns[x]![row], batch.columns[y]![row]]
    const [lng, lat] = given.map((value, i) => coordinateOf(value, AXES[i]!))
    const isPoint = typeof lng === 'number' && typeof lat === 'number'
    if (!isPoint && given.some((value) => value !== null && value !== '')) {
      warnings.count('GEOMETRY_UNREADABLE', UNREADABLE)
    }
    builder.add(isPoint ? wkbOfGeoJson({ type: 'Point', coordinates: [lng, lat] }) : null, [])
  }
  return { ...builder.take(), columns: batch.columns }
}
