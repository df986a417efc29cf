import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import { expect, test } from 'vitest'
import { bufferSource, openRenderer, RESAMPLINGS, type RenderResampling, type View } from '../src/raster/index.ts'
import type { ChosenLevel } from '../src/raster/render/level.ts'
import { stepsOf } from '../src/raster/render/steps.ts'

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

/** By gdalwarp of GDAL 3.10 with an exact transform; 255 is nodata. */
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
    'bilinear',
    'coarser',
    [
      255, 128, 149, 113, 127, 145, 111, 131, 129, 109, 115, 118, 141, 109, 119, 120, 80, 122, 135, 125, 91, 68, 94,
      126, 115,
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

test('a kernel that overshoots leaves the bits of a sample to none, as GDAL writes 12 bits', async () => {
  const steps = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x) => (x % 8 < 4 ? 0 : 4095))
  const bytes = await writeGeoTiff(steps, { type: 'uint16', georeference, bitsPerSample: 12 })
  const { layer } = openRenderer(bufferSource(bytes))
  const view = { ...viewOf(0.04), width: 40 }
  for (const resampling of ['cubic', 'lanczos'] as const) {
    const read = await layer.read(view, { bands: [0], nodata: null, resampling })
    expect([Math.min(...read!.planes[0]!), Math.max(...read!.planes[0]!)], resampling).toEqual([0, 4095])
  }
})

test.each(RESAMPLINGS)('%s leaves out fill values that are stated rounded, or not at all', async (resampling) => {
  // Esri states -3.4e38 for the least single float.
  const filled = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) =>
    x < 20 ? -3.4028234663852886e38 : 5 + ((x + y) % 3),
  )
  for (const nodata of [{ nodata: '-3.4e+38' }, {}]) {
    const { layer } = openRenderer(
      bufferSource(await writeGeoTiff(filled, { type: 'float32', georeference, ...nodata })),
    )
    const read = await layer.read(layer.wholeView([40, 40], 40), { bands: [0], nodata: null, resampling })
    const shown = [...read!.planes[0]!].filter((_, i) => read!.alpha[i]! > 0)
    expect(shown).toHaveLength(800)
    expect(shown.every((value) => value >= 5 && value <= 7)).toBe(true)
  }
})

test('a mean of one pixel or one row is that of all pixels under it', async () => {
  const bytes = await writeGeoTiff(
    imageOf({ width: 6, height: 3, bands: 1 }, (x, y) => x + 10 * y),
    { type: 'float32', georeference },
  )
  const { layer } = openRenderer(bufferSource(bytes))
  const meanOf = async (size: readonly [number, number]) => {
    const read = await layer.read(layer.wholeView(size, 6), { bands: [0], nodata: null, resampling: 'average' })
    return [...read!.planes[0]!]
  }
  expect(await meanOf([1, 1])).toEqual([12.5])
  expect(await meanOf([3, 1])).toEqual([10.5, 12.5, 14.5])
  expect(await meanOf([1, 3])).toEqual([2.5, 12.5, 22.5])
})

test('a view of one row or column is widened like a view of more', async () => {
  for (const turned of [false, true]) {
    const [width, height] = turned ? [1, 64] : [64, 1]
    const line = imageOf({ width, height, bands: 1 }, (x, y) => ((x + y) % 4 < 2 ? 40 : 80))
    const { layer } = openRenderer(bufferSource(await writeGeoTiff(line, { type: 'uint8', georeference })))
    for (const resampling of ['bilinear', 'cubic_spline', 'average'] as const) {
      const view = turned ? layer.wholeView([1, 8], 8) : layer.wholeView([8, 1], 8)
      const read = await layer.read(view, { bands: [0], nodata: null, resampling })
      // Each pixel of the view covers two periods.
      for (const value of [...read!.planes[0]!].slice(1, -1)) expect(value, resampling).toBeCloseTo(60, -0.5)
    }
  }
})

test('a picture of one pixel has the value at its centre for a mean', async () => {
  const bytes = await writeGeoTiff(image, { type: 'uint8', georeference })
  const { layer } = openRenderer(bufferSource(bytes))
  const view = { ...viewOf(0.04), width: 1, height: 1 }
  const read = await layer.read(view, { bands: [0], nodata: null, resampling: 'average' })
  expect(read?.planes[0]?.[0]).toBe((19 * 37 + 12 * 53 + ((19 * 12) % 29) * 5) % 251)
})

test('a view of a raster turned by 10 degrees widens the kernel by the length of its pixels, not by their box', () => {
  const [cos, sin] = [2 * Math.cos(Math.PI / 18), 2 * Math.sin(Math.PI / 18)]
  const xy = Float64Array.from({ length: 2 * 16 * 16 }, (_, i) => {
    const [x, y] = [(i >> 1) % 16, i >> 5]
    return i % 2 === 0 ? x * cos - y * sin + 10 : x * sin + y * cos
  })
  const level = { width: 100, height: 100 } as ChosenLevel['level']
  const steps = stepsOf({ width: 16, height: 16, xy }, { level, mask: null, index: 0, factorX: 1, factorY: 1 })
  expect([steps.across, steps.down]).toEqual([expect.closeTo(2, 9), expect.closeTo(2, 9)])
})

test('a view of the whole reads the overview that fits, for every method', async () => {
  const large = imageOf({ width: 1024, height: 1024, bands: 1 }, (x, y) => (x + y) % 251)
  const bytes = await writeGeoTiff(large, { type: 'uint8', georeference, overviews: 5 })
  const { layer } = openRenderer(bufferSource(bytes))
  const view = layer.wholeView([20, 20], 20)
  for (const resampling of RESAMPLINGS) {
    const pixels = layer
      .needs(view, { bands: [0], nodata: null, resampling })
      .reduce((sum, need) => sum + need.pixels, 0)
    // The overview of 32 by 32 pixels is one block.
    expect(pixels, resampling).toBeLessThanOrEqual(256 * 256)
  }
})

test('too large a window is refused by the methods that need all of it', async () => {
  const bytes = await writeGeoTiff(image, { type: 'uint8', georeference })
  const { layer } = openRenderer(bufferSource(bytes))
  const view = layer.wholeView([8, 8], 8)
  const bands = Array.from({ length: 50_000 }, () => 0)
  for (const resampling of ['lanczos', 'average'] as const) {
    expect(() => layer.needs(view, { bands, nodata: null, resampling })).toThrow(
      expect.objectContaining({ code: 'TILE_TOO_COARSE' }) as Error,
    )
  }
})

test.each([
  [
    'lanczos',
    [
      255, 255, 37, 65, 81, 100, 255, 255, 147, 255, 255, 255, 105, 255, 255, 255, 158, 171, 167, 255, 255, 255, 129,
      255, 255, 255, 202, 243, 177, 255, 255, 255, 141, 255, 255, 255, 224, 255, 255, 0, 255, 255, 146, 158, 175, 186,
      177, 255, 255, 0,
    ],
  ],
  [
    'cubic',
    [
      255, 255, 77, 95, 104, 110, 124, 139, 148, 255, 255, 255, 96, 101, 116, 131, 144, 157, 162, 255, 255, 255, 117,
      122, 137, 153, 157, 161, 136, 255, 255, 255, 139, 144, 159, 174, 175, 255, 255, 15, 255, 255, 144, 149, 164, 179,
      147, 255, 255, 8,
    ],
  ],
  [
    'cubic_spline',
    [
      255, 255, 78, 96, 106, 114, 124, 133, 138, 255, 255, 255, 100, 111, 121, 130, 139, 144, 140, 255, 255, 255, 119,
      127, 136, 146, 151, 146, 120, 255, 255, 255, 134, 141, 150, 157, 153, 255, 255, 41, 255, 255, 143, 150, 157, 155,
      133, 255, 255, 21,
    ],
  ],
] as const)('%s of a raster with many gaps has those of gdalwarp', async (resampling, expected: readonly number[]) => {
  const gaps = imageOf({ width: 16, height: 16, bands: 1 }, (x, y) =>
    (x * x + 3 * y * y + x * y) % 7 < 4 ? (x * 37 + y * 53) % 251 : NODATA,
  )
  const bytes = await writeGeoTiff(gaps, { type: 'uint8', georeference, nodata: String(NODATA) })
  const { layer } = openRenderer(bufferSource(bytes))
  const [pixelWidth, pixelHeight] = [0.041, 0.041]
  const view: View = { width: 10, height: 5, plane: 'lnglat', left: 10.52, top: 49.303, pixelWidth, pixelHeight }
  const read = await layer.read(view, { bands: [0], nodata: null, resampling })
  const found = Array.from(read!.planes[0]!, (value, i) => (read!.alpha[i] === 0 ? NODATA : value))
  expect(found).toEqual(expected.map((value) => expect.closeTo(value, -0.4) as number))
})
