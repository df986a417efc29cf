import { SAMPLE_BYTES } from '../../decode/samples.ts'
import { placeFields } from '../../geotiff/place-fields.ts'
import {
  HEADER_BYTES,
  gdalMetadata,
  longField,
  shortField,
  tiffDirectories,
  tiffHeader,
  tiffText,
} from '../../geotiff/write-tiff.ts'
import type { TiffField } from '../../geotiff/write-tiff.ts'
import { TAG } from '../../geotiff/tags.ts'
import { buildDefinition } from '../../crs/by-parameters.ts'
import { keysOfWkt } from '../../crs/esri-wkt.ts'
import type { Affine } from '../../raster-info.ts'
import { crsWithoutCode } from '../errors.ts'
import type { Layer } from '../layer.ts'
import type { View } from '../view.ts'
import type { ViewValues } from './derive.ts'
import { planesOf } from './npy.ts'

/**
 * Values of a view as a GeoTIFF: a BigTIFF with a plane per band, without compression, and a mask where pixels are
 * missing.
 *
 * @param own CRS and keys of the raster, for a view in its plane
 * @throws CRS_WITHOUT_CODE
 */
export function encodeGeoTiff(
  { pixels, names, type }: ViewValues,
  view: View,
  own: Pick<Layer, 'crs' | 'raster'>,
  mask: boolean,
): Uint8Array {
  const { width, height, planes, alpha } = pixels
  const data = planesOf(pixels, type, false)
  const hidden = mask && alpha.some((value) => value === 0) ? alpha.map((value) => (value === 0 ? 0 : 255)) : null
  const planeBytes = width * height * SAMPLE_BYTES[type]
  const perBand = (value: number): number[] => planes.map(() => value)
  const metadata = gdalMetadata(names.map((name) => ({ name, scale: 1, offset: 0 })))
  const image: TiffField[] = [
    ...sizeFields(width, height),
    shortField(TAG.samplesPerPixel, [planes.length]),
    shortField(TAG.bitsPerSample, perBand(8 * SAMPLE_BYTES[type])),
    shortField(TAG.compression, [1]),
    shortField(TAG.photometric, [1]),
    shortField(TAG.planarConfiguration, [2]),
    shortField(TAG.sampleFormat, perBand(type.startsWith('float') ? 3 : type.startsWith('u') ? 1 : 2)),
    longField(
      TAG.stripOffsets,
      planes.map((_, i) => HEADER_BYTES + i * planeBytes),
    ),
    longField(TAG.stripByteCounts, perBand(planeBytes)),
    ...(planes.length > 1 ? [shortField(TAG.extraSamples, perBand(0).slice(1))] : []),
    { tag: TAG.gdalMetadata, type: 'text', values: tiffText(metadata) },
    ...viewFields(view, own),
  ]
  const images = hidden === null ? [image] : [image, maskFields(width, height, HEADER_BYTES + data.length)]
  const end = HEADER_BYTES + data.length + (hidden?.length ?? 0)
  const start = end + (end % 2)
  const parts = [data, ...(hidden === null ? [] : [hidden]), new Uint8Array(start - end)]
  return Buffer.concat([tiffHeader(start), ...parts, tiffDirectories(images, start)])
}

function sizeFields(width: number, height: number): TiffField[] {
  return [
    longField(TAG.imageWidth, [width]),
    longField(TAG.imageLength, [height]),
    longField(TAG.rowsPerStrip, [height]),
  ]
}

function maskFields(width: number, height: number, offset: number): TiffField[] {
  return [
    ...sizeFields(width, height),
    shortField(TAG.newSubfileType, [4]),
    shortField(TAG.samplesPerPixel, [1]),
    shortField(TAG.bitsPerSample, [8]),
    shortField(TAG.compression, [1]),
    shortField(TAG.photometric, [4]),
    shortField(TAG.planarConfiguration, [1]),
    longField(TAG.stripOffsets, [offset]),
    longField(TAG.stripByteCounts, [width * height]),
  ]
}

function viewFields(
  { plane, left, top, pixelWidth, pixelHeight, grid, crs: planeCrs }: View,
  { crs: own, raster }: Pick<Layer, 'crs' | 'raster'>,
): TiffField[] {
  const crs = planeCrs ?? own
  const epsg = plane === 'mercator' ? 3857 : plane === 'lnglat' ? 4326 : crs.epsg
  const isGeographic = plane === 'lnglat' || (plane !== 'mercator' && crs.definition.includes('+proj=longlat'))
  const [x, xc, xr, y, yc, yr] = grid ?? [0, 1, 0, 0, 0, -1]
  const affine: Affine =
    plane === 'raster'
      ? [
          x + left * xc + top * xr,
          xc * pixelWidth,
          xr * pixelHeight,
          y + left * yc + top * yr,
          yc * pixelWidth,
          yr * pixelHeight,
        ]
      : [left, pixelWidth, 0, top, 0, -pixelHeight]
  if (epsg !== null) return placeFields(affine, { epsg, isGeographic })
  // A CRS without a code is that of the raster's keys, unless a text defines it.
  if (keysOfWkt(raster.citations) !== null || !('definition' in buildDefinition(raster.geoKeys))) {
    throw crsWithoutCode({ name: crs.name })
  }
  return placeFields(affine, raster.geoKeys)
}
