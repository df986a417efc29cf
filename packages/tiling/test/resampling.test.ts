import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import { expect, test } from 'vitest'
import { bufferSource, openRenderer, type RenderResampling, type View } from '../src/raster/index.ts'

const SIDE = 40
const NODATA = 255
const image = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) => {
  const isHole = y >= 12 && y < 15 && x >= 20 && x < 23
  return isHole ? NODATA : (x * 37 + y * 53 + ((x * y) % 29) * 5) % 251
})
const georeference = { affine: [10, 0.1, 0, 50, 0, -0.1] as const, epsg: 4326, geographic: true }

/** Five by five pixels whose corner is not one of the raster's. */
function viewOf(pixel: number): View {
  return { width: 5, height: 5, plane: 'lnglat', left: 11.913, top: 48.793, pixelWidth: pixel, pixelHeight: pixel }
}

const PIXELS = { finer: 0.04, coarser: 0.3 } as const

/** By gdalwarp of GDAL 3.10 with an exact transform; 255 is no data. */
const GDAL: readonly (readonly [RenderResampling, keyof typeof PIXELS, readonly number[]])[] = [
  [
    'cubic',
    'finer',
    [
      164, 174, 255, 255, 255, 193, 210, 255, 255, 255, 194, 211, 255, 255, 255, 195, 212, 255, 255, 255, 189, 213, 255,
      255, 255,
    ],
  ],
  [
    'cubic',
    'coarser',
    [
      255, 130, 152, 110, 127, 150, 111, 132, 134, 103, 116, 120, 146, 103, 119, 124, 72, 120, 136, 125, 90, 63, 90,
      130, 110,
    ],
  ],
  [
    'cubic_spline',
    'finer',
    [
      149, 158, 255, 255, 255, 171, 185, 255, 255, 255, 179, 197, 255, 255, 255, 177, 199, 255, 255, 255, 170, 196, 255,
      255, 255,
    ],
  ],
  [
    'cubic_spline',
    'coarser',
    [
      255, 131, 136, 123, 123, 131, 125, 132, 124, 114, 116, 119, 132, 118, 119, 108, 90, 113, 126, 121, 93, 80, 105,
      126, 122,
    ],
  ],
  [
    'lanczos',
    'finer',
    [
      176, 184, 255, 255, 255, 211, 232, 255, 255, 255, 211, 235, 255, 255, 255, 198, 226, 255, 255, 255, 196, 242, 255,
      255, 255,
    ],
  ],
  [
    'lanczos',
    'coarser',
    [
      255, 128, 151, 111, 126, 150, 115, 130, 133, 101, 116, 123, 151, 100, 121, 126, 67, 117, 135, 121, 89, 62, 88,
      132, 109,
    ],
  ],
  [
    'average',
    'finer',
    [
      209, 209, 209, 255, 255, 209, 209, 209, 255, 255, 211, 211, 211, 255, 255, 212, 212, 212, 255, 255, 213, 213, 213,
      255, 255,
    ],
  ],
  [
    'average',
    'coarser',
    [
      206, 131, 159, 86, 130, 153, 93, 127, 150, 101, 114, 119, 140, 95, 120, 133, 76, 125, 139, 144, 95, 61, 93, 131,
      91,
    ],
  ],
  [
    'mode',
    'finer',
    [
      209, 209, 209, 255, 255, 209, 209, 209, 255, 255, 209, 209, 209, 255, 255, 212, 212, 212, 255, 255, 212, 212, 212,
      255, 255,
    ],
  ],
  [
    'mode',
    'coarser',
    [209, 56, 240, 0, 146, 112, 42, 98, 144, 190, 15, 106, 197, 37, 128, 72, 54, 45, 181, 66, 72, 38, 38, 74, 4],
  ],
  [
    'rms',
    'finer',
    [
      209, 209, 209, 255, 255, 209, 209, 209, 255, 255, 211, 211, 211, 255, 255, 212, 212, 212, 255, 255, 213, 213, 213,
      255, 255,
    ],
  ],
  [
    'rms',
    'coarser',
    [
      207, 142, 173, 109, 150, 165, 118, 141, 165, 122, 143, 139, 155, 114, 147, 140, 81, 157, 158, 155, 113, 70, 100,
      144, 109,
    ],
  ],
]

test.each(GDAL)(
  '%s of %s pixels is that of gdalwarp within 1, with the same gaps',
  async (resampling, pixel, expected) => {
    const bytes = await writeGeoTiff(image, { type: 'uint8', georeference, nodata: String(NODATA) })
    const { layer } = openRenderer(bufferSource(bytes))
    const read = await layer.read(viewOf(PIXELS[pixel]), { bands: [0], nodata: null, resampling })
    const found = Array.from(read!.planes[0]!, (value, i) => (read!.alpha[i] === 0 ? NODATA : value))
    expect(found.map((value) => value === NODATA)).toEqual(expected.map((value) => value === NODATA))
    const far = found.filter((value, i) => Math.abs(value - expected[i]!) > 1)
    expect(far, `${found.join()} beside ${expected.join()}`).toEqual([])
  },
)

test('a picture of one pixel has the value at its centre for a mean', async () => {
  const bytes = await writeGeoTiff(image, { type: 'uint8', georeference })
  const { layer } = openRenderer(bufferSource(bytes))
  const view = { ...viewOf(0.04), width: 1, height: 1 }
  const read = await layer.read(view, { bands: [0], nodata: null, resampling: 'average' })
  expect(read?.planes[0]?.[0]).toBe((19 * 37 + 12 * 53 + ((19 * 12) % 29) * 5) % 251)
})
