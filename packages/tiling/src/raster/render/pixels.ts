import type { RasterInfo } from '../raster-info.ts'

/** Values of one band, pixel by pixel. Whole numbers of more than 24 bits and doubles need the wider array. */
export type Plane = Float32Array | Float64Array

/** Samples of a raster for the pixels of a rectangle. */
export interface ReadPixels {
  readonly width: number
  readonly height: number
  /** Stored values of each requested band; meaningless where a pixel is not valid. */
  readonly planes: readonly Plane[]
  /** 0 for missing pixels, 255 for opaque ones. */
  readonly alpha: Uint8Array
}

/** Requested bands of the raster, and their nodata value. */
export interface BandChoice {
  /** 0-based. */
  readonly bands: readonly number[]
  /** Replaces the nodata value of the file; null for none. */
  readonly nodata: number | null
  /** As of a layer's choice. */
  readonly keepsMissing?: boolean | undefined
}

export function allocatePlane({ sampleType }: RasterInfo, count: number): Plane {
  return WIDE.has(sampleType) ? new Float64Array(count) : new Float32Array(count)
}

const WIDE: ReadonlySet<RasterInfo['sampleType']> = new Set(['uint32', 'int32', 'float64'])

/** The bands to read: the requested ones, then alpha. A palette has a single band. */
export function bandsToRead(raster: RasterInfo, { bands }: BandChoice): number[] {
  const wanted = raster.palette === null ? bands : [0]
  return [...new Set([...wanted, ...(raster.alphaBand === null ? [] : [raster.alphaBand])])]
}

/** Position of a band's samples in a pixel of an interleaved block. */
export function offsetInPixel(raster: RasterInfo, band: number): number {
  return raster.planar || raster.palette !== null ? 0 : band
}

/** The block of a band, given the block of the first plane. */
export function blockOfBand(
  level: { readonly planar: boolean; readonly blocksAcross: number; readonly blocksDown: number },
  block: number,
  band: number,
): number {
  return level.planar ? band * level.blocksAcross * level.blocksDown + block : block
}
