import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { type GeoTiffOptions, imageOf, textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { createTileReader, estimateScale, inspectGeoTiff, openFileSource } from '@terrane/tiling/raster'
import { describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../test/fixtures/models.ts'
import { needs, sharedData } from '../../test/fixtures/shared-data.ts'
import { BUILT_IN_MODEL } from '../models/built-in-manifests.ts'
import type { ModelManifest } from '../models/manifest.ts'
import type { Model } from '../models/acquire-files.ts'
import { openModelStore } from '../models/store.ts'
import { OnnxGraph } from '../onnx/graph.ts'
import { openEngine } from './engine.ts'
import { geoTiffTiles } from './geotiff-tiles.ts'
import type { TileSource } from './tile-source.ts'

const georeference = { affine: [500_000, 10, 0, 5_000_000, 0, -10], epsg: 32632 } as const
const tileSize = 64

async function writeFixture(options: Partial<GeoTiffOptions>, width = 400, height = 300): Promise<string> {
  const image = textureImage({ width, height, bands: 3, seed: 5, type: 'uint8', noise: 4 })
  const path = join(temporaryFolder(), 'image.tif')
  writeFileSync(path, await writeGeoTiff(image, { type: 'uint8', color: 'rgb', georeference, ...options }))
  return path
}

async function tilesOf(path: string, manifest: ModelManifest, size = tileSize, stride = size): Promise<TileSource> {
  using source = openFileSource(path)
  const inspected = inspectGeoTiff(source, { tileSize: size, stride, channels: manifest.input.bands })
  const scale = await estimateScale(source, inspected.raster, inspected.bands)
  return geoTiffTiles({ path, inspected, scale, manifest })
}

async function builtIn(): Promise<Model> {
  return openModelStore({ directory: temporaryFolder() }).acquire(BUILT_IN_MODEL)
}

/** A tiny network without training: one convolution, and the mean over all positions. Fixed input size. */
function tinyCnn(): Model {
  const graph = new OnnxGraph('tiny-cnn')
  const image = graph.input('image', [1, 2, 24, 32])
  const weights = Float32Array.from({ length: 5 * 2 * 3 * 3 }, (_, i) => Math.sin(i))
  graph.output(
    'features',
    [1, 5, 22, 30],
    graph.op('Relu', [graph.op('Conv', [image, graph.floats([5, 2, 3, 3], weights)])]),
  )
  const bytes = graph.encode()
  const manifest: ModelManifest = {
    id: 'tiny-cnn',
    title: 'Tiny network',
    description: 'For tests.',
    kind: 'neural',
    pretrained: false,
    licence: { name: 'MIT', url: null, notice: null },
    revision: '1',
    files: [{ path: 'tiny-cnn.onnx', url: null, size: bytes.length, sha256: null }],
    input: {
      name: 'image',
      size: { width: 32, height: 24 },
      bands: ['a', 'b'],
      mean: [0.5, 0.5],
      std: [0.25, 0.25],
      batch: 1,
    },
    outputs: [{ name: 'features', pooling: 'mean-positions' }],
    dims: 5,
    tile: { min: 32, multiple: 1, default: 64 },
    patches: null,
    patches_per_tile: 1,
  }
  return { manifest, graph: bytes, sha256: '', bytes: bytes.length }
}

describe('the tiles of a GeoTIFF', () => {
  test('are embedded alike whatever the layout of the file', async () => {
    const model = await builtIn()
    await using engine = await openEngine(model, { threads: 2 })
    const results: number[][] = []
    for (const options of [{}, { rowsPerStrip: 16 }, { tileSize: 128, compression: 'deflate' }] as const) {
      const source = await tilesOf(await writeFixture(options), model.manifest)
      expect(source.count).toBe(35)
      const vectors: number[] = []
      for await (const batch of engine.embed({ source, tileSize })) vectors.push(...batch.embeddings)
      results.push(vectors)
    }
    expect(results[0]).toHaveLength(35 * 64)
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
  })

  test('that share blocks are kept together', async () => {
    const { manifest } = await builtIn()
    const bandOf = async (options: Partial<GeoTiffOptions>, stride = tileSize): Promise<number | undefined> =>
      (await tilesOf(await writeFixture(options), manifest, tileSize, stride)).bandTiles
    expect(await bandOf({ tileSize: 64 })).toBe(1)
    expect(await bandOf({ tileSize: 32 })).toBe(1)
    expect(await bandOf({ tileSize: 128 })).toBe(7 * 2)
    expect(await bandOf({ rowsPerStrip: 8 })).toBe(7)
    expect(await bandOf({ rowsPerStrip: 150 })).toBe(7 * 3)
    expect(await bandOf({ tileSize: 64 }, 32)).toBe(12 * 2)
  })

  test('without data are skipped and counted', async () => {
    const model = await builtIn()
    const path = join(temporaryFolder(), 'half.tif')
    const image = imageOf({ width: 256, height: 128, bands: 3 }, (x, y, band) =>
      x < 128 ? 0 : 1 + ((x * 7 + y * 3 + band) % 200),
    )
    writeFileSync(path, await writeGeoTiff(image, { type: 'uint8', color: 'rgb', nodata: '0', georeference }))
    await using engine = await openEngine(model, { threads: 1 })
    const run = engine.embed({ source: await tilesOf(path, model.manifest), tileSize })
    const tiles: number[] = []
    for await (const batch of run) tiles.push(...batch.tiles)
    expect(tiles).toEqual([2, 3, 6, 7])
    expect(run.skipped).toBe(4)
  })

  test('fit any network that a manifest describes: other channels, a fixed size, another pooling', async () => {
    const model = tinyCnn()
    const path = join(temporaryFolder(), 'two.tif')
    const image = imageOf({ width: 128, height: 64, bands: 2 }, (x, y, band) => (x * 3 + y * 5 + band * 90) % 256)
    writeFileSync(path, await writeGeoTiff(image, { type: 'uint8', georeference }))
    await using engine = await openEngine(model, { threads: 1 })
    const source = await tilesOf(path, model.manifest)
    const run = engine.embed({ source, tileSize, normalize: false })
    const batches = await Array.fromAsync(run)
    expect(batches.flatMap((batch) => Array.from(batch.tiles))).toEqual([0, 1])
    const { scale, raster, plan, bands } = readerOptions(source.options)
    using file = openFileSource(path)
    const { mean, std, size } = model.manifest.input
    const reader = createTileReader({ source: file, raster, plan, bands, scale, mean, std, size: size! })
    const pixels = new Float32Array(2 * 24 * 32)
    await reader.read(1, pixels)
    expect(Array.from(batches.at(-1)!.embeddings.subarray(-5))).toEqual(
      convolveByHand(pixels).map((value) => expect.closeTo(value, 4)),
    )
  })

  test('of a damaged file fail with the place of the damage', async () => {
    const model = await builtIn()
    const path = await writeFixture({ tileSize: 64, compression: 'deflate' })
    const source = await tilesOf(path, model.manifest)
    const { blockOffsets } = readerOptions(source.options).raster
    const bytes = openFileSource(path)
      .read(0, 1 << 24)
      .slice()
    bytes.fill(0xff, blockOffsets[8], blockOffsets[9])
    writeFileSync(path, bytes)
    await using engine = await openEngine(model, { threads: 1 })
    const pending = Array.fromAsync(engine.embed({ source, tileSize }))
    await expect(pending).rejects.toMatchObject({
      code: 'CORRUPT_TILE',
      message: expect.stringContaining('column 1, row 1'),
    })
  })
})

function readerOptions(options: unknown): Omit<Parameters<typeof createTileReader>[0], 'source'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- geoTiffTiles makes them
  return options as Omit<Parameters<typeof createTileReader>[0], 'source'>
}

/** The tiny network in plain loops. */
function convolveByHand(pixels: Float32Array): number[] {
  return Array.from({ length: 5 }, (_, o) => {
    let total = 0
    for (let y = 0; y < 22; y++) {
      for (let x = 0; x < 30; x++) {
        let sum = 0
        for (let k = 0; k < 18; k++) {
          const [c, dy, dx] = [Math.floor(k / 9), Math.floor((k % 9) / 3), k % 3]
          sum += pixels[(c * 24 + y + dy) * 32 + x + dx]! * Math.fround(Math.sin(o * 18 + k))
        }
        total += Math.max(0, sum)
      }
    }
    return total / 660
  })
}

const onnx = sharedData('onnx')

test.skipIf(onnx === null)(`a real network of another kind runs by its manifest alone${needs(onnx)}`, async () => {
  const directory = temporaryFolder()
  const manifest = {
    ...tinyCnn().manifest,
    id: 'ultraface',
    title: 'Ultraface RFB-320',
    files: [{ path: 'ultraface.onnx', url: null, size: 1_220_755, sha256: null }],
    input: {
      name: 'input',
      size: { width: 320, height: 240 },
      bands: ['red', 'green', 'blue'],
      mean: [127 / 255, 127 / 255, 127 / 255],
      std: [128 / 255, 128 / 255, 128 / 255],
      batch: 1,
    },
    outputs: [{ name: 'boxes', pooling: 'mean-tokens' }],
    dims: 4,
  }
  writeFileSync(join(directory, 'ultraface.json'), JSON.stringify(manifest))
  const store = openModelStore({ directory, allowUnpinned: true })
  const place = join(directory, 'ultraface', '1', 'ultraface.onnx')
  mkdirSync(dirname(place), { recursive: true })
  copyFileSync(join(onnx!, 'ultraface-version-RFB-320.onnx'), place)
  const model = await store.acquire('ultraface')
  await using engine = await openEngine(model, { threads: 2 })
  const source = await tilesOf(await writeFixture({}), model.manifest, 100)
  const batches = await Array.fromAsync(engine.embed({ source, tileSize: 100 }))
  const vectors = batches.flatMap((batch) => Array.from(batch.embeddings))
  expect(vectors).toHaveLength(12 * 4)
  expect(vectors.every(Number.isFinite)).toBe(true)
})
