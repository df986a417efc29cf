import { spawnSync } from 'node:child_process'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'
import { arrived, begin, send } from '../support/tus.ts'

const GB = 1024 ** 3
const MB = 1024 ** 2
const JOB_MS = 600_000

// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const pythons = [process.env['GDAL_PYTHON'] ?? 'python3', '/usr/bin/python3'].map((command) => command.split(' '))
const python = pythons.find(
  ([program = '', ...args]) => spawnSync(program, [...args, '-c', 'import numpy; from osgeo import gdal']).status === 0,
)
/**
 * Three bands of 27,136 pixels a side, uncompressed in blocks of 512: 2.06 GiB of seeded random numbers. It is written
 * to the standard output, because the program may have its own file system.
 */
const MAKE = `
import os, shutil, sys, tempfile, numpy
from osgeo import gdal, osr
gdal.UseExceptions()
SIDE, ROWS = 27136, 512
folder = tempfile.mkdtemp()
path = os.path.join(folder, 'large.tif')
file = gdal.GetDriverByName('GTiff').Create(path, SIDE, SIDE, 3, gdal.GDT_Byte,
    ['TILED=YES', 'BLOCKXSIZE=512', 'BLOCKYSIZE=512', 'BIGTIFF=YES'])
place = osr.SpatialReference(); place.ImportFromEPSG(32632)
file.SetProjection(place.ExportToWkt()); file.SetGeoTransform([600000, 1, 0, 5400000, 0, -1])
random = numpy.random.default_rng(7)
strip = random.integers(0, 256, (3, ROWS, SIDE), dtype='uint8')
for row in range(0, SIDE, ROWS):
    file.WriteRaster(0, row, SIDE, ROWS, numpy.roll(strip, row // 7, axis=2).tobytes())
file = None
with open(path, 'rb') as made:
    shutil.copyfileobj(made, sys.stdout.buffer, 1 << 20)
shutil.rmtree(folder)
`

const told = python === undefined ? 'SKIPPED: no Python with GDAL and NumPy (GDAL_PYTHON). ' : ''

describe.skipIf(python === undefined)(`${told}large files`, () => {
  let folder: string
  let stack: RunningStack
  let key: string
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrane-uploads-'))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    stack = closing.use(await startStack({ GEOEMBEDDINGS_MAX_GEOTIFF_BYTES: '0' }))
    key = stack.keys['serviceRoleKey'] ?? ''
    await ask('POST', '/storage/v1/bucket', { name: 'uploads', public: false })
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())

  const ask = (method: string, path: string, body?: unknown) =>
    fetch(`${stack.urls.origin}${path}`, {
      method,
      headers: { apikey: key, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  test('a GeoTIFF of 2 GB that is cut three times goes on where it was, and is embedded', async () => {
    const path = join(folder, 'large.tif')
    const [program = '', ...args] = python ?? []
    await using file = await open(path, 'w')
    const made = spawnSync(program, [...args, '-c', MAKE], { encoding: 'utf8', stdio: ['ignore', file.fd, 'pipe'] })
    expect([made.status, made.stderr]).toEqual([0, ''])
    const { size } = await stat(path)
    expect(size).toBeGreaterThan(2 * GB)
    const url = await begin({ origin: stack.urls.origin, key, bucket: 'uploads', object: 'large.tif' }, size)
    let sent = 0
    for (const share of [0.2, 0.5, 0.9]) {
      const cutAt = Math.floor(size * share)
      sent += await send(url, key, path, cutAt)
      const there = await arrived(url, key)
      // No whole chunk is sent twice.
      expect(there).toBeGreaterThan(cutAt - 7 * MB)
      expect(there).toBeLessThanOrEqual(cutAt + 7 * MB)
    }
    sent += await send(url, key, path)
    expect(sent).toBeLessThan(size + 4 * 7 * MB)
    const submitted = await fetch(`${stack.urls.worker}/jobs/createGeoEmbeddings`, {
      method: 'POST',
      headers: { apikey: key, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        storagePath: { bucket: 'uploads', path: 'large.tif' },
        tableName: 'large',
        modelName: 'builtin-texture-spectral-v2',
        tileSize: 2048,
      }),
    })
    const job = (await submitted.json()) as { job_id: string }
    expect([submitted.status, job.job_id]).toEqual([202, expect.any(String)])
    const read = async () => {
      const answer = await fetch(`${stack.urls.worker}/jobs/createGeoEmbeddings/${job.job_id}`, {
        headers: { apikey: key, authorization: `Bearer ${key}` },
      })
      return (await answer.json()) as { status: string; result: { rows?: number } | null; error: unknown }
    }
    await expect
      .poll(async () => (await read()).status, { interval: 1000, timeout: JOB_MS })
      .toMatch(/^(success|failed)$/)
    const { status, result, error } = await read()
    expect([status, result?.rows, error]).toEqual(['success', 14 * 14, null])
  })
})
