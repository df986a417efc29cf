import { KEY } from '../crs/geo-keys.ts'
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

/** The fields of a place: the transform of pixel corners, and the code of the CRS. Source: OGC GeoTIFF 1.1. */
export function placeFields([x, a, b, y, c, d]: Affine, { epsg, isGeographic }: CodedCrs): TiffField[] {
  const keys = [1, 1, 0, 3, KEY.modelType, 0, 1, isGeographic ? 2 : 1, KEY.rasterType, 0, 1, 1]
  return [
    { tag: TAG.modelTransformation, type: 'double', values: [a, b, 0, x, c, d, 0, y, 0, 0, 0, 0, 0, 0, 0, 1] },
    shortField(TAG.geoKeyDirectory, [...keys, isGeographic ? KEY.geographicCrs : KEY.projectedCrs, 0, 1, epsg]),
  ]
}
