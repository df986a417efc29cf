import { isPromotable } from '@terrane/core/wkb'

const NAMES = [
  '',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]
const TO_MULTI = 3
/** ISO geometry types without arcs, by those with arcs: 8 (circular string) to 12 (multi surface). */
const STRAIGHT: Readonly<Record<number, number>> = { 8: 2, 9: 2, 10: 3, 11: 5, 12: 6 }
/** Largest angle of an arc that one straight segment replaces. */
const ARC_STEP = 'radians(4)'

/** Final type of a geometry column, and how to convert geometries to it. */
export interface FinalType {
  /** PostGIS's name of the type. */
  readonly name: string
  readonly hasZ: boolean
  readonly hasM: boolean
  /** True when some geometries lack heights or measures that others have; they are filled in. */
  readonly fills: boolean
  /** Type of the column while it is loaded. */
  readonly loadType: string
  /** Expression that makes the final geometry; null when loading does. */
  readonly convert: string | null
}

/** The one type of a column that holds geometries of these ISO types. */
export function finalType(
  types: readonly number[],
  options: {
    readonly promoteToMulti: boolean
    readonly onlyCode: number
    readonly sourceSrid: number
    readonly targetSrid: number
  },
): FinalType {
  const { onlyCode, promoteToMulti, sourceSrid, targetSrid } = options
  const multi = promoteToMulti && (onlyCode === 0 || onlyCode > TO_MULTI)
  const kept = types.filter((type) => onlyCode === 0 || codeOf(type % 1000, multi) === onlyCode)
  const hasCurves = kept.some((type) => STRAIGHT[type % 1000] !== undefined)
  const codes = [...new Set(kept.map((type) => codeOf(STRAIGHT[type % 1000] ?? type % 1000, multi)))].toSorted(
    (a, b) => a - b,
  )
  const isSingleAndMulti = codes.length === 2 && codes[0]! + TO_MULTI === codes[1]
  const code = codes.length === 1 ? codes[0]! : isSingleAndMulti ? codes[1]! : 0
  const dimensions = [...new Set(kept.map((type) => Math.floor(type / 1000)))]
  const hasZ = dimensions.some((value) => (value & 1) === 1)
  const hasM = dimensions.some((value) => value >= 2)
  const fills = dimensions.length > 1
  const name = `${NAMES[code] || 'Geometry'}${hasZ ? 'Z' : ''}${hasM ? 'M' : ''}`
  let convert = 'geom'
  if (hasCurves) convert = `st_curvetoline(${convert}, ${ARC_STEP}, 2)`
  if (isSingleAndMulti || (hasCurves && multi && code > TO_MULTI && code < 7)) convert = `st_multi(${convert})`
  if (fills) convert = `st_force${hasZ && hasM ? '4d' : hasZ ? '3dz' : '3dm'}(${convert})`
  if (sourceSrid !== targetSrid) convert = `st_transform(${convert}, ${targetSrid})`
  const isReady = convert === 'geom'
  return {
    name,
    hasZ,
    hasM,
    fills,
    loadType: isReady ? `geometry(${name}, ${targetSrid})` : 'geometry',
    convert: isReady ? null : convert,
  }
}

/** Code of a geometry after promotion. */
export function codeOf(code: number, multi: boolean): number {
  return multi && isPromotable(code) ? code + TO_MULTI : code
}

/** PostGIS's name of an ISO type, `PointZ` of 1001; curves and surfaces are plain geometries. */
export function nameOfType(type: number): string {
  const dimensions = Math.floor(type / 1000)
  return `${NAMES[type % 1000] || 'Geometry'}${dimensions & 1 ? 'Z' : ''}${dimensions >= 2 ? 'M' : ''}`
}

/** Code of a type by its name, 0 for none. */
export function codeOfName(name: string): number {
  return Math.max(0, NAMES.indexOf(name))
}
