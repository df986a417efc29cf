import { imageOf, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { expect, test } from 'vitest'
import { RenderPool, bufferSource, type ByteSpan, type PixelSelection, type RasterFile } from '../src/raster/index.ts'
import { mosaicLayer } from '../src/raster/render/mosaic-layer.ts'
import { openLayerFile, wholeFileLayer } from '../src/raster/render/renderer.ts'
import { parseExpression } from '../src/raster/render/values/expression.ts'

const SIDE = 32
const georeference = { affine: [600_000, 10, 0, 5_000_000, 0, -10] as const, epsg: 32632 }

/** One band of a value beside alpha. */
const gray = async (value: number, alpha: number, options: Partial<GeoTiffOptions> = {}) => {
  const image = imageOf({ width: SIDE, height: SIDE, bands: 2 }, (_x, _y, band) => (band === 0 ? value : alpha))
  const bytes = await writeGeoTiff(image, { type: 'uint8', extraSamples: [2], georeference, ...options })
  return wholeFileLayer(openLayerFile(bufferSource(bytes), {}))
}

test.each([
  ['first', 10, 128],
  ['highest', 200, 255],
  ['mean', 105, 255],
] as const)('a half-transparent pixel counts as a pixel: %s', async (selection: PixelSelection, value, alpha) => {
  const layers = [await gray(10, 128), await gray(200, 255)]
  const parts = layers.map((layer) => ({ boxes: null, open: () => layer }))
  const mosaic = mosaicLayer(parts, selection, () => undefined)
  const view = layers[0]!.wholeView([4, 4], 4)
  const read = await mosaic.read(view, { bands: [0], nodata: null, resampling: 'nearest' })
  expect([read!.planes[0]![5], read!.alpha[5]]).toEqual([value, alpha])
})

test('the files of a scene are read side by side: none comes before all are asked for', async () => {
  const names = ['a', 'b', 'c']
  const asked = new Map<string, Set<string>>()
  const waiting: (() => void)[] = []
  /** Answers a kind of read once every file has had it. */
  const together = (kind: string, name: string) =>
    new Promise<void>((resolve) => {
      const seen = asked.get(kind) ?? new Set()
      asked.set(kind, seen.add(name))
      waiting.push(resolve)
      if (seen.size === names.length) for (const go of waiting.splice(0)) go()
    })
  const files = await Promise.all(
    names.map(async (name, i): Promise<RasterFile> => {
      // Larger than the part of a file that is read when it is opened.
      const image = imageOf({ width: 512, height: 512, bands: 1 }, (x, y) => ((x * 7 + y * 13) % 50) + 50 * i)
      const bytes = await writeGeoTiff(image, { type: 'uint8', tileSize: 64, georeference })
      const read = async (spans: readonly ByteSpan[]) => {
        const isHead = spans.length === 1 && spans[0]!.offset === 0
        await together(isHead ? 'head' : 'blocks', name)
        return spans.map(({ offset, length }) => bytes.slice(offset, offset + length))
      }
      return { key: name, bytes: bytes.length, read }
    }),
  )
  const piece = { band: 0, place: null, resampling: 'nearest', without: null, ratio: 1, shift: 0 } as const
  const bands = names.map((name, file) => ({
    name,
    color: null,
    scale: null,
    offset: null,
    nodata: null,
    type: null,
    pieces: [{ ...piece, file }],
  }))
  const scene = { grid: null, epsg: null, bands, mask: null, ownMasks: true, tags: {} }
  const plan = { parts: [{ scene, files: [0, 1, 2], boxes: null }], selection: 'first' } as const
  await using pool = new RenderPool(1)
  const area = { type: 'preview', maxSize: 512, size: null } as const
  const style = { bidx: [1, 2, 3], rescale: [[0, 255]] } as const
  const request = { kind: 'picture', area, style, format: 'npy', mask: false } as const
  const drawn = await pool.render({ key: 'scene', files, plan }, request, new AbortController().signal)
  const at = drawn!.length - 3 * 512 * 512
  expect([0, 1, 2].map((band) => drawn![at + band * 512 * 512 + 1])).toEqual([7, 57, 107])
})

test('of large requests one is drawn at a time, and small ones pass it', async () => {
  const image = imageOf({ width: 512, height: 512, bands: 1 }, (x, y) => x + y)
  const bytes = await writeGeoTiff(image, { type: 'uint8', tileSize: 64, georeference })
  const order: string[] = []
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  await using pool = new RenderPool(2)
  const draw = async (key: string, side: number) => {
    const read = async (spans: readonly ByteSpan[]) => {
      if (key === 'first') ask()
      if (key === 'first') await opened
      return spans.map(({ offset, length }) => bytes.slice(offset, offset + length))
    }
    const plan = { parts: [{ scene: null, files: [0], boxes: null }], selection: 'first' } as const
    const area = { type: 'preview', maxSize: side, size: [side, side] } as const
    const request = { kind: 'picture', area, style: {}, format: 'npy', mask: false } as const
    await pool.render({ key, files: [{ key, bytes: bytes.length, read }], plan }, request, new AbortController().signal)
    order.push(key)
  }
  const first = draw('first', 1500)
  await asked
  const second = draw('second', 1500)
  await draw('small', 100)
  open()
  await Promise.all([first, second])
  expect(order).toEqual(['small', 'first', 'second'])
})

test('an expression of more pixels than are computed at once has the result of all', () => {
  const count = 100_000
  const values = Float64Array.from({ length: count }, (_, i) => i)
  const expression = parseExpression(`${'(b1*1)+('.repeat(20)}b1${')'.repeat(20)};7+0*b1`)
  const [sum, constant] = expression.evaluate(() => values, count)
  expect(sum!.every((value, i) => value === 21 * i)).toBe(true)
  expect(constant!.every((value) => value === 7)).toBe(true)
})
