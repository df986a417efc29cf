/** The type of a stored sample. */
export type FixtureType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float16' | 'float32' | 'float64'

export type FixtureCompression = 'none' | 'lzw' | 'deflate' | 'zstd' | 'packbits' | 'jpeg' | 'webp' | 'lerc'

export type FixtureColor = 'gray' | 'gray-inverted' | 'rgb' | 'palette' | 'ycbcr'

/** Source of the image; called for whole rows, from top to bottom, each once. */
export interface ImageSource {
  readonly width: number
  readonly height: number
  readonly bands: number
  /** `height · width · bands` values, the bands of a pixel side by side. */
  read(x: number, y: number, width: number, height: number): ArrayLike<number>
}

/** Georeference of the image. */
export interface FixtureGeoreference {
  /** GDAL's order: x of the corner, column step, row step, y of the corner, column step, row step. */
  readonly affine?: readonly [number, number, number, number, number, number]
  /** An EPSG code, 32767 for a user-defined CRS. */
  readonly epsg?: number
  /** True for a code of longitude and latitude. */
  readonly geographic?: boolean
  readonly citation?: string
  /** Tie the transform to pixel centers. */
  readonly pixelIsPoint?: boolean
  /** Column, row, x and y of ground control points, instead of a transform. */
  readonly groundControlPoints?: readonly (readonly [number, number, number, number])[]
}

/** A field by TIFF's numbers for tags and types. */
export interface Field {
  readonly tag: number
  readonly type: number
  readonly values: ArrayLike<number>
}

/** Options for storing an image. */
export interface GeoTiffOptions {
  readonly type: FixtureType
  /** Fewer bits than the type has, packed. */
  readonly bitsPerSample?: number
  readonly compression?: FixtureCompression
  readonly predictor?: 1 | 2 | 3
  /** Rows of a strip; tiles when absent. */
  readonly rowsPerStrip?: number
  /** Side of tiles, a multiple of 16; when absent 256, or as much as a smaller level needs. */
  readonly tileSize?: number
  readonly planar?: boolean
  readonly littleEndian?: boolean
  readonly bigTiff?: boolean
  readonly color?: FixtureColor
  /** TIFF's ExtraSamples: 0 unspecified, 1 associated alpha, 2 alpha. */
  readonly extraSamples?: readonly number[]
  /** Red, green and blue of each index, 0 to 255. */
  readonly palette?: readonly (readonly [number, number, number])[]
  readonly nodata?: string
  /** GDAL's metadata items of bands. */
  readonly bandItems?: readonly { readonly band: number; readonly role: string; readonly value: string }[]
  /** GDAL's metadata items of the file. */
  readonly fileItems?: Readonly<Record<string, string>>
  readonly georeference?: FixtureGeoreference
  /** Fields of the full image as TIFF stores them, which replace others with their tags. */
  readonly fields?: readonly Field[]
  /** An internal mask: true where a pixel is valid. */
  readonly mask?: (x: number, y: number) => boolean
  /** Number of overviews, each half the size of the one before. */
  readonly overviews?: number
  /** Blocks that are not written, by the column, row and band plane of the full image. */
  readonly isSparse?: (column: number, row: number, plane: number) => boolean
  /** Quality of JPEG and WEBP; 100 makes WEBP lossless. */
  readonly quality?: number
  /** Halve the resolution of JPEG's colour differences, as most writers do. */
  readonly halveChroma?: boolean
  /** Put the JPEG tables into the directory, as libtiff does. */
  readonly sharedJpegTables?: boolean
  /** Wrapper of LERC blobs. NaN pixels become LERC's invalid pixels. */
  readonly lercWrapper?: 'none' | 'deflate' | 'zstd'
}

/** An image computed value by value. */
export function imageOf(
  size: { readonly width: number; readonly height: number; readonly bands: number },
  value: (x: number, y: number, band: number) => number,
): ImageSource {
  const { bands } = size
  return {
    ...size,
    read(x, y, width, height) {
      const values = new Float64Array(width * height * bands)
      for (let row = 0, i = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          for (let band = 0; band < bands; band++) values[i++] = value(x + column, y + row, band)
        }
      }
      return values
    },
  }
}
