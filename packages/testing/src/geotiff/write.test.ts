import { describe, expect, test } from 'vitest'
import { fromArrayBuffer } from 'geotiff'
import type { GeoTiffOptions, ImageSource } from './index.ts'
import { imageOf, streamGeoTiff, textureImage, writeGeoTiff } from './index.ts'

const image = imageOf({ width: 70, height: 50, bands: 3 }, (x, y, band) => (x * 3 + y * 7 + band * 50) % 256)

/** The image as geotiff.js reads it, an independent reader of these layouts. */
async function readBack(options: Omit<GeoTiffOptions, 'type'>, level = 0): Promise<ArrayLike<number>[]> {
  const bytes = await writeGeoTiff(image, { type: 'uint8', ...options })
  const tiff = await fromArrayBuffer(bytes.buffer as ArrayBuffer)
  return await (await tiff.getImage(level)).readRasters()
}

describe('another reader finds the pixels', () => {
  const compressions = ['none', 'lzw', 'deflate', 'zstd', 'packbits'] as const
  const layouts: Omit<GeoTiffOptions, 'type'>[] = [
    { tileSize: 32 },
    { rowsPerStrip: 9, planar: true },
    { tileSize: 16, bigTiff: true },
  ]
  const cases = compressions.flatMap((compression) => layouts.map((layout) => ({ compression, ...layout })))
  test.each(cases)('%j', async (options) => {
    const bands = await readBack({ predictor: ['none', 'packbits'].includes(options.compression) ? 1 : 2, ...options })
    bands.forEach((samples, band) => expect(Array.from(samples)).toEqual(bandOf(image, band)))
  })
})

function bandOf(source: ImageSource, band: number): number[] {
  const { width, height, bands } = source
  const values = source.read(0, 0, width, height)
  return Array.from({ length: width * height }, (_, i) => values[i * bands + band] as number)
}

test('an overview holds means of four pixels', async () => {
  const [first] = await readBack({ tileSize: 32, overviews: 1 }, 1)
  expect(first?.length).toBe(35 * 25)
  // Pixels 0, 3, 7 and 10 of the first band.
  expect(first?.[0]).toBe(5)
})

test('blocks lie from the smallest overview to the image, behind all directories', async () => {
  const bytes = await writeGeoTiff(image, { type: 'uint8', tileSize: 16, overviews: 2, compression: 'deflate' })
  const tiff = await fromArrayBuffer(bytes.buffer as ArrayBuffer)
  const firsts: number[] = []
  for (const level of [0, 1, 2]) {
    const offsets = await (await tiff.getImage(level)).fileDirectory.loadValue('TileOffsets')
    firsts.push(Number((offsets as ArrayLike<number>)[0]))
  }
  expect(firsts).toEqual(firsts.toSorted((a, b) => b - a))
})

test('the image is read once, in bands of rows from top to bottom', async () => {
  const asked: string[] = []
  const source: ImageSource = {
    ...image,
    read(x, y, width, height) {
      asked.push(`${x} ${y} ${width} ${height}`)
      return image.read(x, y, width, height)
    },
  }
  const parts: Uint8Array[] = []
  for await (const part of streamGeoTiff(source, { type: 'uint8', tileSize: 32, overviews: 2 })) parts.push(part)
  expect(asked).toEqual(['0 0 70 32', '0 32 70 18'])
  expect(Buffer.concat(parts)).toEqual(
    Buffer.from(await writeGeoTiff(image, { type: 'uint8', tileSize: 32, overviews: 2 })),
  )
})

test('the same seed makes the same texture', () => {
  const texture = (seed: number): number[] =>
    Array.from(textureImage({ width: 20, height: 10, bands: 3, seed, type: 'uint8', noise: 9 }).read(0, 0, 20, 10))
  expect(texture(1)).toEqual(texture(1))
  expect(texture(1)).not.toEqual(texture(2))
})
