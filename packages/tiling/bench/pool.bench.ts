// Pooling vectors of pixels into tiles, beside reading the same blocks alone, in CPU time: GeoTIFFs of 64 bands by the
// block reader of this package, Zarr stores by zarrita. Each round of either is a process of its own, because the
// decompressors of zarrita are replaced in the other.
//
//   node packages/tiling/bench/pool.bench.ts [rounds=3] [name of a case]
//
// All blocks of a file have the same bytes, which are as hard to compress as embeddings are.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { writeZarr, writeZarrGroup, type ZarrFixture } from '@terrane/testing/zarr'
import { open, root } from 'zarrita'
import { createBlockReader } from '../src/raster/decode/block-reader.ts'
import { openFileSource, openGeoTiff, planTiles, poolGeoTiff, tileZones, type Pool } from '../src/raster/index.ts'
import { fieldsOf, findZarr, inspectZarr, poolZarr } from '../src/raster/zarr/index.ts'

const [BLOCK, BANDS, TILE] = [256, 64, 32]

interface Case {
  readonly name: string
  readonly side: number
  readonly type: 'int8' | 'float32'
  readonly codec: 'zstd' | 'deflate' | 'gzip' | 'none'
  readonly isZarr?: boolean
  readonly isSquare?: boolean
}

const CASES: readonly Case[] = [
  { name: 'int8 8192, zstd, signed squares', side: 8192, type: 'int8', codec: 'zstd', isSquare: true },
  { name: 'int8 8192, deflate', side: 8192, type: 'int8', codec: 'deflate' },
  { name: 'int8 8192, raw', side: 8192, type: 'int8', codec: 'none' },
  { name: 'float32 4096, zstd', side: 4096, type: 'float32', codec: 'zstd' },
  { name: 'float32 4096, raw', side: 4096, type: 'float32', codec: 'none' },
  { name: 'Zarr int8 4096, zstd', side: 4096, type: 'int8', codec: 'zstd', isZarr: true },
  { name: 'Zarr int8 4096, gzip', side: 4096, type: 'int8', codec: 'gzip', isZarr: true },
]

/** Values of a block: smooth along the ground, with noise. */
function blockOf(type: Case['type']): Float64Array {
  const random = seededRandom(1)
  return Float64Array.from({ length: BLOCK * BLOCK * BANDS }, (_, i) => {
    const [band, x, y] = [i % BANDS, Math.floor(i / BANDS) % BLOCK, Math.floor(i / BANDS / BLOCK)]
    const value = 60 * Math.sin(band + x / 40) * Math.cos(band * 2 + y / 50) + 30 * (random() - 0.5)
    return type === 'int8' ? Math.round(value) : Math.fround(value / 127)
  })
}

async function makeGeoTiff(path: string, { type, codec }: Case): Promise<void> {
  const block = blockOf(type)
  const compression = codec as GeoTiffOptions['compression'] & string
  const rows = (_x: number, y: number, w: number, h: number) => block.subarray(y * w * BANDS, (y + h) * w * BANDS)
  const image = { width: BLOCK, height: BLOCK, bands: BANDS, read: rows }
  writeFileSync(path, await writeGeoTiff(image, { type, compression, tileSize: BLOCK }))
}

function makeStore(folder: string, { side, type, codec }: Case): void {
  const values = blockOf(type)
  const chunk = [BLOCK, BLOCK, BANDS]
  const array: ZarrFixture = {
    version: 3,
    path: 'embeddings',
    names: ['y', 'x', 'band'],
    shape: chunk,
    chunk,
    type,
    codec: codec as 'zstd' | 'gzip',
    valueAt: ([y, x, band]) => values[(y! * BLOCK + x!) * BANDS + band!]!,
  }
  const attributes = { 'proj:code': 'EPSG:32633', 'spatial:transform': [10, 0, 4e5, 0, -10, 56e5] }
  const objects = new Map([...writeZarrGroup(3, '', attributes), ...writeZarr(array)])
  const bytes = objects.get('embeddings/c/0/0/0')!
  const key = 'embeddings/zarr.json'
  const meta = JSON.parse(Buffer.from(objects.get(key)!).toString()) as object
  objects.set(key, Buffer.from(JSON.stringify({ ...meta, shape: [side, side, BANDS] })))
  for (let y = 0; y < side / BLOCK; y++) {
    for (let x = 0; x < side / BLOCK; x++) objects.set(`embeddings/c/${y}/${x}/0`, bytes)
  }
  for (const [name, content] of objects) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

/** The raster of a file whose directory names its only block for each place. */
function rasterOf(source: ReturnType<typeof openFileSource>, { side }: Case) {
  const raster = openGeoTiff(source)
  const across = side / BLOCK
  const [at, bytes] = [raster.blockOffsets[0]!, raster.blockByteCounts[0]!]
  return {
    ...raster,
    width: side,
    height: side,
    blocksAcross: across,
    blocksDown: across,
    blockOffsets: new Float64Array(across * across).fill(at),
    blockByteCounts: new Float64Array(across * across).fill(bytes),
  }
}

const bands = Array.from({ length: BANDS }, (_, band) => band)
const ruleOf = ({ isSquare = false }: Case) => ({ scale: 1, offset: 0, isSquare, nodata: null })

async function pooled(path: string, one: Case): Promise<number> {
  const request = { bands, rule: ruleOf(one), statistics: ['mean'] as const }
  if (!one.isZarr) {
    using source = openFileSource(path)
    const raster = rasterOf(source, one)
    const zones = tileZones(planTiles({ width: one.side, height: one.side, tileSize: TILE }))
    return sumOf(await poolGeoTiff(source, raster, { ...request, zones }), zones.count)
  }
  const json = (key: string) => {
    const file = join(path, key)
    return Promise.resolve(existsSync(file) ? fieldsOf(JSON.parse(readFileSync(file, 'utf8'))) : null)
  }
  const found = await findZarr({ json }, { path: '', array: null })
  const wanted = { tileSize: TILE, bands: [0], channels: ['vector'], profile: 'none' }
  const { zarr, inspected } = await inspectZarr(path, found, wanted)
  const zones = tileZones(inspected.plan)
  return sumOf(await poolZarr(path, zarr, inspected.raster, { ...request, zones }), zones.count)
}

function sumOf(pool: Pool, count: number): number {
  const vector = new Float32Array(BANDS)
  let sum = 0
  for (let tile = 0; tile < count; tile++) {
    pool.write(tile, vector, false)
    for (const value of vector) sum += value * TILE ** 2
  }
  return sum
}

async function read(path: string, one: Case): Promise<number> {
  const blocks = (one.side / BLOCK) ** 2
  if (one.isZarr) {
    const get = (key: string) =>
      Promise.resolve(existsSync(join(path, key)) ? readFileSync(join(path, key)) : undefined)
    const array = await open.v3(root({ get }).resolve('embeddings'), { kind: 'array' })
    const across = one.side / BLOCK
    let first: Iterable<number> | null = null
    for (let block = 0; block < blocks; block++) {
      const { data } = await array.getChunk([Math.floor(block / across), block % across, 0])
      first ??= data as Int8Array
    }
    return blocks * summed(first!, one)
  }
  using source = openFileSource(path)
  const reader = createBlockReader({ source, level: rasterOf(source, one), name: 'image', empty: 0, cacheBytes: 0 })
  let first: Iterable<number> | null = null
  for (let block = 0; block < blocks; block++) first = await reader.read(block)
  return blocks * summed(first!, one)
}

function summed(values: Iterable<number>, { isSquare = false }: Case): number {
  let sum = 0
  for (const value of values) sum += isSquare ? value * Math.abs(value) : value
  return sum
}

const [way = '3', name, path] = process.argv.slice(2)
const chosen = CASES.filter((one) => name === undefined || one.name.startsWith(name))
if (way === 'pool' || way === 'read') {
  const [one] = chosen as [Case]
  const start = process.cpuUsage()
  const sum = await (way === 'pool' ? pooled : read)(path!, one)
  const { user, system } = process.cpuUsage(start)
  console.log(JSON.stringify({ sum, ms: (user + system) / 1000 }))
} else {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-bench-'))
  try {
    for (const [i, one] of chosen.entries()) {
      const file = join(folder, String(i))
      if (one.isZarr) makeStore(file, one)
      else await makeGeoTiff(file, one)
      const best = { pool: Infinity, read: Infinity }
      const sums: number[] = []
      for (let round = 0; round < Number(way); round++) {
        for (const kind of ['read', 'pool'] as const) {
          const text = execFileSync(process.execPath, [import.meta.filename, kind, one.name, file], {
            encoding: 'utf8',
          })
          const { sum, ms } = JSON.parse(text) as { sum: number; ms: number }
          best[kind] = Math.min(best[kind], ms)
          sums.push(sum)
        }
      }
      const spread = (Math.max(...sums) - Math.min(...sums)) / Math.abs(sums[0]!)
      if (!(spread < 1e-5)) throw new Error(`the sums differ: ${sums.join()}`)
      console.log(`${one.name}: pooled in ${Math.round(best.pool)} ms, read in ${Math.round(best.read)} ms, ratio ${(best.pool / best.read).toFixed(2)} (load ${loadavg()[0]!.toFixed(1)})`) // prettier-ignore
      rmSync(file, { recursive: true, force: true })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
