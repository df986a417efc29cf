// Pooling a Zarr store of 2,048² pixels of 64 int8 bands, beside reading all of its chunks by zarrita alone, in CPU time. Each round of either is a process
// of its own, because the decompressors of zarrita are replaced in the other.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeZarr, writeZarrGroup, type ZarrFixture } from '@terrane/testing/zarr'
import { open, root } from 'zarrita'
import { tileZones } from '../src/raster/index.ts'
import { fieldsOf, findZarr, inspectZarr, poolZarr } from '../src/raster/zarr/index.ts'

const [SIDE, CHUNK, BANDS, ROUNDS] = [2048, 256, 64, 3]

function makeStore(folder: string, codec: 'zstd' | 'gzip'): void {
  const chunk = [CHUNK, CHUNK, BANDS]
  const array: ZarrFixture = {
    version: 3,
    path: 'embeddings',
    names: ['y', 'x', 'band'],
    shape: chunk,
    chunk,
    type: 'int8',
    codec,
    valueAt: ([y, x, band]) => ((x! * 31 + y! * 17 + band! * 7 + ((x! * y!) % 13)) % 120) - 60,
  }
  const attributes = { 'proj:code': 'EPSG:32633', 'spatial:transform': [10, 0, 4e5, 0, -10, 56e5] }
  const objects = new Map([...writeZarrGroup(3, '', attributes), ...writeZarr(array)])
  const bytes = objects.get('embeddings/c/0/0/0')!
  const key = 'embeddings/zarr.json'
  const meta = JSON.parse(Buffer.from(objects.get(key)!).toString()) as object
  objects.set(key, Buffer.from(JSON.stringify({ ...meta, shape: [SIDE, SIDE, BANDS] })))
  for (let y = 0; y < SIDE / CHUNK; y++) {
    for (let x = 0; x < SIDE / CHUNK; x++) objects.set(`embeddings/c/${y}/${x}/0`, bytes)
  }
  for (const [name, content] of objects) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

async function pooled(folder: string): Promise<number> {
  const json = (key: string) => {
    const path = join(folder, key)
    return Promise.resolve(existsSync(path) ? fieldsOf(JSON.parse(readFileSync(path, 'utf8'))) : null)
  }
  const found = await findZarr({ json }, { path: '', array: null })
  const wanted = { tileSize: 32, bands: [0], channels: ['vector'], profile: 'none' }
  const { zarr, inspected } = await inspectZarr(folder, found, wanted)
  const bands = Array.from({ length: BANDS }, (_, band) => band)
  const rule = { scale: 1, offset: 0, isSquare: false, nodata: null }
  const request = { zones: tileZones(inspected.plan), bands, rule, statistics: ['mean'] as const }
  const pool = await poolZarr(folder, zarr, inspected.raster, request)
  const vector = new Float32Array(BANDS)
  let sum = 0
  for (let tile = 0; tile < inspected.plan.count; tile++) {
    pool.write(tile, vector, false)
    for (const value of vector) sum += value * 1024
  }
  return sum
}

async function read(folder: string): Promise<number> {
  const get = (key: string) =>
    Promise.resolve(existsSync(join(folder, key)) ? readFileSync(join(folder, key)) : undefined)
  const array = await open.v3(root({ get }).resolve('embeddings'), { kind: 'array' })
  let sum = 0
  for (let y = 0; y < SIDE / CHUNK; y++) {
    for (let x = 0; x < SIDE / CHUNK; x++) {
      const { data } = await array.getChunk([y, x, 0])
      if (y + x === 0) for (const value of data as Int8Array) sum += value * (SIDE / CHUNK) ** 2
    }
  }
  return sum
}

const [way, store] = process.argv.slice(2)
if (way === 'pool' || way === 'read') {
  const start = process.cpuUsage()
  const sum = way === 'pool' ? await pooled(store!) : await read(store!)
  const { user, system } = process.cpuUsage(start)
  console.log(JSON.stringify({ sum: Math.round(sum), ms: (user + system) / 1000 }))
} else {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-bench-'))
  try {
    for (const codec of ['zstd', 'gzip'] as const) {
      makeStore(join(folder, codec), codec)
      const best = { pool: Infinity, read: Infinity }
      const sums = new Set<number>()
      for (let round = 0; round < ROUNDS; round++) {
        for (const name of ['read', 'pool'] as const) {
          const text = execFileSync(process.execPath, [import.meta.filename, name, join(folder, codec)], {
            encoding: 'utf8',
          })
          const { sum, ms } = JSON.parse(text) as { sum: number; ms: number }
          best[name] = Math.min(best[name], ms)
          sums.add(sum)
        }
      }
      if (sums.size !== 1) throw new Error(`the sums differ: ${[...sums].join()}`)
      console.log(`${codec}: pooled in ${Math.round(best.pool)} ms, read by zarrita in ${Math.round(best.read)} ms, ratio ${(best.pool / best.read).toFixed(2)} (load ${loadavg()[0]!.toFixed(1)})`) // prettier-ignore
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
