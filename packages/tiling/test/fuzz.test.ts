import { describe, expect, test } from 'vitest'
import { TerraneError, seededRandom } from '@terrane/core'
import { imageOf } from '@terrane/testing/geotiff'
import { randomCases } from '@terrane/testing/property'
import type { GeoTiffOptions } from '@terrane/testing/geotiff'
import { bufferSource, createTileReader, estimateScale, inspectGeoTiff } from '../src/raster/index.ts'
import { UTM33, fixture, valueOf } from './fixtures.ts'

const LAYOUTS: readonly (readonly [string, Partial<GeoTiffOptions>])[] = [
  ['uncompressed tiles', { tileSize: 32 }],
  [
    'deflate with overviews and mask',
    { compression: 'deflate', predictor: 2, tileSize: 32, overviews: 1, mask: (x) => x > 3 },
  ],
  [
    'LZW strips in BigTIFF, big-endian',
    { compression: 'lzw', predictor: 2, rowsPerStrip: 7, bigTiff: true, littleEndian: false },
  ],
  ['zstd planes with nodata', { compression: 'zstd', tileSize: 16, planar: true, nodata: '7' }],
  ['packbits', { compression: 'packbits', rowsPerStrip: 10 }],
  ['JPEG', { compression: 'jpeg', color: 'ycbcr', tileSize: 32, sharedJpegTables: true }],
  ['WEBP', { compression: 'webp', tileSize: 32 }],
  ['LERC floats', { type: 'float32', compression: 'lerc', lercWrapper: 'deflate', tileSize: 32 }],
]

/** Reads all of a file as a job would; what goes wrong must be an error of the catalogue with a remedy. */
async function readAll(bytes: Uint8Array): Promise<'read' | 'refused'> {
  try {
    const source = bufferSource(bytes)
    const { raster, plan, bands } = inspectGeoTiff(source, {
      tileSize: 32,
      channels: ['red', 'green', 'blue'],
      maxTiles: { limit: 64, setting: 'MAX_TILES' },
    })
    const scale = await estimateScale(source, raster, bands)
    const reader = createTileReader({ source, raster, plan, bands, scale, mean: [0, 0, 0], std: [1, 1, 1] })
    const out = new Float32Array(3 * 32 * 32)
    for (let index = 0; index < plan.count; index++) {
      const { validFraction } = await reader.read(index, out)
      expect(validFraction >= 0 && validFraction <= 1 && out.every(Number.isFinite)).toBe(true)
    }
    return 'read'
  } catch (error) {
    if (!(error instanceof TerraneError)) throw error
    expect([error.code, error.hint]).toEqual([
      expect.stringMatching(/^[A-Z_]+$|^size_guard_exceeded$/),
      expect.any(String),
    ])
    return 'refused'
  }
}

describe.each(LAYOUTS)('%s', (_, options) => {
  const bands = options.compression === 'lerc' ? 1 : 3
  const image = imageOf({ width: 70, height: 50, bands }, (x, y, band) => valueOf('uint8', x, y, band))
  const written = async (): Promise<Uint8Array> => {
    const { bytes } = await fixture(image, { type: 'uint8', georeference: UTM33, nodata: '', ...options })
    return bytes
  }

  test('is read when it is whole, and refused when it is cut anywhere', async () => {
    const bytes = await written()
    expect(await readAll(bytes)).toBe('read')
    for (let i = 0; i < 60; i++) {
      const cut = Math.floor((bytes.length * i) / 60)
      expect(await readAll(bytes.subarray(0, cut)), `cut at ${cut} of ${bytes.length}`).toBe('refused')
    }
  })

  test('with bytes changed anywhere it is read or refused, and never fails otherwise', async () => {
    const bytes = await written()
    const readDamaged = (random: () => number, seed: number): Promise<'read' | 'refused'> => {
      const damaged = Uint8Array.from(bytes)
      // Half of the damage goes to the headers, which are a small part of the file.
      const reach = seed % 2 === 0 ? 600 : bytes.length
      for (let flips = 1 + Math.floor(random() * 4); flips > 0; flips--) {
        damaged[Math.floor(random() * Math.min(reach, bytes.length))] = Math.floor(random() * 256)
      }
      return readAll(damaged)
    }
    const outcomes = new Set<string>()
    for (let seed = 0; seed < 40; seed++) outcomes.add(await readDamaged(seededRandom(seed), seed))
    expect(outcomes).toEqual(new Set(['read', 'refused']))
    await randomCases(250, async (random, seed) => void (await readDamaged(random, seed)))
  })
})

test('what damage cannot make is much memory', async () => {
  const image = imageOf({ width: 70, height: 50, bands: 1 }, () => 1)
  const { bytes } = await fixture(image, { type: 'uint8', georeference: UTM33, compression: 'deflate', tileSize: 32 })
  const before = process.memoryUsage().rss
  await randomCases(500, async (random) => {
    const damaged = Uint8Array.from(bytes)
    for (let i = 0; i < 3; i++) damaged[Math.floor(random() * 400)] = Math.floor(random() * 256)
    await readAll(damaged)
  })
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(400)
})
