/** `[a, b, c, d, e, f]` in GDAL's order: `X = a + column·b + row·c`, `Y = d + column·e + row·f`; pixel corners. */
export type Affine = readonly [number, number, number, number, number, number]

/** A pixel position (corners, not centers) and its coordinates in the CRS. */
export interface ControlPoint {
  readonly column: number
  readonly row: number
  readonly x: number
  readonly y: number
}

/** The type of a decoded sample. Sub-byte and odd bit depths widen to the next type, half floats to `float32`. */
export type SampleType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64'

/** Samples of one block or window. */
export type Samples =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array

/** Compression of blocks. `lerc` includes its deflate and zstd variants. */
export type Compression = 'none' | 'lzw' | 'deflate' | 'zstd' | 'packbits' | 'jpeg' | 'webp' | 'lerc'

/** Meaning of a pixel's samples, from the photometric interpretation. */
export type ColorModel = 'gray' | 'gray-inverted' | 'rgb' | 'palette' | 'ycbcr' | 'mask'

/** The declared meaning of one band. */
export type BandColor = 'gray' | 'red' | 'green' | 'blue' | 'alpha' | 'palette' | 'undefined'

/** A band of a raster; `index` is 0-based. */
export interface BandInfo {
  readonly index: number
  readonly color: BandColor
  /** Its description in the file, or its name in a sensor profile; null without either. */
  readonly name: string | null
  /** Physical value = stored value · scale + offset. */
  readonly scale: number
  readonly offset: number
}

/**
 * One image of the file: full resolution, an overview or a mask. Blocks are tiles, or strips as full-width blocks,
 * counted row by row; in planar files band after band.
 */
export interface RasterLevel {
  readonly width: number
  readonly height: number
  readonly blockWidth: number
  readonly blockHeight: number
  readonly blocksAcross: number
  readonly blocksDown: number
  readonly tiled: boolean
  /** True when each band has blocks of its own. */
  readonly planar: boolean
  readonly samplesPerPixel: number
  readonly bitsPerSample: number
  readonly sampleType: SampleType
  readonly compression: Compression
  readonly predictor: 1 | 2 | 3
  readonly color: ColorModel
  /** Byte order of stored samples. */
  readonly littleEndian: boolean
  /** True when the bits of each stored byte run from the least significant one (FillOrder 2). */
  readonly reversedBits: boolean
  /** Byte position of each block; 0 with a count of 0 is a block that was never written. */
  readonly blockOffsets: Float64Array
  readonly blockByteCounts: Float64Array
  readonly jpegTables: Uint8Array | null
  readonly lercParameters: readonly number[] | null
}

/** A reduced image, with its own mask. */
export interface RasterOverview extends RasterLevel {
  readonly mask: RasterLevel | null
}

/** The coordinate reference system of a raster, with the definition that transforms it. */
export interface RasterCrs {
  /** Null when the CRS is described by its parameters. */
  readonly epsg: number | null
  readonly name: string
  /** A PROJ string. */
  readonly definition: string
  /** West, south, east and north of areas in which the definition is not valid. */
  readonly exceptions: readonly (readonly [number, number, number, number])[]
}

/**
 * All facts from a raster's headers. Plain data: it can be posted to a worker thread, which opens the file by itself.
 */
export interface RasterInfo extends RasterLevel {
  /** Size of the file in bytes. */
  readonly bytes: number
  readonly bands: readonly BandInfo[]
  /** GDAL's metadata of the file as a whole, by name. */
  readonly tags: Readonly<Record<string, string>>
  /** Index of the alpha band, or null. */
  readonly alphaBand: number | null
  /** The stored value that means "no data"; NaN is possible. */
  readonly nodata: number | null
  /** Red, green and blue of each index (`3 · entries` bytes), for palette rasters. */
  readonly palette: Uint8Array | null
  readonly mask: RasterLevel | null
  /** Largest first. */
  readonly overviews: readonly RasterOverview[]
  readonly affine: Affine | null
  /** EPSG code as stored, supported or not; null when none is stored or it is user-defined. */
  readonly epsg: number | null
  /** Citation of the CRS: its name when it has no code. */
  readonly crsName: string | null
  /** EPSG code of the unit of its axes; null when none is stored or it is user-defined. */
  readonly crsUnit: number | null
  /** Numbers of the GeoTIFF keys and texts of its citations, which define a CRS without a code. */
  readonly geoKeys: Readonly<Record<number, number>>
  readonly citations: readonly string[]
  /** The control points in pixels from the upper left corner; empty if there is a transform. */
  readonly controlPoints: readonly ControlPoint[]
  /** Number of ground control points that are stored instead of an affine transform. */
  readonly groundControlPoints: number
}
