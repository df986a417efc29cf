import { createReadStream } from 'node:fs'
import { geoJsonType, wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { Warnings } from '../../warnings.ts'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field } from '../feature-stream.ts'
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

interface Feature {
  readonly id?: unknown
  readonly properties?: Readonly<Record<string, unknown>> | null
  readonly geometry?: GeoJsonGeometry | null
}

/**
 * Opens GeoJSON (RFC 7946) or a sequence of it (RFC 8142, or one object per line), of any size: features are read one by
 * one, twice, first for the types of fields.
 *
 * @throws CONVERSION_FAILED
 */
export async function openGeoJson(path: string): Promise<FeatureReader> {
  const warnings = new Warnings()
  const guesses = new Map<string, TypeGuess>()
  const types = new Set<number>()
  const about: { name: string; srid: number | null } = { name: 'features', srid: WGS84 }
  let rows = 0
  let hasIds = false
  let hasGeometry = false
  const foreign = new Set<string>()
  for await (const feature of featuresOf(path, about, null, guesses)) {
    rows++
    for (const key of Object.keys(feature)) if (!KNOWN_MEMBERS.has(key)) foreign.add(key)
    for (const [key, value] of Object.entries(feature.properties ?? {})) {
      let guess = guesses.get(key)
      if (!guess) guesses.set(key, (guess = new TypeGuess()))
      guess.add(value)
    }
    hasIds ||= isId(feature.id)
    if ('geometry' in feature) hasGeometry = true
    if (feature.geometry) types.add(geoJsonType(feature.geometry) ?? 0)
  }
  types.delete(0)
  if (foreign.size > 0) {
    const message = 'Features have members besides their properties, which GeoJSON does not know: they were left out.'
    warnings.add('MEMBERS_LEFT_OUT', message, foreign.size, [...foreign])
  }
  const takesId = hasIds && !guesses.has('id')
  if (takesId) {
    const ids = new TypeGuess()
    for await (const { id } of featuresOf(path, about, null)) if (isId(id)) ids.add(id)
    guesses.set('id', ids)
  }
  const fields = [...guesses].map(([name, guess]): Field => ({ name, type: guess.type }))
  return {
    layers: [{ ...about, rows, fields, hasGeometry, geometryTypes: [...types] }],
    read: () => readRows(path, fields, takesId, warnings),
    takeWarnings: () => warnings.take(),
  }
}

async function* readRows(
  path: string,
  fields: readonly Field[],
  takesId: boolean,
  warnings: Warnings,
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  let row = 0
  for await (const { id, properties, geometry } of featuresOf(path, null, warnings)) {
    row++
    const wkb = geometry ? wkbOfGeoJson(geometry) : null
    if (geometry && wkb === null) {
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

/** The features of a file; what it says of itself goes into `about`. */
async function* featuresOf(
  path: string,
  about: { name: string; srid: number | null } | null,
  warnings: Warnings | null,
  fractions: Map<string, TypeGuess> | null = null,
): AsyncGenerator<Feature> {
  let row = 0
  for await (const { bytes, isMember } of jsonObjects(createReadStream(path, { highWaterMark: 1 << 20 }), 'features')) {
    const value = parse(bytes, () => {
      warnings?.count('TEXT_NOT_UTF8', 'Texts are not in UTF-8 and were read as windows-1252.', row + 1)
    })
    const { type } = value
    if (fractions !== null) guessFractions(bytes, value, fractions)
    if (type === 'Feature') yield value
    else if (typeof type === 'string' && GEOMETRIES.test(type)) yield { geometry: value as unknown as GeoJsonGeometry }
    else if (!isMember && type === 'FeatureCollection') {
      if (about) describe(value, about)
      continue
    } else throw conversionFailed({ reason: `object ${row + 1} is no GeoJSON feature` })
    row++
  }
}

/** Counts fields whose numbers are written as fractions as such: their text is gone once it is parsed. */
function guessFractions(bytes: Buffer, { properties }: Feature, guesses: Map<string, TypeGuess>): void {
  if (!properties || typeof properties !== 'object') return
  for (const name of fractionMembers(bytes.toString('latin1'))) {
    const key = Buffer.from(name, 'latin1').toString('utf8')
    if (typeof properties[key] !== 'number') continue
    let guess = guesses.get(key)
    if (!guess) guesses.set(key, (guess = new TypeGuess()))
    guess.addKind('float8')
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

const utf8 = new TextDecoder('utf-8', { fatal: true })
const latin = new TextDecoder('windows-1252')

function parse(bytes: Buffer, onLatin: () => void): Record<string, unknown> {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    onLatin()
    text = latin.decode(bytes)
  }
  try {
    return (LONG_NUMBER.test(text) ? JSON.parse(text, exactly as never) : JSON.parse(text)) as Record<string, unknown>
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
