import { isUtf8 } from 'node:buffer'
import { isoType, wkbHead, wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { Warnings } from '../../warnings.ts'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field, type FieldType } from '../feature-stream.ts'
import { chunksOf, twice } from './chunks.ts'
import { jsonObjects } from './json-objects.ts'
import { TypeGuess, valueOf } from './value-types.ts'

const WGS84 = 4326
/** Systems that files name otherwise than by their EPSG code. */
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
/** What follows the name of a member whose number is written as a fraction, however round: `: 3.0`. */
const FRACTION = /\s*:\s*-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)\s*[,}]/iy
/** Members of a feature that are known (RFC 7946), with those of it that say nothing of the feature itself. */
const KNOWN_MEMBERS = new Set(['type', 'id', 'bbox', 'geometry', 'properties', 'crs'])
/** A whole number that a double may not hold. */
const LONG_NUMBER = /[^.\d]\d{16}/

/** A feature as it is parsed. */
interface Parsed {
  readonly id?: unknown
  readonly properties?: Readonly<Record<string, unknown>> | null
  readonly geometry?: GeoJsonGeometry | null
}

/** What is used of a feature. */
interface Feature {
  readonly id: unknown
  readonly properties: Readonly<Record<string, unknown>> | null
  readonly hasGeometry: boolean
  /** Null where there is none, or none that can be read. */
  readonly wkb: Uint8Array | null
  /** Its text is not in UTF-8. */
  readonly isLatin: boolean
}

/** What is learnt of a file when it is gone through for the first time. */
class Survey {
  name = 'features'
  srid: number | null = WGS84
  rows = 0
  hasGeometry = false
  /** Members of features that GeoJSON does not know. */
  readonly foreign = new Set<string>()
  readonly ids = new TypeGuess()
  hasIds = false
  readonly geometryTypes = new Set<number>()
  readonly #guesses = new Map<string, TypeGuess>()

  /** @param bytes the text of the feature */
  add(bytes: Buffer, parsed: Parsed, { id, properties, wkb }: Feature): void {
    this.rows++
    for (const key in parsed) if (!KNOWN_MEMBERS.has(key)) this.foreign.add(key)
    if (properties !== null) {
      for (const key in properties) this.#guessOf(key).add(properties[key])
      this.#addFractions(bytes, properties)
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

  /** Counts fields whose numbers are written as fractions as such: their text is gone once it is parsed. */
  #addFractions(bytes: Buffer, properties: Readonly<Record<string, unknown>>): void {
    for (const name of fractionMembers(bytes.toString('latin1'))) {
      const key = Buffer.from(name, 'latin1').toString('utf8')
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
 * Opens GeoJSON (RFC 7946) or a sequence of it (RFC 8142, or one object per line), of any size: features are gone through
 * one by one, twice, first for the types of fields.
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

/** The features of a file; what is to be learnt of them goes into the survey. */
function* featuresOf(path: string, survey: Survey | null): Generator<Feature> {
  let row = 0
  for (const { bytes, isMember } of jsonObjects(chunksOf(path), 'features')) {
    const { value, isLatin } = parse(bytes)
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
      wkb: geometry ? wkbOfGeoJson(geometry) : null,
      isLatin,
    }
    survey?.add(bytes, parsed, feature)
    yield feature
  }
}

/** Names, as they are written, of the members of JSON whose numbers are fractions; every string is looked at once. */
function* fractionMembers(json: string): Generator<string> {
  for (let at = json.indexOf('"'); at >= 0;) {
    let end = at + 1
    while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1
    FRACTION.lastIndex = end + 1
    if (FRACTION.test(json)) yield json.slice(at + 1, end)
    at = json.indexOf('"', end + 1)
  }
}

function describe(head: Readonly<Record<string, unknown>>, about: { name: string; srid: number | null }): void {
  if (typeof head['name'] === 'string' && head['name'] !== '') about.name = head['name']
  const crs = head['crs'] as { properties?: { name?: unknown; code?: unknown } } | null | undefined
  if (crs) about.srid = sridOf(crs.properties?.name ?? crs.properties?.code)
}

/** The EPSG code in `EPSG:25832`, `urn:ogc:def:crs:EPSG::25832`, a URL of such, or a number; null for what is not known. */
function sridOf(name: unknown): number | null {
  const [, authority = 'EPSG', code = String(name)] = /\b([a-z]+)[:/]+(?:[\d.]+[:/])?(\w+)$/i.exec(String(name)) ?? []
  const known = SYSTEMS[`${authority}:${code}`.toUpperCase()]
  return known ?? (/^EPSG$/i.test(authority) && /^\d+$/.test(code) ? Number(code) : null)
}

const latin = new TextDecoder('windows-1252')

function parse(bytes: Buffer): { value: Record<string, unknown>; isLatin: boolean } {
  const isLatin = !isUtf8(bytes)
  const text = isLatin ? latin.decode(bytes) : bytes.toString('utf8')
  try {
    const value: unknown = LONG_NUMBER.test(text) ? JSON.parse(text, exactly as never) : JSON.parse(text)
    return { value: value as Record<string, unknown>, isLatin }
  } catch (cause) {
    throw conversionFailed({ reason: `it is no JSON: ${(cause as Error).message.slice(0, 200)}` }, { cause })
  }
}

/** Takes whole numbers from their digits. */
function exactly(_: string, value: unknown, context: { readonly source?: string }): unknown {
  const { source } = context
  return typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value
}

function isId(id: unknown): boolean {
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
}
