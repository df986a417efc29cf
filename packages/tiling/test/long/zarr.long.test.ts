import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeZarr, writeZarrGroup, type ZarrFixture, type ZarrObjects } from '@terrane/testing/zarr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tileZones } from '../../src/raster/index.ts'
import { fieldsOf, findZarr, inspectZarr, poolZarr } from '../../src/raster/zarr/index.ts'

/** The command of a Python that can run a line of code. */
const pythonWith = (look: string): string[] | undefined =>
  // oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
  [process.env['GDAL_PYTHON'] ?? 'python3', 'python3', '/usr/bin/python3']
    .map((command) => command.split(' '))
    .find(([command, ...more]) => spawnSync(command!, [...more, '-c', look]).status === 0)

const oracle = pythonWith('import numpy; from osgeo import gdal; assert gdal.GetDriverByName("Zarr")')
const there = oracle !== undefined
const zarrPython = pythonWith('import zarr; assert zarr.__version__.startswith("3.")')

test.skipIf(there)('SKIPPED: no Python with NumPy and GDAL with its driver of Zarr (GDAL_PYTHON)', () => {
  expect(there).toBe(false)
})

test.skipIf(zarrPython !== undefined)('SKIPPED: no Python with zarr 3 (GDAL_PYTHON; python3-zarr in Debian 13)', () => {
  expect(zarrPython).toBeUndefined()
})

interface Reading {
  readonly values: readonly number[]
  readonly affine: readonly number[]
  readonly epsg: string | null
}

interface Store {
  /** In base64, by their keys. */
  readonly objects: Readonly<Record<string, string>>
  readonly reading: Reading
}

function ask(jobs: readonly object[], script: string, [command, ...more]: readonly string[]): Store[] {
  const code = readFileSync(join(import.meta.dirname, script), 'utf8')
  const { stdout, stderr, status } = spawnSync(command!, [...more, '-c', code], {
    input: JSON.stringify(jobs),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Store[]
}

function put(folder: string, objects: Store['objects']): string {
  for (const [key, text] of Object.entries(objects)) {
    mkdirSync(dirname(join(folder, key)), { recursive: true })
    writeFileSync(join(folder, key), Buffer.from(text, 'base64'))
  }
  return folder
}

/** The vectors of all pixels, the transform and the reference system, as this package reads them. */
async function readStore(folder: string): Promise<Reading> {
  const json = (key: string) => {
    const path = join(folder, key)
    return Promise.resolve(existsSync(path) ? fieldsOf(JSON.parse(readFileSync(path, 'utf8'))) : null)
  }
  const found = await findZarr({ json }, { path: '', array: 'embeddings' })
  const wanted = { tileSize: 1, bands: [0], channels: ['vector'], profile: 'none' }
  const { zarr, inspected } = await inspectZarr(folder, found, wanted)
  const { raster, plan } = inspected
  const bands = Array.from({ length: raster.samplesPerPixel }, (_, band) => band)
  const rule = { scale: 1, offset: 0, isSquare: false, nodata: raster.nodata }
  const request = { zones: tileZones(plan), bands, rule, statistics: ['mean'] as const }
  const pool = await poolZarr(folder, zarr, raster, request)
  const values = Array.from({ length: plan.count }, (_, tile) => {
    const vector = new Float32Array(bands.length)
    pool.write(tile, vector, false)
    return [...vector]
  })
  return { values: values.flat(), affine: raster.affine, epsg: raster.epsg === null ? null : String(raster.epsg) }
}

const valueAt = ([y, x, band]: readonly number[]) => ((x! * 31 + y! * 17 + band! * 7) % 120) - 60
// Stores of version 3 have another codec in GDAL 3.10 (`endian`), from a draft of the format.
const OURS: readonly Omit<ZarrFixture, 'path' | 'names' | 'shape' | 'valueAt'>[] = [
  { version: 2, chunk: [2, 3, 4], type: 'float32', codec: 'gzip' },
  { version: 2, chunk: [5, 7, 1], type: 'int16', codec: 'zlib', order: 'F', bigEndian: true },
  { version: 2, chunk: [2, 3, 4], type: 'int8', codec: 'zstd', separator: '/' },
  { version: 2, chunk: [2, 7, 2], type: 'float64' },
]

function objectsOf(array: (typeof OURS)[number]): Store['objects'] {
  const { version } = array
  const axis = (name: string, size: number, start: number, step: number): ZarrObjects =>
    writeZarr({
      version,
      path: name,
      names: [name],
      shape: [size],
      chunk: [size],
      type: 'float64',
      valueAt: ([i]) => start + step * i!,
    })
  const objects: ZarrObjects = new Map([
    ...writeZarrGroup(version, ''),
    ...axis('x', 7, 400_010, 20),
    ...axis('y', 5, 5_599_990, -20),
    ...writeZarr({
      ...array,
      path: 'embeddings',
      names: ['y', 'x', 'band'],
      shape: [5, 7, 4],
      valueAt,
      attributes: { _CRS: { url: 'http://www.opengis.net/def/crs/EPSG/0/32633' } },
    }),
  ])
  return Object.fromEntries([...objects].map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]))
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrane-zarr-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A store by its name, and what its script makes of it. */
type Job = Readonly<Record<string, unknown>> & { readonly name: string }

async function compare(jobs: readonly Job[], script = 'zarr-gdal.py', python = oracle) {
  const stores = ask(jobs, script, python!).map(({ objects, reading }, i) => ({
    name: jobs[i]!.name,
    objects,
    reading,
  }))
  const ours = await Promise.all(
    stores.map(async ({ name, objects }) => [name, await readStore(put(join(folder, name), objects))]),
  )
  return { ours, theirs: stores.map(({ name, reading }) => [name, reading]) }
}

describe.runIf(zarrPython !== undefined)('stores beside zarr-python', () => {
  test('of version 3, with its codecs, shards, orders and keys, have the same values', async () => {
    const chunks = [2, 3, 4]
    const { ours, theirs } = await compare(
      [
        { name: 'raw int8', dtype: 'int8', chunks },
        { name: 'gzip', dtype: 'int16', chunks, codec: 'gzip' },
        { name: 'zstd, big-endian', dtype: 'float32', chunks, codec: 'zstd', bigEndian: true },
        { name: 'blosc of zstd', dtype: 'float64', chunks, codec: 'blosc' },
        { name: 'blosc of lz4', dtype: 'float32', chunks, codec: 'lz4' },
        { name: 'transposed', dtype: 'int8', chunks, codec: 'zstd', order: [2, 0, 1] },
        { name: 'half floats in shards', dtype: 'float16', chunks: [1, 2, 2], shards: [4, 4, 4], codec: 'zstd' },
        { name: 'shards of transposed chunks', dtype: 'int16', chunks: [2, 3, 1], shards: [4, 6, 4], codec: 'gzip', order: [1, 0, 2] }, // prettier-ignore
        { name: 'dots', dtype: 'uint8', chunks, codec: 'gzip', separator: '.' },
        { name: 'keys of version 2', dtype: 'int8', chunks, keys: 'v2', separator: '.' },
        { name: 'consolidated, NaN as fill', dtype: 'float32', chunks: [5, 7, 1], codec: 'zstd', fill_value: 'NaN', isConsolidated: true }, // prettier-ignore
      ],
      'zarr-python.py',
      zarrPython,
    )
    expect(ours).toEqual(theirs)
  })
})

describe.runIf(there)('stores beside GDAL', () => {
  test('of version 2 by the writer of the tests have the same values, transform and reference system', async () => {
    const { ours, theirs } = await compare(OURS.map((array, i) => ({ name: `ours ${i}`, objects: objectsOf(array) })))
    expect(ours).toEqual(theirs)
  })

  test('of version 2 by GDAL, with each of its compressions, have the same values, transform and reference system', async () => {
    const jobs = ['NONE', 'BLOSC', 'ZSTD', 'GZIP', 'ZLIB', 'LZ4'].map((compress) => ({
      name: compress,
      version: 2,
      compress,
      options: compress === 'BLOSC' ? ['BLOSC_CNAME=zstd', 'BLOSC_SHUFFLE=BYTE'] : [],
    }))
    const { ours, theirs } = await compare(jobs)
    expect(ours).toEqual(theirs)
  })
})
