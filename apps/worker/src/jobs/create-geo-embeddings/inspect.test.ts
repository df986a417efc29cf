import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inspectHeaders, inspectRaster } from './inspect.ts'

let folder: string
let path: string
let started = 0
const count = () => void started++
const { signal } = new AbortController()
const task = () => ({ path, request: { tileSize: 32, channels: ['red', 'green', 'blue'] }, crs: [] })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-inspect-'))
  path = join(folder, 'a.tif')
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] } as const
  const image = textureImage({ width: 64, height: 64, bands: 3, seed: 1, noise: 8, type: 'uint8' })
  await writeFile(path, await writeGeoTiff(image, { type: 'uint8', georeference }))
  process.on('worker', count)
})
beforeEach(async () => {
  // Starts the thread that waits for the next raster.
  await inspectHeaders(task(), signal)
  started = 0
})
afterAll(async () => {
  process.off('worker', count)
  await rm(folder, { recursive: true })
})

test('rasters that come one after the other are read by one thread', async () => {
  for (let i = 0; i < 3; i++)
    expect(await inspectHeaders(task(), signal)).toMatchObject({ plan: { columns: 2, rows: 2 } })
  expect(started).toBe(0)
})

test('a raster that is refused leaves the thread to the next one', async () => {
  const text = { ...task(), path: join(folder, 'text.tif') }
  await writeFile(text.path, 'a text')
  await expect(inspectHeaders(text, signal)).rejects.toMatchObject({ code: 'NOT_A_GEOTIFF' })
  await inspectHeaders(task(), signal)
  expect(started).toBe(0)
})

test('rasters that come together are read by a thread each, and one thread is kept', async () => {
  await Promise.all([1, 2].map(() => inspectHeaders(task(), signal)))
  expect(started).toBe(1)
  await Promise.all([1, 2].map(() => inspectHeaders(task(), signal)))
  expect(started).toBe(2)
})

test('work that is cancelled ends its thread, and a refusal at the headers leaves it to the next', async () => {
  const stop = new AbortController()
  const reading = inspectHeaders(task(), stop.signal)
  stop.abort(new Error('cancelled'))
  await expect(reading).rejects.toThrow('cancelled')
  await inspectHeaders(task(), signal)
  expect(started).toBe(1)
  const refuse = () => {
    throw new Error('too many tiles')
  }
  const scaled = { ...task(), scale: {} } as never
  await expect(inspectRaster(scaled, signal, refuse)).rejects.toThrow('too many tiles')
  await inspectHeaders(task(), signal)
  expect(started).toBe(1)
})
