import { isoType, wkbHead, wkbOfGeoJson } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { conversionFailed, csvColumnsUnknown } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field } from '../feature-stream.ts'
import { areDegrees, coordinateColumns } from './coordinate-columns.ts'
import {
  UNREADABLE,
  coordinateOf,
  isPlainPair,
  pairedColumns,
  doubtfulColumns,
  geometryOfText,
  isGeometryText,
  sridOfText,
  unreadableColumns,
} from './coordinates.ts'
import { twice } from './chunks.ts'
import { dataOf, openTable, type CsvTable } from './csv-table.ts'
import type { ReadRequest } from './protocol.ts'
import { findEncoding } from './text-encoding.ts'
import { findHeaderLines, warnOfHeaderLines } from './header-lines.ts'
import { pairOfText } from './sexagesimal.ts'
import { askedType, countUnfit } from './asked-types.ts'
import { readingsOf } from './column-readings.ts'
import { TextColumn, type ColumnReading } from './text-column.ts'

const WGS84 = 4326
/** Names of columns that hold a geometry when none is given. */
const GEOMETRY_NAMES = new Set(['wkt', 'geom', 'geometry', 'the_geom', '_wkt'])
/** Rows that are examined for a geometry column with an unusual name, and for further lines of a header. */
const SAMPLE_ROWS = 200
const NO_PLACE: Place = { x: -1, y: -1, wkt: -1 }

/** Columns of a row's geometry, by index; −1 for none. */
interface Place {
  readonly x: number
  readonly y: number
  readonly wkt: number
}

/** A record of the data with its geometry; null for a missing or unreadable one. */
interface Row {
  readonly record: readonly string[]
  readonly wkb: Uint8Array | null
}

/**
 * Opens a table of text. Encoding and delimiter are detected, and types come from all rows. Geometries come from the
 * columns that the request names; else from a column with a usual name for geometries, from two with usual names for
 * coordinates, or from a column whose texts are all geometries. Coordinate columns are kept as well; a geometry column
 * only if one of its values cannot be read.
 *
 * @throws CONVERSION_FAILED, CSV_COLUMNS_UNKNOWN, ENCODING_UNKNOWN
 */
export async function openCsv(request: ReadRequest): Promise<FeatureReader> {
  const warnings = new Warnings()
  const encoding = await findEncoding(request.path, request.encoding)
  if (encoding.isGuess) {
    const message = `The file does not say its encoding and is not UTF-8: it was read as ${encoding.name}. Send encoding to read it otherwise.`
    warnings.add('ENCODING_GUESSED', message)
  }
  const table = openTable(request.path, encoding.name)
  if (table.isDoubtful) {
    const isHeader = table.names.some((name, i) => name !== `field_${i + 1}`)
    const message = `The first line has numbers, days or times: it was read as ${isHeader ? 'the names of the columns' : 'a row, and the columns were numbered'}. To have it read otherwise, put a line of other names ${isHeader ? 'before it' : 'before it, or in its place'}.`
    warnings.add('HEADER_GUESSED', message)
  }
  const further = findHeaderLines(table.names, dataOf(table).take(SAMPLE_ROWS).toArray())
  if (further) warnOfHeaderLines(further, warnings)
  const place = namedPlace(table, request.csv) ?? findPlace(table, warnings)
  const columns = table.names.map((name) => new TextColumn(name, askedType(request.columnTypes, name) !== undefined))
  const types = new Set<number>()
  const srids = new Set<number>()
  let rows = 0
  let isLossless = true
  const learn = ({ record, wkb }: Row) => {
    rows++
    for (const [i, column] of columns.entries()) column.add(record[i] ?? '')
    if (wkb === null && saysGeometry(record, place)) isLossless = false
    const head = wkb && wkbHead(wkb)
    if (head) types.add(isoType(head))
    const said = place.wkt < 0 ? null : sridOfText((record[place.wkt] ?? '').trim())
    if (said !== null) srids.add(said)
  }
  const data = twice([table.path], () => rowsOf(table, place))
  data.first(learn)
  const { x, y, wkt } = place
  // The text column of the geometry is dropped if all of its texts can be read; coordinate columns stay.
  const shown = [...table.names.keys()].filter((i) => i !== wkt || !isLossless)
  const readings = readingsOf(columns, table, { coordinates: [x, y], types: request.columnTypes }, warnings)
  const fields = shown.map((i): Field => ({ name: table.names[i]!, type: readings[i]!.type }))
  const hasGeometry = wkt >= 0 || (x >= 0 && y >= 0)
  const srid = request.srid ?? onlyOf(srids) ?? WGS84
  return {
    layers: [{ name: 'table', rows, fields, hasGeometry, geometryTypes: [...types], srid }],
    read: () => readRows({ rows: data.again(), table, place, shown, readings, warnings }),
    takeWarnings: () => warnings.take(),
  }
}

/**
 * The geometry columns of the request, or null without any.
 *
 * @throws CSV_COLUMNS_UNKNOWN
 */
function namedPlace({ names }: CsvTable, csv: ReadRequest['csv']): Place | null {
  const { x, y, wkt } = csv ?? {}
  if (x !== undefined || y !== undefined) {
    const found = coordinateColumns(names, { x, y })
    if ('x' in found) return { ...NO_PLACE, ...found }
    throw csvColumnsUnknown({ columns: [x, y].filter((name) => name !== undefined) })
  }
  if (wkt === undefined) return null
  const at = names.findIndex((name) => name.toLowerCase() === wkt.toLowerCase())
  if (at < 0) throw csvColumnsUnknown({ columns: [wkt] })
  return { ...NO_PLACE, wkt: at }
}

/**
 * Columns with names of geometries or coordinates and a valid value (or no values at all), else the only column whose
 * values are geometries or pairs of coordinates.
 */
function findPlace(table: CsvTable, warnings: Warnings): Place {
  const wkt = table.names.findIndex((name) => GEOMETRY_NAMES.has(name.toLowerCase()))
  if (wkt >= 0 && holdsGeometry(table, { ...NO_PLACE, wkt })) return { ...NO_PLACE, wkt }
  const pair = coordinateColumns(table.names)
  if ('x' in pair && holdsGeometry(table, { ...NO_PLACE, ...pair })) return { ...NO_PLACE, ...pair }
  const texts = columnsOf(table, isGeometryText)
  if (texts.length === 1) return { ...NO_PLACE, wkt: texts[0]! }
  const [paired, ...otherPairs] = columnsOf(table, (text) => pairOfText(text.trim()) !== null)
  if (texts.length === 0 && paired !== undefined && otherPairs.length === 0) return { x: paired, y: paired, wkt: -1 }
  if (texts.length > 1) {
    const message = 'Several columns hold geometries, so the table has none: name one in csv.wkt.'
    const names = texts.map((i) => table.names[i]!)
    warnings.add('GEOMETRIES_DOUBTFUL', message, texts.length, names)
  } else if ('doubtful' in pair) {
    const plain = columnsOf(table, isPlainPair).map((i) => table.names[i]!)
    if (plain.length > 0) pairedColumns(plain, warnings)
    else doubtfulColumns(pair.doubtful, warnings)
  }
  // Values with the letters of the other axis are a warning, too, for any column names.
  else if (areDegrees(table.names, pair) || holdsGeometry(table, { ...NO_PLACE, x: pair.y, y: pair.x }))
    unreadableColumns([table.names[pair.x]!, table.names[pair.y]!], warnings)
  return NO_PLACE
}

/** Whether columns with names of geometries or coordinates contain any valid value, or no values at all. */
function holdsGeometry(table: CsvTable, place: Place): boolean {
  let hasText = false
  for (const record of dataOf(table)) {
    if (!saysGeometry(record, place)) continue
    if (geometryOf(record, place) !== null) return true
    hasText = true
  }
  return !hasText
}

/** Columns whose texts in the first rows all are of some kind. */
function columnsOf(table: CsvTable, isOne: (text: string) => boolean): number[] {
  const [good, bad] = [new Set<number>(), new Set<number>()]
  let rows = 0
  for (const record of dataOf(table)) {
    for (const [i, text] of record.entries()) {
      if (bad.has(i) || text.trim() === '') continue
      ;(isOne(text) ? good : bad).add(i)
    }
    if (++rows >= SAMPLE_ROWS) break
  }
  return [...good.difference(bad)].filter((i) => i < table.names.length)
}

/** @throws CONVERSION_FAILED */
function onlyOf(srids: ReadonlySet<number>): number | undefined {
  if (srids.size > 1) {
    const list = [...srids].slice(0, 10).map((srid) => `EPSG:${srid}`)
    throw conversionFailed({ reason: `its geometries are of several reference systems: ${list.join(', ')}` })
  }
  return [...srids][0]
}

function* rowsOf(table: CsvTable, place: Place): Generator<Row> {
  for (const record of dataOf(table)) yield { record, wkb: geometryOf(record, place) }
}

function* readRows(reading: {
  readonly rows: Iterable<Row>
  readonly table: CsvTable
  readonly place: Place
  readonly shown: readonly number[]
  readonly readings: readonly ColumnReading[]
  readonly warnings: Warnings
}): Generator<FeatureBatch> {
  const { rows, table, place, shown, readings, warnings } = reading
  const builder = new BatchBuilder(shown.length)
  let row = 0
  for (const { record, wkb } of rows) {
    row++
    if (record.length > table.names.length && record.slice(table.names.length).some((text) => text !== '')) {
      warnings.count('FIELDS_SURPLUS', 'Rows have more fields than the header: the surplus was left out.', row)
    }
    if (wkb === null && saysGeometry(record, place)) warnings.count('GEOMETRY_UNREADABLE', UNREADABLE, row)
    builder.add(
      wkb,
      shown.map((i) => {
        const text = record[i]
        const value = text === undefined ? null : readings[i]!.read(text)
        if (value === undefined) countUnfit(table.names[i]!, row, warnings)
        return value
      }),
    )
    if (builder.isFull) yield builder.take()
  }
  if (!builder.isEmpty) yield builder.take()
}

function saysGeometry(record: readonly string[], { x, y, wkt }: Place): boolean {
  if (wkt >= 0) return (record[wkt] ?? '').trim() !== ''
  return x >= 0 && ((record[x] ?? '').trim() !== '' || (record[y] ?? '').trim() !== '')
}

function geometryOf(record: readonly string[], { x, y, wkt }: Place): Uint8Array | null {
  if (wkt >= 0) return geometryOfText((record[wkt] ?? '').trim())
  if (x < 0) return null
  const lng = coordinateOf(record[x], 'x')
  const lat = coordinateOf(record[y], 'y')
  if (lng === null || lat === null) return null
  return wkbOfGeoJson({ type: 'Point', coordinates: [lng, lat] })
}
