import type { RasterInfo, SampleType } from '../raster-info.ts'
import { openChunks } from './chunks.ts'
import { zarrUnusable } from './errors.ts'
import type { ZarrRaster } from './find.ts'
import { affineOfZarr, epsgOfZarr, type Centers } from './georeference.ts'
import { bytesOf, numberOf, product, type Fields, type ZarrArray } from './metadata.ts'

const MAX_BANDS = 65_535
/** Units of coordinates that are those of the reference system. */
const UNITS = /^(?:1|m|met(?:er|re)s?|deg(?:ree)?s?(?:[_ ](?:east|west|north|south|[EWNS]))?)$/i

/**
 * The headers of a raster of vectors in a folder with its metadata and coordinates.
 *
 * @throws ZARR_UNUSABLE
 */
export async function describeZarr(folder: string, zarr: ZarrRaster): Promise<RasterInfo> {
  const { array, axes } = zarr.vectors
  const { shape, chunk } = array
  const [width, height, count] = [shape[axes.x]!, shape[axes.y]!, shape[axes.band!]!]
  const [blockWidth, blockHeight, thickness] = [chunk[axes.x]!, chunk[axes.y]!, chunk[axes.band!]!]
  if (count > MAX_BANDS) throw zarrUnusable({ why: `it has ${count} bands; the limit is ${MAX_BANDS}` })
  const { scale, offset } = scaleOf(array.attributes)
  return {
    width,
    height,
    blockWidth,
    blockHeight,
    blocksAcross: Math.ceil(width / blockWidth),
    blocksDown: Math.ceil(height / blockHeight),
    tiled: true,
    planar: thickness === 1 && count > 1,
    samplesPerPixel: count,
    bitsPerSample: 8 * bytesOf(array.dataType)!,
    sampleType: zarr.scales === null ? sampleTypeOf(array) : 'float32',
    bands: Array.from({ length: count }, (_, index) => ({ index, color: 'undefined', name: null, scale, offset })),
    nodata: zarr.scales === null ? nodataOf(array) : null,
    tags: tagsOf(zarr.attributes),
    affine: affineOfZarr(zarr, await centersOf(folder, zarr.x), await centersOf(folder, zarr.y)),
    epsg: epsgOfZarr(zarr),
    bytes: product(shape) * bytesOf(array.dataType)!,
    ...NOT_OF_ZARR,
  }
}

/** Values of the fields that only GeoTIFFs have. */
const NOT_OF_ZARR = {
  compression: 'none',
  predictor: 1,
  color: 'gray',
  littleEndian: true,
  reversedBits: false,
  blockOffsets: new Float64Array(0),
  blockByteCounts: new Float64Array(0),
  jpegTables: null,
  lercParameters: null,
  palette: null,
  mask: null,
  alphaBand: null,
  overviews: [],
  crsName: null,
  crsUnit: null,
  geoKeys: {},
  citations: [],
  controlPoints: [],
  groundControlPoints: 0,
} as const

function sampleTypeOf({ dataType }: ZarrArray): SampleType {
  if (dataType === 'float16') return 'float32'
  if (dataType === 'int64' || dataType === 'uint64')
    throw zarrUnusable({ why: `vectors of type ${dataType} are not read` })
  return dataType
}

/**
 * The value of samples without a value: as CF has it, else the fill value. A fill value of 0 is a default, and a value of
 * vectors.
 */
function nodataOf({ attributes, fill }: ZarrArray): number | null {
  for (const name of ['_FillValue', 'missing_value', 'nodata']) {
    const value = attributes[name]
    const number = numberOf(value) ?? (typeof value === 'string' ? encodedNumber(value) : null)
    if (number !== null) return number
  }
  return fill === 0 ? null : fill
}

/** xarray writes floats as the base64 text of their eight bytes. */
function encodedNumber(text: string): number | null {
  if (!/^[A-Za-z0-9+/]{11}=$/.test(text)) return null
  return Buffer.from(text, 'base64').readDoubleLE(0)
}

function scaleOf(attributes: Fields): { readonly scale: number; readonly offset: number } {
  return { scale: numberOf(attributes['scale_factor']) ?? 1, offset: numberOf(attributes['add_offset']) ?? 0 }
}

/** Texts and numbers of the attributes, with those of TESSERA under the names that its GeoTIFFs use. */
function tagsOf(attributes: Fields): Record<string, string> {
  const tags = Object.entries(attributes).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [],
  )
  const found = Object.fromEntries(tags)
  const version = found['tessera:model_version']
  const year = found['tessera:year']
  return {
    ...found,
    ...(version !== undefined && { TESSERA_DATASET_VERSION: version }),
    ...(year !== undefined && { TESSERA_YEAR: year }),
  }
}

/** Coordinates of columns or rows. @throws ZARR_UNUSABLE for a unit that is not that of a reference system */
async function centersOf(folder: string, array: ZarrArray | null): Promise<Centers> {
  const unit = array?.attributes['units']
  if (typeof unit === 'string' && !UNITS.test(unit)) {
    throw zarrUnusable({ why: `its coordinates are in the unit "${unit}"; meters and degrees are read` })
  }
  return array && coordinatesOf(folder, array)
}

/** The coordinates of a dimension; null when they were never written. */
export async function coordinatesOf(folder: string, array: ZarrArray): Promise<Float64Array | null> {
  const read = await openChunks(folder, array)
  const values = new Float64Array(array.shape[0]!)
  const [size] = array.chunk as readonly [number]
  const { scale, offset } = scaleOf(array.attributes)
  for (let first = 0; first < values.length; first += size) {
    const chunk = await read([first / size])
    if (chunk === null) return null
    const part = chunk.samples.subarray(0, Math.min(size, values.length - first))
    values.set(
      Float64Array.from(part, (value) => value * scale + offset),
      first,
    )
  }
  return values
}
