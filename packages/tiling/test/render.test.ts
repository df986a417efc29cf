import proj4 from 'proj4'
import { describe, expect, test } from 'vitest'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import type { GeoTiffOptions, ImageSource } from '@terrane/testing/geotiff'
import {
  bufferSource,
  createCrsCatalogue,
  namedColormap,
  openRenderer,
  tileView,
  wholeView,
} from '../src/raster/index.ts'
import type { ByteSpan, Picture, RasterRenderer } from '../src/raster/index.ts'

const EDGE = Math.PI * 6_378_137
const WIDTH = 500
const HEIGHT = 420
/** Every pixel differs from its neighbours, so that a wrong one is seen. */
const image: ImageSource = {
  width: WIDTH,
  height: HEIGHT,
  bands: 3,
  read: (x, y, width, height) =>
    Array.from({ length: width * height * 3 }, (_, i) => {
      const [column, row] = [x + (Math.floor(i / 3) % width), y + Math.floor(i / 3 / width)]
      return 20 + ((column * 37 + row * 101 + (i % 3) * 71) % 200)
    }),
}
const pixels = image.read(0, 0, WIDTH, HEIGHT)

const PLACES: Readonly<Record<string, NonNullable<GeoTiffOptions['georeference']>>> = {
  'a UTM zone': { affine: [690_000, 3, 0, 5_336_000, 0, -3], epsg: 32632 },
  'longitude and latitude over the antimeridian': {
    affine: [179.99, 0.0001, 0, -16.5, 0, -0.0001],
    epsg: 4326,
    geographic: true,
  },
  'a polar projection': { affine: [-300_000, 900, 0, -900_000, 0, -900], epsg: 3413 },
  'Web Mercator, turned': { affine: [1_000_000, 4, 1, 6_000_000, 1, -4], epsg: 3857 },
}

const open = async (
  options: Partial<GeoTiffOptions> & Pick<GeoTiffOptions, 'georeference'>,
  onPlan?: (spans: readonly ByteSpan[]) => void,
) => {
  const bytes = await writeGeoTiff(image, { type: 'uint8', color: 'rgb', tileSize: 64, ...options })
  return openRenderer(bufferSource(bytes), onPlan ? { onPlan } : {})
}

/** The tile in the middle of a raster at its largest zoom. */
function middle({ bounds: [west, south, east, north], maxzoom: z }: RasterRenderer) {
  const n = 2 ** z
  const lng = (((west + (east < west ? east + 360 : east)) / 2 + 540) % 360) - 180
  const lat = (south + north) / 2
  const y = (0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n
  return { z, x: Math.min(n - 1, Math.floor(((lng + 180) / 360) * n)), y: Math.floor(y) }
}

describe.each(Object.entries(PLACES))('a raster in %s', (_, georeference) => {
  test('has in each pixel of a tile what an exact transform finds there', async () => {
    const renderer = await open({ georeference })
    const { z, x, y } = middle(renderer)
    const picture = (await renderer.render(tileView(z, x, y, 256))) as Picture
    const { affine = [0, 1, 0, 0, 0, 1], epsg = 0 } = georeference
    const forward = proj4(createCrsCatalogue().find(epsg)?.definition ?? '')
    const [x0, xc, xr, y0, yc, yr] = affine
    const span = (2 * EDGE) / 2 ** z
    let [different, seen] = [0, 0]
    for (let i = 0; i < 256 * 256; i += 7) {
      const mx = -EDGE + (x + ((i % 256) + 0.5) / 256) * span
      const my = EDGE - (y + (Math.floor(i / 256) + 0.5) / 256) * span
      const lng = (mx / EDGE) * 180
      const lat = (Math.atan(Math.sinh((my / EDGE) * Math.PI)) * 180) / Math.PI
      const [px, py] =
        epsg === 3857 ? [mx, my] : epsg === 4326 ? [lng < 0 ? lng + 360 : lng, lat] : forward.forward([lng, lat])
      const det = xc * yr - xr * yc
      const column = Math.floor(((px - x0) * yr - (py - y0) * xr) / det)
      const row = Math.floor(((py - y0) * xc - (px - x0) * yc) / det)
      const inside = column >= 0 && row >= 0 && column < WIDTH && row < HEIGHT
      seen += inside ? 1 : 0
      const drawn = picture.rgba.subarray(4 * i, 4 * i + 4)
      const expected = inside
        ? [...Array.from({ length: 3 }, (__, b) => pixels[(row * WIDTH + column) * 3 + b]), 255]
        : [0, 0, 0, 0]
      if (expected.some((value, b) => value !== drawn[b])) different++
    }
    expect(seen).toBeGreaterThan(1000)
    // A place that lies on the border of two pixels but for a thousandth may fall to either.
    expect(different / seen).toBeLessThan(0.002)
  })
})

test('a tile reads the blocks under it and no others, and a second time none', async () => {
  const plans: (readonly ByteSpan[])[] = []
  const georeference = { affine: [0, 1, 0, 0, 0, -1], epsg: 3857 } as const
  const renderer = await open({ georeference }, (spans) => plans.push(spans))
  // 100 of the raster's pixels, from its corner on: two blocks of 64 each way.
  const view = { ...tileView(0, 0, 0, 100), left: 0, top: 0, pixelWidth: 1, pixelHeight: 1 }
  await renderer.render(view)
  await renderer.render(view)
  expect(plans.map((spans) => spans.length)).toEqual([4, 0])
})

test('pixels without data are transparent, also where the caller names the value', async () => {
  const georeference = { affine: [0, 10, 0, 0, 0, -10], epsg: 3857 } as const
  const renderer = await open({ georeference })
  const view = wholeView(renderer.raster, WIDTH, HEIGHT)
  const value = pixels[0] as number
  const alone = pixels.length
  const picture = (await renderer.render(view, { bidx: [1], nodata: value })) as Picture
  for (let i = 0; i < alone / 3; i += 11) {
    expect(picture.rgba[4 * i + 3]).toBe(pixels[3 * i] === value ? 0 : 255)
  }
})

test('rescale, colormaps of values and of ramps, and bands of other orders', async () => {
  const georeference = { affine: [0, 10, 0, 0, 0, -10], epsg: 3857 } as const
  const renderer = await open({ georeference })
  const view = wholeView(renderer.raster, WIDTH, HEIGHT)
  const [r, g, b] = [pixels[0], pixels[1], pixels[2]] as [number, number, number]
  const first = async (style: Parameters<RasterRenderer['render']>[1]) => [
    ...((await renderer.render(view, style)) as Picture).rgba.subarray(0, 4),
  ]
  expect(await first({ bidx: [3, 2, 1] })).toEqual([b, g, r, 255])
  expect(await first({ bidx: [1], rescale: [[r - 10, r + 10]] })).toEqual([128, 128, 128, 255])
  expect(await first({ bidx: [1], rescale: [[r + 5, r + 10]], colormap: namedColormap('viridis') })).toEqual([
    68, 1, 84, 255,
  ])
  expect(await first({ bidx: [1], rescale: [[r - 10, r - 5]], colormap: namedColormap('viridis_r') })).toEqual([
    68, 1, 84, 255,
  ])
  expect(await first({ bidx: [1], colormap: { kind: 'values', colors: new Map([[r, [1, 2, 3, 4]]]) } })).toEqual([
    1, 2, 3, 4,
  ])
  const ranges = [{ from: r, to: r + 1, color: [9, 8, 7, 255] as const }]
  expect(await first({ bidx: [1], colormap: { kind: 'ranges', ranges } })).toEqual([9, 8, 7, 255])
})

test('16-bit values are stretched between their percentiles unless a range is given', async () => {
  const deep = textureImage({ width: 300, height: 300, bands: 1, seed: 9, type: 'uint16', noise: 5 })
  const bytes = await writeGeoTiff(deep, {
    type: 'uint16',
    georeference: { affine: [0, 10, 0, 0, 0, -10], epsg: 3857 },
  })
  const renderer = openRenderer(bufferSource(bytes))
  const view = wholeView(renderer.raster, 300, 300)
  const spread = (picture: Picture) => {
    const values = Array.from({ length: 300 * 300 }, (_, i) => picture.rgba[4 * i] as number)
    return Math.max(...values) - Math.min(...values)
  }
  expect(spread((await renderer.render(view)) as Picture)).toBe(255)
  expect(spread((await renderer.render(view, { rescale: [[0, 65_535]] })) as Picture)).toBeLessThan(255)
})
