import { writeGeoTiff } from '@terrane/testing/geotiff'
import type { FixtureType, GeoTiffOptions, ImageSource } from '@terrane/testing/geotiff'
import { bufferSource, openGeoTiff } from '../src/raster/index.ts'
import type { ByteSource, RasterInfo } from '../src/raster/index.ts'

/** A written and opened raster. */
export interface Fixture {
  readonly bytes: Uint8Array
  readonly source: ByteSource
  readonly raster: RasterInfo
}

export async function fixture(image: ImageSource, options: GeoTiffOptions): Promise<Fixture> {
  const bytes = await writeGeoTiff(image, options)
  const source = bufferSource(bytes)
  return { bytes, source, raster: openGeoTiff(source) }
}

/** A value that the type can hold, different for every pixel and band near each other, negative where it can be. */
export function valueOf(type: FixtureType, x: number, y: number, band: number): number {
  const n = (x * 7 + y * 131 + band * 1_009 + ((x * y) % 23) * 77) % 60_000
  switch (type) {
    case 'uint8':
      return n % 256
    case 'int8':
      return (n % 256) - 128
    case 'uint16':
      return n
    case 'int16':
      return n - 30_000
    case 'uint32':
      return n * 71_000
    case 'int32':
      return n * 71_000 - 2_000_000_000
    case 'float16':
      return ((n % 1_024) - 512) / 64
    case 'float32':
      return Math.fround(Math.sin(n) * 10 ** ((n % 21) - 10))
    case 'float64':
      return Math.sin(n) * 10 ** ((n % 201) - 100)
  }
}

/** A georeference near 13.6° E, 50.5° N. */
export const UTM33 = { affine: [400_000, 2, 0, 5_600_000, 0, -2], epsg: 32_633 } as const
