import type { ControlPoint, Affine } from '../raster-info.ts'
import type { Directory } from './directory.ts'
import { KEY, USER_DEFINED } from '../crs/geo-keys.ts'
import { TAG } from './tags.ts'

/** Georeference of a raster: its affine transform of pixel corners and its CRS. */
export interface Georeference {
  readonly affine: Affine | null
  readonly epsg: number | null
  readonly crsName: string | null
  readonly crsUnit: number | null
  readonly groundControlPoints: number
  readonly geoKeys: Readonly<Record<number, number>>
  readonly citations: readonly string[]
  readonly controlPoints: readonly ControlPoint[]
  /** Scale and offset from stored values to heights, where the CRS has any. */
  readonly heights: { readonly scale: number; readonly offset: number } | null
}

const PIXEL_IS_POINT = 2

/**
 * Reads the transform and the CRS keys.
 *
 * Source: OGC GeoTIFF 1.1 (19-008r4), sections 7 and 8. Where writers deviate, values are read as in GDAL: a negative
 * ScaleY is a north-up raster.
 */
export function readGeoreference(directory: Directory): Georeference {
  const keys = readGeoKeys(directory)
  const corners = readTransform(directory)
  const affine = corners !== null && keys.get(KEY.rasterType) === PIXEL_IS_POINT ? fromPixelCenters(corners) : corners
  const tiePoints = Math.floor(directory.count(TAG.modelTiepoint) / 6)
  return {
    affine,
    epsg: epsgOf(keys),
    crsName: citationsOf(keys)[0] ?? null,
    crsUnit: codeOf(keys, isProjected(keys) ? KEY.linearUnits : KEY.angularUnits),
    groundControlPoints: affine === null ? tiePoints : 0,
    geoKeys: Object.fromEntries([...keys].filter((entry): entry is [number, number] => typeof entry[1] === 'number')),
    citations: citationsOf(keys),
    controlPoints: affine === null ? readControlPoints(directory, keys.get(KEY.rasterType) === PIXEL_IS_POINT) : [],
    heights: keys.has(KEY.verticalCrs) ? readHeights(directory) : null,
  }
}

/** GDAL stores the scale and the offset of a band of heights in the third dimension of the transform. */
function readHeights(directory: Directory): Georeference['heights'] {
  const [, , scale = 0] = directory.reals(TAG.modelPixelScale, 3)
  const [, , z = 0, , , height] = directory.reals(TAG.modelTiepoint, 6)
  // GeoTIFF 1.0 does not define the third dimension, and writers differ.
  const isDefined = (directory.integers(TAG.geoKeyDirectory, 3)[2] ?? 0) > 0
  const isUsable = isDefined && scale !== 0 && Number.isFinite(scale) && Number.isFinite(height)
  return isUsable && height !== undefined ? { scale, offset: height - z * scale } : null
}

function readTransform(directory: Directory): Affine | null {
  const [scaleX = 0, scaleY = 0] = directory.reals(TAG.modelPixelScale, 2)
  const tie = directory.reals(TAG.modelTiepoint, 6)
  if (scaleX !== 0 && scaleY !== 0 && tie.length === 6) {
    const [column = 0, row = 0, , x = 0, y = 0] = tie
    const stepY = -Math.abs(scaleY)
    return usable([x - column * scaleX, scaleX, 0, y - row * stepY, 0, stepY])
  }
  const m = directory.reals(TAG.modelTransformation, 16)
  if (m.length !== 16) return null
  return usable([m[3] ?? 0, m[0] ?? 0, m[1] ?? 0, m[7] ?? 0, m[4] ?? 0, m[5] ?? 0])
}

/** Maximum number of control points that are read; further ones hardly improve the fit. */
const MAX_POINTS = 10_000

function readControlPoints(directory: Directory, isPoint: boolean): ControlPoint[] {
  const numbers = directory.reals(TAG.modelTiepoint, 6 * MAX_POINTS)
  // Positions of pixel centers, as in GDAL.
  const shift = isPoint ? 0.5 : 0
  return Array.from({ length: Math.floor(numbers.length / 6) }, (_, i) => {
    const [column = 0, row = 0, , x = 0, y = 0] = numbers.subarray(6 * i, 6 * i + 6)
    return { column: column + shift, row: row + shift, x, y }
  })
}

function usable(affine: Affine): Affine | null {
  const [, a, b, , c, d] = affine
  return affine.every(Number.isFinite) && a * d - b * c !== 0 ? affine : null
}

function fromPixelCenters([x, a, b, y, c, d]: Affine): Affine {
  return [x - (a + b) / 2, a, b, y - (c + d) / 2, c, d]
}

type GeoKeys = ReadonlyMap<number, number | string>

function readGeoKeys(directory: Directory): GeoKeys {
  const raw = directory.integers(TAG.geoKeyDirectory, 4 + 4 * 1024)
  const text = directory.text(TAG.geoAsciiParams) ?? ''
  const doubles = directory.reals(TAG.geoDoubleParams, 4096)
  const keys = new Map<number, number | string>()
  for (let i = 4; i + 3 < raw.length && i < 4 + 4 * (raw[3] ?? 0); i += 4) {
    const [id = 0, location = 0, count = 0, value = 0] = raw.subarray(i, i + 4)
    if (location === 0) keys.set(id, value)
    else if (location === TAG.geoDoubleParams && count > 0 && value < doubles.length)
      keys.set(id, doubles[value] as number)
    else if (location === TAG.geoAsciiParams) keys.set(id, text.slice(value, value + count))
  }
  return keys
}

function epsgOf(keys: GeoKeys): number | null {
  const modelType = keys.get(KEY.modelType)
  if (modelType !== undefined && modelType !== 1 && modelType !== 2) return null
  return codeOf(keys, isProjected(keys) ? KEY.projectedCrs : KEY.geographicCrs)
}

function isProjected(keys: GeoKeys): boolean {
  const modelType = keys.get(KEY.modelType)
  return modelType === 1 || (modelType !== 2 && keys.has(KEY.projectedCrs))
}

function codeOf(keys: GeoKeys, key: number): number | null {
  const code = keys.get(key)
  return typeof code === 'number' && code > 0 && code < USER_DEFINED ? code : null
}

function citationsOf(keys: GeoKeys): string[] {
  return [KEY.projectedCitation, KEY.citation, KEY.geographicCitation].flatMap((key) => {
    const citation = keys.get(key)
    const name = typeof citation === 'string' ? withoutTail(citation) : ''
    return name === '' ? [] : [name]
  })
}

/** Removes the bar at the end of a key's text. A regular expression would take quadratic time for a run of spaces. */
function withoutTail(text: string): string {
  let end = text.length
  while (end > 0 && '| '.includes(text[end - 1] as string)) end--
  return text.slice(0, end).trim()
}
