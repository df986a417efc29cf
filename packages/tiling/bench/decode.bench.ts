// Decoding and normalising 256-pixel tiles on one core, beside geotiff.js and, where it is installed, GDAL.
//
// GDAL_PYTHON is a command that runs Python with GDAL's bindings (python3 when absent). If that command runs in another
// file system, BENCH_FOLDER is the folder of the files on this side and GDAL_FOLDER the same folder on the other side.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromFile } from 'geotiff'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import type { GeoTiffOptions } from '@terrane/testing/geotiff'
import { createTileReader, estimateScale, inspectGeoTiff, openFileSource } from '../src/raster/index.ts'

const SIDE = 2_048
const TILE = 256
const ROUNDS = 3
/**
 * Passes over all tiles in a round; a job reads thousands of tiles, so the time for compiling the loops does not
 * matter.
 */
const PASSES = 6
const MEAN = [0.43, 0.411, 0.296]
const STD = [0.213, 0.156, 0.143]

interface Case {
  readonly name: string
  readonly options: Partial<GeoTiffOptions>
  readonly bands?: number
  /** Minimum tiles per second and core. */
  readonly goal?: number
}

const CASES: readonly Case[] = [
  { name: 'raw', options: { compression: 'none' }, goal: 5_000 },
  { name: 'deflate', options: { compression: 'deflate', predictor: 2 }, goal: 900 },
  { name: 'lzw', options: { compression: 'lzw', predictor: 2 }, goal: 650 },
  { name: 'zstd', options: { compression: 'zstd', predictor: 2 }, goal: 1_200 },
  { name: 'jpeg', options: { compression: 'jpeg', color: 'ycbcr', quality: 85, halveChroma: true }, goal: 800 },
  { name: 'webp', options: { compression: 'webp', quality: 75 } },
  { name: 'strips', options: { compression: 'deflate', predictor: 2, rowsPerStrip: 1 } },
  { name: 'u16 × 4', options: { type: 'uint16', compression: 'deflate', predictor: 2 }, bands: 4 },
]

const GDAL_SCRIPT = `
import sys, time
from osgeo import gdal
gdal.UseExceptions()
gdal.SetConfigOption('GDAL_NUM_THREADS', '1')
for path in sys.argv[1:]:
    best = 1e9
    for k in range(3):
        ds = gdal.Open(path)
        start = time.process_time()
        for y in range(0, ds.RasterYSize, ${TILE}):
            for x in range(0, ds.RasterXSize, ${TILE}):
                ds.ReadAsArray(x, y, ${TILE}, ${TILE})
        best = min(best, time.process_time() - start)
        ds = None
    print(best)
`

const folder = process.env['BENCH_FOLDER'] ?? mkdtempSync(join(tmpdir(), 'terrane-bench-'))
mkdirSync(folder, { recursive: true })
const tiles = (SIDE / TILE) ** 2

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

async function writeCase({ name, options, bands = 3 }: Case): Promise<string> {
  const path = join(folder, `${name.replaceAll(/\W+/g, '-')}.tif`)
  const type = options.type === 'uint16' ? 'uint16' : 'uint8'
  const image = textureImage({ width: SIDE, height: SIDE, bands, seed: 1, type, noise: 9 })
  const georeference = { affine: [400_000, 1, 0, 5_600_000, 0, -1], epsg: 32_633 } as const
  writeFileSync(path, await writeGeoTiff(image, { type, georeference, ...options }))
  return path
}

/** CPU seconds of the best pass over all tiles, and the first tile. */
async function readOurs(path: string): Promise<{ seconds: number; first: Float32Array }> {
  using source = openFileSource(path)
  const { raster, plan, bands } = inspectGeoTiff(source, { tileSize: TILE, channels: ['red', 'green', 'blue'] })
  const scale = await estimateScale(source, raster, bands, raster.sampleType === 'uint8' ? null : [0, 65_535])
  const out = new Float32Array(new SharedArrayBuffer(3 * TILE * TILE * 4))
  const first = new Float32Array(out.length)
  await createTileReader({ source, raster, plan, bands, scale, mean: MEAN, std: STD }).read(0, first)
  let seconds = Infinity
  let sum = 0
  for (let pass = 0; pass < PASSES; pass++) {
    const reader = createTileReader({ source, raster, plan, bands, scale, mean: MEAN, std: STD })
    const start = cpuSeconds()
    for (let index = 0; index < plan.count; index++) {
      await reader.read(index, out)
      sum += out[7] as number
    }
    seconds = Math.min(seconds, cpuSeconds() - start)
  }
  if (!Number.isFinite(sum)) throw new Error(`${path} holds values that are not finite`)
  return { seconds, first }
}

/** CPU seconds of one pass of geotiff.js, which returns samples without normalisation or float planes. */
async function readGeotiffJs(path: string): Promise<{ seconds: number; first: ArrayLike<number>[] } | null> {
  const tiff = await fromFile(path)
  const image = await tiff.getImage()
  let first: ArrayLike<number>[] = []
  try {
    const start = cpuSeconds()
    for (let y = 0; y < SIDE; y += TILE) {
      for (let x = 0; x < SIDE; x += TILE) {
        const rasters = await image.readRasters({ window: [x, y, x + TILE, y + TILE], samples: [0, 1, 2] })
        if (x === 0 && y === 0) first = rasters
      }
    }
    return { seconds: cpuSeconds() - start, first }
  } catch {
    return null
  } finally {
    await tiff.close()
  }
}

function readGdal(paths: readonly string[]): number[] | null {
  const [command = 'python3', ...start] = (process.env['GDAL_PYTHON'] ?? 'python3').split(' ')
  const there = paths.map((path) => path.replace(folder, process.env['GDAL_FOLDER'] ?? folder))
  const { status, stdout } = spawnSync(command, [...start, '-', ...there], { input: GDAL_SCRIPT, encoding: 'utf8' })
  return status === 0 ? stdout.trim().split('\n').map(Number) : null
}

/** Lossless pixels must equal those of geotiff.js after normalisation. */
function assertEqual(name: string, ours: Float32Array, theirs: readonly ArrayLike<number>[], top: number): void {
  for (const [channel, samples] of theirs.entries()) {
    for (let i = 0; i < samples.length; i++) {
      const wanted = ((samples[i] as number) / top - (MEAN[channel] as number)) / (STD[channel] as number)
      const found = ours[channel * TILE * TILE + i] as number
      if (Math.abs(found - wanted) > 1e-4)
        throw new Error(`${name}: ${found} instead of ${wanted} in channel ${channel}`)
    }
  }
}

const paths: string[] = []
for (const item of CASES) paths.push(await writeCase(item))
const gdalRounds: number[][] = []
const ours = CASES.map((): number[] => [])
const theirs = CASES.map((): number[] => [])
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, item] of CASES.entries()) {
    const path = paths[i] as string
    const mine = await readOurs(path)
    ours[i]?.push(mine.seconds)
    const peer = await readGeotiffJs(path)
    if (peer !== null) theirs[i]?.push(peer.seconds)
    const lossless = item.name !== 'jpeg' && item.name !== 'webp'
    if (peer !== null && lossless) assertEqual(item.name, mine.first, peer.first, item.bands === 4 ? 65_535 : 255)
  }
  const gdal = readGdal(paths)
  if (gdal !== null) gdalRounds.push(gdal)
}

console.log(
  `256-pixel tiles per second of CPU, one core of ${cpus()[0]?.model}, Node ${process.version}, best of ${ROUNDS} interleaved rounds`,
)
console.log('case       ours   goal   geotiff.js   ratio    GDAL   ratio')
for (const [i, { name, goal }] of CASES.entries()) {
  const rate = tiles / Math.min(...(ours[i] ?? []))
  const peer = (theirs[i] ?? []).length > 0 ? tiles / Math.min(...(theirs[i] ?? [])) : null
  const gdal = gdalRounds.length > 0 ? tiles / Math.min(...gdalRounds.map((round) => round[i] as number)) : null
  const columns = [
    name.padEnd(8),
    rate.toFixed(0).padStart(6),
    (goal?.toFixed(0) ?? '').padStart(6),
    (peer?.toFixed(0) ?? 'fails').padStart(12),
    (peer === null ? '' : `RATIO ${(rate / peer).toFixed(1)}`).padStart(12),
    (gdal?.toFixed(0) ?? 'absent').padStart(7),
    (gdal === null ? '' : `RATIO ${(rate / gdal).toFixed(2)}`).padStart(12),
  ]
  console.log(columns.join(' '))
}
const rateOf = (name: string): number =>
  tiles / Math.min(...(ours[CASES.findIndex((item) => item.name === name)] ?? []))
console.log(`strips against tiles of the same codec: RATIO ${(rateOf('strips') / rateOf('deflate')).toFixed(2)}`)
if (process.env['BENCH_FOLDER'] === undefined) rmSync(folder, { recursive: true })
