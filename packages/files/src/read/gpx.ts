import { isoType, wkbHead, wkbOfGeoJson } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field, type FieldType } from '../feature-stream.ts'
import { GPX_LAYERS, GpxDocument, type GpxFeature, type GpxLayer, type GpxPosition } from './gpx-document.ts'
import { isoInstant } from './kml-time.ts'
import { TypeGuess, kindOfCell, valueOfCell } from './value-types.ts'
import { parseXml } from './xml.ts'

const WGS84 = 4326
/** Links that every layer of GPX 1.1 has columns for; files with more get more. */
const LINKS = [1, 2]
const TRACK_POINT = ['track_fid', 'track_seg_id', 'track_seg_point_id']
const NUMBERS: ReadonlySet<FieldType> = new Set(['int4', 'int8', 'numeric', 'float8'])
const LEFT_OUT = 'Extensions of the file, of its metadata or of a segment belong to no feature, and were left out.'
const SHORT =
  'Segments of one position were left out of the lines of their tracks. Their positions are in track_points.'
const UNREADABLE = 'Positions that cannot be read were left out.'

interface GpxTable {
  rows: number
  /** Names of columns that every layer of its kind has; null before its first row. */
  fixed: ReadonlySet<string> | null
  readonly types: Set<number>
  /** Types of the columns that the format does not define, by their names. */
  readonly extra: Map<string, TypeGuess>
}

/**
 * Opens GPX 1.0 or 1.1: waypoints, routes, tracks, and the points of these two, with the columns that GDAL's driver
 * gives. Extensions and unknown elements are columns, too; nested content is XML.
 *
 * @throws CONVERSION_FAILED
 */
export async function openGpx(path: string): Promise<FeatureReader> {
  const warnings = new Warnings()
  const tables = GPX_LAYERS.map((): GpxTable => ({ rows: 0, fixed: null, types: new Set(), extra: new Map() }))
  const document = new GpxDocument(
    (feature) => survey(tables[GPX_LAYERS.indexOf(feature.layer)]!, feature, document.version),
    (name) => warnings.count('MEMBERS_LEFT_OUT', LEFT_OUT, name),
  )
  await parseXml(path, document)
  const fields = tables.map(({ extra }, i) => [
    ...fixedFields(GPX_LAYERS[i]!, document.version),
    ...[...extra].map(([name, { type }]): Field => ({ name, type: NUMBERS.has(type) ? type : 'text' })),
  ])
  return {
    layers: tables.map(({ rows, types }, i) => {
      const about = { hasGeometry: true, geometryTypes: [...types], srid: WGS84 }
      return { name: GPX_LAYERS[i]!, rows, fields: fields[i]!, ...about }
    }),
    read: (index) => readRows(path, GPX_LAYERS[index]!, fields[index]!, warnings),
    takeWarnings: () => warnings.take(),
  }
}

function survey(table: GpxTable, feature: GpxFeature, version: string): void {
  table.rows++
  const wkb = geometryOf(feature, () => {})
  const head = wkb && wkbHead(wkb)
  if (head) table.types.add(isoType(head))
  table.fixed ??= new Set(fixedFields(feature.layer, version).map(({ name }) => name))
  for (const [name, text] of feature.values) {
    if (table.fixed.has(name)) continue
    let guess = table.extra.get(name)
    if (!guess) table.extra.set(name, (guess = new TypeGuess()))
    const kind = kindOfCell(text)
    if (kind !== null) guess.addKind(kind)
  }
}

async function* readRows(
  path: string,
  layer: GpxLayer,
  fields: readonly Field[],
  warnings: Warnings,
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  const full: FeatureBatch[] = []
  let row = 0
  const document = new GpxDocument((feature) => {
    if (feature.layer !== layer) return
    row++
    const wkb = geometryOf(feature, (code, message) => warnings.count(code, message, row))
    const values = fields.map((field) => cellOf(feature.values.get(field.name), field, row, warnings))
    builder.add(wkb, values)
    if (builder.isFull) full.push(builder.take())
  })
  for await (const _ of parseXml.pieces(path, document)) yield* full.splice(0)
  yield* full
  if (!builder.isEmpty) yield builder.take()
}

function cellOf(text: string | undefined, { name, type }: Field, row: number, warnings: Warnings): unknown {
  if (text === undefined || type === 'text') return text ?? null
  const plain = text.trim()
  if (plain === '') return null
  if (type === 'timestamptz') {
    const { instant, isWhole } = isoInstant(plain)
    if (!isWhole) {
      warnings.count('TIMES_COMPLETED', 'Times of a year, month or day stand for its first instant.', row)
    }
    if (instant !== null) return instant
  } else if (NUMBERS.has(typeOfNumber(plain))) {
    // A whole number may be written with a point.
    const value = valueOfCell(plain, type)
    if (type !== 'int4' || Number.isInteger(value)) return value
  }
  warnings.count('VALUES_UNREADABLE', `Values are not of the type of their column, as of ${name}.`, row)
  return null
}

/** The type of a numeric text, also with leading zeros; for other texts the guessed type. */
function typeOfNumber(text: string): FieldType {
  const guess = new TypeGuess()
  const kind = kindOfCell(text.replace(/^([+-]?)0+(?=\d)/, '$1'))
  if (kind !== null) guess.addKind(kind)
  return guess.type
}

/** The geometry in two dimensions (heights are a column); null without positions. */
function geometryOf({ layer, lines }: GpxFeature, warn: (code: string, message: string) => void): Uint8Array | null {
  const read = lines.map((line) => line.map(positionOf).filter((position) => position !== null))
  if (read.some(({ length }, i) => length < lines[i]!.length)) warn('GEOMETRY_UNREADABLE', UNREADABLE)
  if (layer === 'tracks') {
    const parts = read.filter(({ length }) => length !== 1)
    if (parts.length < read.length) warn('GEOMETRY_INVALID', SHORT)
    return parts.length === 0 && read.length > 0 ? null : wkbOfGeoJson({ type: 'MultiLineString', coordinates: parts })
  }
  const [line = []] = read
  if (layer === 'routes') return wkbOfGeoJson({ type: 'LineString', coordinates: line })
  return line[0] ? wkbOfGeoJson({ type: 'Point', coordinates: line[0] }) : null
}

function positionOf([lon, lat]: GpxPosition): number[] | null {
  if (lon.trim() === '' || lat.trim() === '') return null
  const position = [Number(lon), Number(lat)]
  return position.every(Number.isFinite) ? position : null
}

/** The columns of a layer that the format has names for. */
function fixedFields(layer: GpxLayer, version: string): Field[] {
  const isOld = version === '1.0'
  const texts = fieldsOf('text')
  const reals = fieldsOf('float8')
  const wholes = fieldsOf('int4')
  const links = LINKS.flatMap((i) => ['href', 'text', 'type'].map((part) => `link${i}_${part}`))
  const about = texts('name', 'cmt', 'desc', 'src')
  if (layer === 'routes' || layer === 'tracks') {
    return [...about, ...texts(...links), ...wholes('number'), ...texts('type')]
  }
  const belongs = { route_points: ['route_fid', 'route_point_id'], track_points: TRACK_POINT, waypoints: [] }[layer]
  return [
    ...wholes(...belongs),
    ...reals('ele'),
    { name: 'time', type: 'timestamptz' },
    ...(isOld && layer === 'track_points' ? reals('course', 'speed') : []),
    ...reals('magvar', 'geoidheight'),
    ...about,
    ...texts(...(isOld ? ['url', 'urlname'] : links)),
    ...texts('sym', 'type', 'fix'),
    ...wholes('sat'),
    ...reals('hdop', 'vdop', 'pdop', 'ageofdgpsdata'),
    ...wholes('dgpsid'),
  ]
}

function fieldsOf(type: FieldType) {
  return (...names: readonly string[]): Field[] => names.map((name) => ({ name, type }))
}
