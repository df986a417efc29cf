import { WkbCursor, problemAt, wkbHead } from '@terrane/core/wkb'
import type { Warnings } from '@terrane/core/errors'
import { geometryOfText, isGeometryText, sridOfText } from './coordinates.ts'

/** Number of values of a column that are examined; nulls and empty texts do not count. */
export const SAMPLE = 200
/** Bytes at the beginning of EWKB that contain its SRID. */
const HEAD_BYTES = 9
const WGS84 = 4326

/** Columns whose values all are geometries, though the file does not say so. */
export interface UntoldGeometry {
  /** Index of the only geometry column, or of the first with a usual name; null when none stands out. */
  readonly index: number | null
  readonly srid: number
  readonly decode: (value: unknown) => Uint8Array | null
}

const NAMES = /^(?:the_)?geom(?:etry)?$|^wk[bt](?:_geometry)?$|^shape$/i
const cursor = new WkbCursor()

/**
 * Finds the geometry of a table whose format does not state geometries, by WKB in bytes and WKT in texts. Assumptions
 * and further geometry columns are warnings.
 *
 * @param samples first non-empty values by column
 */
export function findUntold(
  names: readonly string[],
  samples: readonly (readonly unknown[])[],
  srid: number | undefined,
  warnings: Warnings,
): UntoldGeometry {
  const found = [...names.keys()].filter(
    (i) => samples[i]!.length > 0 && samples[i]!.slice(0, SAMPLE).every(isGeometry),
  )
  const index = found.length > 1 ? (found.find((i) => NAMES.test(names[i]!)) ?? null) : (found[0] ?? null)
  if (index === null) {
    const message =
      'Several columns hold geometries, so the table has none: leave one in the file, or write GeoParquet.'
    const doubtful = found.map((i) => names[i]!)
    if (found.length > 0) warnings.add('GEOMETRIES_DOUBTFUL', message, found.length, doubtful)
    return { index, srid: WGS84, decode: () => null }
  }
  warnOfOthers(
    found.filter((i) => i !== index).map((i) => names[i]!),
    warnings,
  )
  const said = samples[index]!.map(sridOf).find((code) => code !== null)
  if (said === undefined && srid === undefined) {
    warnAssumed(names[index]!, warnings)
  }
  return { index, srid: srid ?? said ?? WGS84, decode: geometryOf }
}

/** Warns about geometries without a stated reference system. */
export function warnAssumed(name: string, warnings: Warnings): void {
  const message =
    'The file does not say the reference system of its geometries: EPSG:4326 was assumed. Send sourceSrs to read them otherwise.'
  warnings.add('SYSTEM_ASSUMED', message, 1, [name])
}

/** Warns about further geometry columns, which stay unchanged because a table has one geometry. */
export function warnOfOthers(names: readonly string[], warnings: Warnings): void {
  const message =
    'A table has one geometry: further columns of geometries stay what they are in the file, bytes of WKB or texts.'
  if (names.length > 0) warnings.add('GEOMETRIES_LEFT', message, names.length, names)
}

/** Whether a value of a geometry column is a geometry: not null, not an empty text or empty bytes. */
export function saysGeometry(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== ''
  return value instanceof Uint8Array ? value.length > 0 : value !== null && value !== undefined
}

function isGeometry(value: unknown): boolean {
  if (typeof value === 'string') return isGeometryText(value)
  if (!(value instanceof Uint8Array) || wkbHead(value) === null) return false
  cursor.open(value, 0, value.length)
  return problemAt(cursor) !== 'damaged'
}

function geometryOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value.length > 0 ? value : null
  return typeof value === 'string' ? geometryOfText(value.trim()) : null
}

function sridOf(value: unknown): number | null {
  if (value instanceof Uint8Array) return sridOfText(Buffer.from(value.subarray(0, HEAD_BYTES)).toString('hex'))
  return typeof value === 'string' ? sridOfText(value.trim()) : null
}
