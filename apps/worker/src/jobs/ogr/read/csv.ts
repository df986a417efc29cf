import { isoType, wkbHead, wkbOfGeoJson } from '@terrane/core'
import { Warnings } from '../../warnings.ts'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field } from '../feature-stream.ts'
import { csvRecords } from './csv-records.ts'
import type { ReadRequest } from './protocol.ts'
import { findEncoding } from './text-encoding.ts'
import { TypeGuess, kindOfCell, valueOfCell } from './value-types.ts'
import { wkbOfWkt } from './wkt.ts'

const WGS84 = 4326
/** Names of columns that hold coordinates or a geometry when none are given. */
const USUAL_NAMES = {
  x: ['x', 'lon', 'lng', 'long', 'longitude', 'easting'],
  y: ['y', 'lat', 'latitude', 'northing'],
  wkt: ['wkt', 'geom', 'geometry', 'the_geom', '_wkt'],
}
const DELIMITERS = [',', ';', '\t', '|']
const HEX = /^[0-9a-f]{10,}$/i

/** Where a row's geometry stands: numbers of columns. */
interface Place {
  readonly x: number
  readonly y: number
  readonly wkt: number
}

interface Table {
  readonly path: string
  readonly encoding: string
  readonly delimiter: string
  readonly hasHeader: boolean
  readonly names: readonly string[]
  readonly place: Place
}

/**
 * Opens a table of text. Its encoding and delimiter are found out, types come from all rows, and coordinates or WKT from
 * columns that are named in the request or called as usual.
 *
 * @throws CONVERSION_FAILED, ENCODING_UNKNOWN
 */
export async function openCsv(request: ReadRequest): Promise<FeatureReader> {
  const warnings = new Warnings()
  const encoding = await findEncoding(request.path, request.encoding)
  if (encoding.isGuess) {
    const message = `The file does not say its encoding and is not UTF-8: it was read as ${encoding.name}. Send encoding to read it otherwise.`
    warnings.add('ENCODING_GUESSED', message)
  }
  let table = await readHead(request, encoding.name)
  if (request.csv?.wkt === undefined && table.place.wkt >= 0 && !(await holdsGeometry(table))) {
    table = { ...table, place: { ...table.place, wkt: -1 } }
  }
  const guesses = table.names.map(() => new TypeGuess())
  const types = new Set<number>()
  let rows = 0
  for await (const record of dataOf(table)) {
    rows++
    for (const [i, guess] of guesses.entries()) {
      const kind = kindOfCell(record[i] ?? '')
      if (kind !== null) guess.addKind(kind)
    }
    const wkb = geometryOf(record, table.place)
    const head = wkb && wkbHead(wkb)
    if (head) types.add(isoType(head))
  }
  const { x, y, wkt } = table.place
  const shown = table.names.flatMap((_, i) => (i === x || i === y || i === wkt ? [] : [i]))
  const fields = shown.map((i): Field => ({ name: table.names[i]!, type: guesses[i]!.type }))
  const hasGeometry = wkt >= 0 || (x >= 0 && y >= 0)
  return {
    layers: [{ name: 'table', rows, fields, hasGeometry, geometryTypes: [...types], srid: request.srid ?? WGS84 }],
    read: () => readRows(table, shown, fields, warnings),
    takeWarnings: () => warnings.take(),
  }
}

/** Whether a column that is called as one of geometries holds any, or nothing at all. */
async function holdsGeometry(table: Table): Promise<boolean> {
  let hasText = false
  for await (const record of dataOf(table)) {
    if (!saysGeometry(record, table.place)) continue
    if (geometryOf(record, table.place) !== null) return true
    hasText = true
  }
  return !hasText
}

async function* readRows(
  table: Table,
  shown: readonly number[],
  fields: readonly Field[],
  warnings: Warnings,
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  let row = 0
  for await (const record of dataOf(table)) {
    row++
    if (record.length > table.names.length && record.slice(table.names.length).some((text) => text !== '')) {
      warnings.count('FIELDS_SURPLUS', 'Rows have more fields than the header: the surplus was left out.', row)
    }
    const wkb = geometryOf(record, table.place)
    if (wkb === null && saysGeometry(record, table.place)) {
      warnings.count('GEOMETRY_UNREADABLE', 'Coordinates or WKT that cannot be read were left out of their rows.', row)
    }
    builder.add(
      wkb,
      fields.map(({ type }, i) => {
        const text = record[shown[i]!]
        return text === undefined ? null : valueOfCell(text, type)
      }),
    )
    if (builder.isFull) yield builder.take()
  }
  if (!builder.isEmpty) yield builder.take()
}

async function readHead(request: ReadRequest, encoding: string): Promise<Table> {
  const { path, csv } = request
  const delimiter = await findDelimiter(path, encoding)
  for await (const record of csvRecords(path, encoding, delimiter)) {
    const hasHeader = !record.some((text) => /^(int4|int8|numeric|float8)$/.test(kindOfCell(text) ?? ''))
    const names = record.map((text, i) => (hasHeader ? text.trim() : `field_${i + 1}`))
    const find = (wanted: string | undefined, usual: readonly string[]) => {
      const lower = names.map((name) => name.toLowerCase())
      if (wanted !== undefined) return lower.indexOf(wanted.toLowerCase())
      return lower.findIndex((name) => usual.includes(name))
    }
    const wkt = find(csv?.wkt, USUAL_NAMES.wkt)
    const x = wkt >= 0 && csv?.x === undefined ? -1 : find(csv?.x, USUAL_NAMES.x)
    const y = wkt >= 0 && csv?.y === undefined ? -1 : find(csv?.y, USUAL_NAMES.y)
    const place = x >= 0 && y >= 0 ? { x, y, wkt: -1 } : { x: -1, y: -1, wkt }
    return { path, encoding, delimiter, hasHeader, names, place }
  }
  throw conversionFailed({ reason: 'it has no rows' })
}

/** The delimiter that the first line has most of. */
async function findDelimiter(path: string, encoding: string): Promise<string> {
  for await (const [line = ''] of csvRecords(path, encoding, '\u0000')) {
    const plain = line.replaceAll(/"[^"]*"/g, '')
    const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length)
    return DELIMITERS[counts.indexOf(Math.max(...counts))]!
  }
  return ','
}

async function* dataOf({ path, encoding, delimiter, hasHeader }: Table): AsyncGenerator<string[]> {
  let isFirst = hasHeader
  for await (const record of csvRecords(path, encoding, delimiter)) {
    if (isFirst) isFirst = false
    else yield record
  }
}

function saysGeometry(record: readonly string[], { x, y, wkt }: Place): boolean {
  if (wkt >= 0) return (record[wkt] ?? '').trim() !== ''
  return x >= 0 && ((record[x] ?? '').trim() !== '' || (record[y] ?? '').trim() !== '')
}

function geometryOf(record: readonly string[], { x, y, wkt }: Place): Uint8Array | null {
  if (wkt >= 0) return geometryOfText((record[wkt] ?? '').trim())
  if (x < 0) return null
  const lng = numberOf(record[x])
  const lat = numberOf(record[y])
  if (lng === null || lat === null) return null
  return wkbOfGeoJson({ type: 'Point', coordinates: [lng, lat] })
}

/** WKT, or WKB in hexadecimal as databases print it. */
function geometryOfText(text: string): Uint8Array | null {
  if (text === '') return null
  if (HEX.test(text)) {
    const bytes = Buffer.from(text, 'hex')
    return wkbHead(bytes) ? bytes : null
  }
  return wkbOfWkt(text)
}

function numberOf(text: string | undefined): number | null {
  const plain = (text ?? '').trim().replace(/^([+-]?\d+),(\d+)$/, '$1.$2')
  if (plain === '') return null
  const number = Number(plain)
  return Number.isNaN(number) ? null : number
}
