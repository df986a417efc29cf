import sharp from 'sharp'
import { expect, test } from 'vitest'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import type { GeoTiffOptions } from '@terrane/testing/geotiff'
import { UTM33 } from '../../../test/fixtures.ts'
import { bufferSource } from '../source.ts'
import { describeRaster } from './describe.ts'
import { markDrawn, readDrawn } from './drawn.ts'
import { encodePicture } from './encode.ts'
import { openRenderer } from './renderer.ts'
import { wholeView } from './view.ts'

const open = async (options: Partial<GeoTiffOptions> = {}) => {
  const image = imageOf({ width: 40, height: 30, bands: 1 }, (x, y) => 1000 + 37 * x + 11 * y)
  const given = { type: 'uint16', color: 'gray', georeference: UTM33, ...options } as const
  return openRenderer(bufferSource(await writeGeoTiff(image, given)))
}
const scaled = (scale: string, offset: string): Partial<GeoTiffOptions> => ({
  bandItems: [
    { band: 0, role: 'scale', value: scale },
    { band: 0, role: 'offset', value: offset },
  ],
})

test.each([
  ['as stored', {}],
  ['by scale and offset', scaled('0.0001', '-0.1')],
])('the range that is shown draws the same picture when it is sent back: %s', async (_, options) => {
  const renderer = await open(options)
  const { limits } = await describeRaster(renderer)
  const view = wholeView(renderer.raster, 40, 30)
  const shown = await renderer.render(view)
  const again = await renderer.render(view, { rescale: limits })
  expect(again!.rgba).toEqual(shown!.rgba)
  expect(limits[0]![0]).toBeGreaterThan(999)
  expect(shown!.drawn).toEqual({ bidx: [1], rescale: limits })
  const physical = await renderer.render(view, { rescale: limits, unscale: true })
  const { scale, offset } = renderer.raster.bands[0]!
  const stored = limits.map((range) => range.map((value) => (value - offset) / scale))
  for (const [i, end] of physical!.drawn!.rescale![0]!.entries()) expect(end).toBeCloseTo(stored[0]![i]!, 4)
})

test('a PNG says what it shows, and stays a PNG', async () => {
  const renderer = await open()
  const picture = await renderer.render(wholeView(renderer.raster, 40, 30), { rescale: [[1000, 3000]] })
  const png = await encodePicture(picture!, 'png')
  expect(readDrawn(png)).toEqual({ bidx: [1], rescale: [[1000, 3000]] })
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true })
  expect([info.width, info.height, new Uint8Array(data)]).toEqual([40, 30, picture!.rgba])
  expect(readDrawn(await sharp(png).png().toBuffer())).toBeNull()
})

test('what is none, or was tampered with, says nothing', async () => {
  const png = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  expect(readDrawn(png)).toBeNull()
  expect(readDrawn(png.subarray(0, 20))).toBeNull()
  for (const drawn of [
    {},
    { bidx: [], rescale: [] },
    { bidx: [1], rescale: [[3, 3]] },
    { bidx: [1], rescale: [['a', 2]] },
  ]) {
    expect(readDrawn(markDrawn(png, drawn as never))).toBeNull()
  }
  expect(readDrawn(markDrawn(png, { bidx: [1], rescale: null }))).toEqual({ bidx: [1], rescale: null })
})
