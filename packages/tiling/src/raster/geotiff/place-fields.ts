import { KEY, type GeoNumbers } from '../crs/geo-keys.ts'
import type { Affine } from '../raster-info.ts'
import { TAG } from './tags.ts'
import { shortField } from './write-tiff.ts'
import type { TiffField } from './write-tiff.ts'

/** A CRS as GeoTIFF keys name it. */
export interface CodedCrs {
  readonly epsg: number
  /** Its coordinates are longitude and latitude. */
  readonly isGeographic: boolean
}

/**
 * The fields of a place: the transform of pixel corners, and the CRS by its code, or by GeoTIFF keys. Source: OGC GeoTIFF
 * 1.1.
 */
export function placeFields([x, a, b, y, c, d]: Affine, crs: CodedCrs | GeoNumbers): TiffField[] {
  const { epsg, isGeographic } = crs as CodedCrs
  const numbers: GeoNumbers =
    epsg === undefined
      ? (crs as GeoNumbers)
      : { [KEY.modelType]: isGeographic ? 2 : 1, [isGeographic ? KEY.geographicCrs : KEY.projectedCrs]: epsg }
  const keys = Object.entries({ ...numbers, [KEY.rasterType]: 1 })
    .map(([key, value]) => [Number(key), value] as const)
    .filter(([key]) => HORIZONTAL.has(key))
    .toSorted(([one], [other]) => one - other)
  const doubles = keys.filter(([key]) => isDouble(key)).map(([, value]) => value)
  let at = 0
  const entries = keys.flatMap(([key, value]) =>
    isDouble(key) ? [key, TAG.geoDoubleParams, 1, at++] : [key, 0, 1, value],
  )
  return [
    { tag: TAG.modelTransformation, type: 'double', values: [a, b, 0, x, c, d, 0, y, 0, 0, 0, 0, 0, 0, 0, 1] },
    shortField(TAG.geoKeyDirectory, [1, 1, 0, keys.length, ...entries]),
    ...(doubles.length === 0 ? [] : [{ tag: TAG.geoDoubleParams, type: 'double', values: doubles } as const]),
  ]
}

/** The keys that define the horizontal CRS; others, such as a shift to WGS 84, may have more than one value. */
const HORIZONTAL: ReadonlySet<number> = new Set(Object.values(KEY).filter((key) => key !== KEY.verticalCrs))

/** Whether a key has a number that is not a code: sizes of units, axes of ellipsoids, and parameters of projections. */
function isDouble(key: number): boolean {
  const isSize = key === KEY.angularUnitSize || key === KEY.linearUnitSize || key === KEY.primeMeridianLng
  return (
    isSize ||
    (key >= KEY.semiMajor && key <= KEY.inverseFlattening) ||
    (key >= KEY.standardParallel1 && key <= KEY.straightVerticalPole)
  )
}
