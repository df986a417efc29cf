import { isUtf8 } from 'node:buffer'
import { isoType, wkbHead, wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field, type FieldType } from '../feature-stream.ts'
import { chunksOf, twice } from './chunks.ts'
import { FlatCoordinates } from './flat-coordinates.ts'
import { jsonObjects } from './json-objects.ts'
import { TypeGuess, valueOf } from './value-types.ts'

const WGS84 = 4326
/** Systems that files do not name by their EPSG code. */
const SYSTEMS: Readonly<Record<string, number>> = {
  'OGC:CRS84': WGS84,
  'OGC:CRS84H': WGS84,
  'OGC:CRS83': 4269,
  'OGC:CRS27': 4267,
  'ESRI:102100': 3857,
  'ESRI:102113': 3857,
  'EPSG:900913': 3857,
}
const GEOMETRIES = /^(Multi)?(Point|LineString|Polygon)$|^GeometryCollection$/
/** A number with a decimal point after the name of a member, also a round one: `: 3.0`. */
const FRACTION = /\s*:\s*-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)\s*[,}]/iy
/** Members of a feature by RFC 7946, and members that do not describe the feature. */
const KNOWN_MEMBERS = new Set(['type', 'id', 'bbox', 'geometry', 'properties', 'crs'])
const [BLANK, MINUS, ZERO, NINE, COLON, BACKSLASH] = [32, 45, 48, 57, 58, 92]
/** A whole number that a double may not hold. */
const LONG_NUMBER = /[^.\d]\d{16}/
/** Words that Python and JavaScript write for numbers which JSON does not have. */
const WORD = /(?<!-)\bNaN\b|-?\bInfinity\b/g
/** Replacements of these words by numbers beyond a double; the first has a form that no program writes. */
const WORDS: Readonly<Record<string, string>> = { NaN: '1e09999', Infinity: '1e999', '-Infinity': '-1e999' }

const COORDINATES = Buffer.from('"coordinates":')
/** Placeholder for coordinates that are parsed separately: a number that programs do not write there. */
const COORDINATES_MARK = '-0'

interface Parsed {
  readonly id?: unknown
  readonly properties?: Readonly<Record<string, unknown>> | null
  readonly geometry?: GeoJsonGeometry | null
}

/** The members of a feature that are used. */
interface Feature {
  readonly id: unknown
  readonly properties: Readonly<Record<string, unknown>> | null
  readonly hasGeometry: boolean
  /** Null for a missing or unreadable geometry. */
  readonly wkb: Uint8Array | null
  /** Its text is not in UTF-8. */
  readonly isLatin: boolean
}

/** Result of the first pass over a file. */
class Survey {
  name = 'features'
  srid: number | null = WGS84
  rows = 0
  hasGeometry = false
  /** Members of features that GeoJSON does not define. */
  readonly foreign = new Set<string>()
  readonly ids = new TypeGuess()
  hasIds = false
  readonly geometryTypes = new Set<number>()
  readonly #guesses = new Map<string, TypeGuess>()

  /** @param text the text of the feature, which may lack its coordinates */
  add(text: string, parsed: Parsed, { id, properties, wkb }: Feature): void {
    this.rows++
    for (const key in parsed) if (!KNOWN_MEMBERS.has(key)) this.foreign.add(key)
    if (properties !== null) {
      for (const key in properties) this.#guessOf(key).add(properties[key])
      this.#addFractions(text, properties)
    }
    if (isId(id)) {
      this.hasIds = true
      this.ids.add(id)
    }
    if ('geometry' in parsed) this.hasGeometry = true
    const head = wkb && wkbHead(wkb)
    if (head) this.geometryTypes.add(isoType(head))
  }

  /** The type of each field, by its name. */
  get types(): Map<string, FieldType> {
    return new Map([...this.#guesses].map(([name, { type }]) => [name, type]))
  }

  /** Gives fields with numbers such as `3.0` the type float8; parsed values no longer show the fraction. */
  #addFractions(text: string, properties: Readonly<Record<string, unknown>>): void {
    for (const key of fractionMembers(text)) {
      if (typeof properties[key] === 'number') this.#guessOf(key).addKind('float8')
    }
  }

  #guessOf(name: string): TypeGuess {
    let guess = this.#guesses.get(name)
    if (!guess) this.#guesses.set(name, (guess = new TypeGuess()))
    return guess
  }
}

/**
 * Opens GeoJSON (RFC 7946) or a sequence of it (RFC 8142, or one object per line), of any size. Features are read one
 * by one in two passes, the first for the types of fields.
 *
 * @throws CONVERSION_FAILED
 */
export function openGeoJson(path: string): FeatureReader {
  const warnings = new Warnings()
  const survey = new Survey()
  const features = twice([path], (isFirst) => featuresOf(path, isFirst ? survey : null))
  features.first()
  const { name, srid, rows, hasGeometry, foreign, ids, geometryTypes, types } = survey
  if (foreign.size > 0) {
    const message = 'Features have members besides their properties, which GeoJSON does not know: they were left out.'
    warnings.add('MEMBERS_LEFT_OUT', message, foreign.size, [...foreign])
  }
  const takesId = survey.hasIds && !types.has('id')
  if (takesId) types.set('id', ids.type)
  const fields = [...types].map(([field, type]): Field => ({ name: field, type }))
  return {
    layers: [{ name, srid, rows, fields, hasGeometry, geometryTypes: [...geometryTypes] }],
    read: () => readRows(features.again(), fields, takesId, warnings),
    takeWarnings: () => warnings.take(),
  }
}

function* readRows(
  features: Iterable<Feature>,
  fields: readonly Field[],
  takesId: boolean,
  warnings: Warnings,
): Generator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  let row = 0
  for (const { id, properties, hasGeometry, wkb, isLatin } of features) {
    row++
    if (isLatin) warnings.count('TEXT_NOT_UTF8', 'Texts are not in UTF-8 and were read as windows-1252.', row)
    if (hasGeometry && wkb === null) {
      warnings.count('GEOMETRY_UNREADABLE', 'Geometries that cannot be read were left out of their rows.', row)
    }
    const values = fields.map(({ name, type }) =>
      valueOf(takesId && name === 'id' ? (isId(id) ? id : null) : properties?.[name], type),
    )
    builder.add(wkb, values)
    if (builder.isFull) yield builder.take()
  }
  if (!builder.isEmpty) yield builder.take()
}

/** The features of a file; the first pass also fills the survey. */
function* featuresOf(path: string, survey: Survey | null): Generator<Feature> {
  const coordinates = new FlatCoordinates()
  let row = 0
  for (const { bytes, isMember } of jsonObjects(chunksOf(path), 'features')) {
    const { value, isLatin, text, wkb } = parseQuickly(bytes, coordinates) ?? parse(bytes)
    const { type } = value
    if (!isMember && type === 'FeatureCollection') {
      if (survey) describe(value, survey)
      continue
    }
    row++
    const isGeometry = typeof type === 'string' && GEOMETRIES.test(type)
    if (type !== 'Feature' && !isGeometry) throw conversionFailed({ reason: `object ${row} is no GeoJSON feature` })
    const parsed: Parsed = isGeometry ? { geometry: value as unknown as GeoJsonGeometry } : value
    const { id, properties, geometry } = parsed
    const feature: Feature = {
      id,
      properties: typeof properties === 'object' ? properties : null,
      hasGeometry: Boolean(geometry),
      wkb: wkb ?? (geometry ? wkbOfGeoJson(geometry) : null),
      isLatin,
    }
    survey?.add(text, parsed, feature)
    yield feature
  }
}

/** Names, as written, of JSON members with fractional numbers; every string is visited once. */
function* fractionMembers(json: string): Generator<string> {
  for (let at = json.indexOf('"'); at >= 0;) {
    const end = closingQuote(json, at)
    if (end < 0) return
    if (isNumberAt(json, end + 1)) {
      FRACTION.lastIndex = end + 1
      if (FRACTION.test(json)) yield json.slice(at + 1, end)
    }
    at = json.indexOf('"', end + 1)
  }
}

/** Index of the closing quote of a string that begins at an index; -1 without one. */
function closingQuote(json: string, at: number): number {
  let end = json.indexOf('"', at + 1)
  if (end < 0 || json.charCodeAt(end - 1) !== BACKSLASH) return end
  for (end = at + 1; end < json.length && json[end] !== '"';) end += json[end] === '\\' ? 2 : 1
  return end < json.length ? end : -1
}

/** Whether a number follows a name. */
function isNumberAt(json: string, after: number): boolean {
  let at = after
  let code = json.charCodeAt(at)
  while (code === COLON || code <= BLANK) code = json.charCodeAt(++at)
  return code === MINUS || (code >= ZERO && code <= NINE)
}

function describe(head: Readonly<Record<string, unknown>>, about: { name: string; srid: number | null }): void {
  if (typeof head['name'] === 'string' && head['name'] !== '') about.name = head['name']
  const crs = head['crs'] as { properties?: { name?: unknown; code?: unknown } } | null | undefined
  if (crs) about.srid = sridOf(crs.properties?.name ?? crs.properties?.code)
}

/** The EPSG code in `EPSG:25832`, `urn:ogc:def:crs:EPSG::25832`, a URL of such, or a number; null for other texts. */
function sridOf(name: unknown): number | null {
  const [, authority = 'EPSG', code = String(name)] = /\b([a-z]+)[:/]+(?:[\d.]+[:/])?(\w+)$/i.exec(String(name)) ?? []
  const known = SYSTEMS[`${authority}:${code}`.toUpperCase()]
  return known ?? (/^EPSG$/i.test(authority) && /^\d+$/.test(code) ? Number(code) : null)
}

const latin = new TextDecoder('windows-1252')

interface ParsedObject {
  readonly value: Record<string, unknown>
  readonly isLatin: boolean
  readonly text: string
  /** WKB of its geometry, if that was read separately. */
  readonly wkb?: Uint8Array
}

/**
 * Reads the coordinates of a feature from their bytes, and only the rest as JSON: lists of positions are most of a file. Null
 * for a feature that is not plain.
 */
function parseQuickly(bytes: Buffer, coordinates: FlatCoordinates): ParsedObject | null {
  // A string cannot contain these bytes, because its quotes are escaped.
  const name = bytes.indexOf(COORDINATES)
  if (name < 0) return null
  const start = name + COORDINATES.length
  const end = coordinates.read(bytes, start)
  if (end < 0 || bytes.indexOf(COORDINATES, end) >= 0 || !isUtf8(bytes)) return null
  const text = bytes.toString('utf8', 0, start) + COORDINATES_MARK + bytes.toString('utf8', end)
  const value = valueOfText(text)
  const { geometry } = value as { geometry?: Partial<GeoJsonGeometry> | null }
  if (!geometry || value['type'] !== 'Feature' || !Object.is(geometry.coordinates, -0)) return null
  const wkb = geometry.geometries === undefined ? coordinates.wkbOf(String(geometry.type)) : null
  return wkb && { value, isLatin: false, text, wkb }
}

function parse(bytes: Buffer): ParsedObject {
  const isLatin = !isUtf8(bytes)
  const text = isLatin ? latin.decode(bytes) : bytes.toString('utf8')
  return { value: valueOfText(text), isLatin, text }
}

function valueOfText(text: string, mayHaveWords = true): Record<string, unknown> {
  try {
    const isExact = !mayHaveWords || LONG_NUMBER.test(text)
    const value: unknown = isExact ? JSON.parse(text, exactly as never) : JSON.parse(text)
    return value as Record<string, unknown>
  } catch (cause) {
    const plain = mayHaveWords ? withoutWords(text) : text
    if (plain !== text) return valueOfText(plain, false)
    throw conversionFailed({ reason: `it is no JSON: ${(cause as Error).message.slice(0, 200)}` }, { cause })
  }
}

/** Replaces words for numbers, but not those within strings. */
function withoutWords(json: string): string {
  let plain = ''
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at)
    plain += json.slice(at, quote < 0 ? undefined : quote).replaceAll(WORD, (found) => WORDS[found]!)
    const end = quote < 0 ? -1 : closingQuote(json, quote)
    if (quote >= 0) plain += json.slice(quote, end < 0 ? undefined : end + 1)
    at = end < 0 ? json.length : end + 1
  }
  return plain
}

/** Reviver of `JSON.parse` that reads large whole numbers as bigints, and the replacement of NaN as NaN. */
function exactly(_: string, value: unknown, context: { readonly source?: string }): unknown {
  const { source } = context
  if (source === WORDS['NaN']) return Number.NaN
  return typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value
}

function isId(id: unknown): boolean {
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
}
