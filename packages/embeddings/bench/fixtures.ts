import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { type ImageSource, imageOf, streamGeoTiff, textureImage } from '@terrane/testing/geotiff'
import { type InspectedRaster, type Scale, estimateScale, inspectGeoTiff, openFileSource } from '@terrane/tiling/raster'

import { VIT_SMALL, buildRandomVit } from '../src/onnx/index.ts'
import { type Model, type ModelManifest, geoTiffTiles, openModelStore } from '../src/index.ts'

export const TILE = 256
const folder = join(tmpdir(), 'terrane-bench')

/** A model in memory: the built-in one, or a transformer of the shape of ViT-S/16 with random weights. */
export async function benchModel(name: 'built-in' | 'vit-s'): Promise<Model> {
  const builtIn = await openModelStore({ directory: folder }).acquire('builtin-texture-spectral-v2')
  if (name === 'built-in') return builtIn
  const graph = join(folder, 'vit-s.onnx')
  if (!existsSync(graph)) writeVit(graph)
  const bytes = statSync(graph).size + statSync(`${graph}_data`).size
  const manifest: ModelManifest = {
    ...builtIn.manifest,
    id: 'random-vit-s16',
    kind: 'neural',
    files: [{ path: 'vit-s.onnx', url: null, size: null, sha256: null }],
    outputs: [{ name: 'pooler_output', pooling: 'none' }],
    dims: VIT_SMALL.dim,
  }
  return { manifest, graph, sha256: '', bytes }
}

function writeVit(path: string): void {
  mkdirSync(folder, { recursive: true })
  const weights = openSync(`${path}_data`, 'w')
  const external = { location: 'vit-s.onnx_data', write: (bytes: Uint8Array) => void writeSync(weights, bytes) }
  const graph = buildRandomVit(VIT_SMALL, 1, external)
  closeSync(weights)
  writeFileSync(path, graph)
}

export interface BenchRaster {
  readonly path: string
  readonly inspected: InspectedRaster
  readonly scale: Scale
}

/** An RGB image of `side` pixels, deflate with predictor 2 in blocks of 256: made once, kept among temporary files. */
export async function benchRaster(side: number): Promise<BenchRaster> {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `rgb-${side}.tif`)
  if (!existsSync(path)) {
    const image = side > 4096 ? plainImage(side) : textureImage({ ...sizeOf(side), seed: 1, type: 'uint8', noise: 6 })
    const georeference = { affine: [500_000, 1, 0, 5_000_000, 0, -1], epsg: 32632 } as const
    const bytes = streamGeoTiff(image, {
      type: 'uint8',
      color: 'rgb',
      compression: 'deflate',
      predictor: 2,
      georeference,
    })
    await pipeline(Readable.from(bytes), createWriteStream(`${path}.part`))
    renameSync(`${path}.part`, path)
  }
  using source = openFileSource(path)
  const inspected = inspectGeoTiff(source, { tileSize: TILE, channels: ['red', 'green', 'blue'] })
  return { path, inspected, scale: await estimateScale(source, inspected.raster, inspected.bands) }
}

function sizeOf(side: number): { width: number; height: number; bands: number } {
  return { width: side, height: side, bands: 3 }
}

/** Fast to make, where only the size matters. */
function plainImage(side: number): ImageSource {
  return imageOf(sizeOf(side), (x, y, band) => (x * 7 + y * 13 + ((x * y) >> 9) + band * 40) & 255)
}

export function benchTiles(
  { path, inspected, scale }: BenchRaster,
  { manifest }: Model,
): ReturnType<typeof geoTiffTiles> {
  return geoTiffTiles({ path, inspected, scale, manifest })
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
