import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TerraneError } from '@terrane/core'
import type { GuardedFetch } from '@terrane/service'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Geocoder, RequestInterval } from './geocoder.ts'

const outline = { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [0, 1], [0, 0]]] } // prettier-ignore
const town = { display_name: 'Town', osm_type: 'way', osm_id: 7, geojson: outline }
const { signal } = new AbortController()
const noInterval = new RequestInterval(0)

let cacheFolder: string
let asked: string[]
beforeEach(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), 'terrane-geocoder-'))
  asked = []
})
afterEach(() => rm(cacheFolder, { recursive: true }))

function answering(text: string): GuardedFetch {
  return (url) => {
    asked.push(url)
    const body = chunks(Buffer.from(text))
    return Promise.resolve({ url, status: 200, headers: {}, body, cancel: () => {} })
  }
}

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

const down: GuardedFetch = (url) => {
  asked.push(url)
  return Promise.reject(new TerraneError('DOWNLOAD_FAILED', 'upstream', 'The host is down'))
}

function find(fetch: GuardedFetch, query = 'Town'): ReturnType<Geocoder['find']> {
  const geocoder = new Geocoder({ url: 'https://geocoder.example/search?key=1', cacheFolder }, noInterval)
  return geocoder.find({ query, path: '/placeQuery', fetch, signal })
}

test('asks once for a place, spaces apart', async () => {
  const found = { name: 'Town', element: 'way/7', geoJson: outline }
  expect(await find(answering(JSON.stringify([{ display_name: 'x' }, town])))).toEqual(found)
  expect(await find(down, '  Town ')).toEqual(found)
  expect(asked).toEqual(['https://geocoder.example/search?key=1&q=Town&format=jsonv2&polygon_geojson=1&limit=10'])
})

test('asks again after a month, and uses the old answer while the server is down', async () => {
  await find(answering(JSON.stringify([town])))
  const [file] = await readdir(cacheFolder)
  const path = join(cacheFolder, file!)
  const kept = JSON.parse(await readFile(path, 'utf8')) as { askedAt: number }
  await writeFile(path, JSON.stringify({ ...kept, askedAt: kept.askedAt - 31 * 24 * 3_600_000 }))
  expect(await find(down)).toMatchObject({ name: 'Town' })
  expect(await find(answering(JSON.stringify([{ ...town, display_name: 'Renamed' }])))).toMatchObject({
    name: 'Renamed',
  })
  expect(asked).toHaveLength(3)
})

test('a damaged file of the cache is not used', async () => {
  await find(answering(JSON.stringify([town])))
  const [file] = await readdir(cacheFolder)
  await writeFile(join(cacheFolder, file!), '{"asked')
  expect(await find(answering(JSON.stringify([town])))).toMatchObject({ name: 'Town' })
  expect(asked).toHaveLength(2)
})

test.for<[string, GuardedFetch, string]>([
  ['no connection', down, 'The host is down'],
  ['HTML', answering('<html>'), 'not JSON'],
  ['an object', answering('{}'), 'not a list'],
])('%s instead of places is an error of the geocoder', async ([, fetch, why]) => {
  await expect(find(fetch)).rejects.toMatchObject({
    code: 'GEOCODER_FAILED',
    retryable: true,
    message: expect.stringContaining(why) as string,
  })
  expect(await readdir(cacheFolder)).toEqual([])
})

test('no place, and places without an outline, are told apart', async () => {
  await expect(find(answering('[]'))).rejects.toThrow('found no place "Town"')
  const point = { ...town, geojson: { type: 'Point', coordinates: [0, 0] } }
  await expect(find(answering(JSON.stringify([point, null, 3])))).rejects.toThrow('None of the 3 places')
})

test('turns are a second apart, however many come at once', async () => {
  const waits: number[] = []
  let now = 5000
  const interval = new RequestInterval(
    1000,
    () => now,
    (ms) => Promise.resolve(waits.push(ms)),
  )
  await Promise.all([interval.turn(signal), interval.turn(signal), interval.turn(signal)])
  now += 2500
  await interval.turn(signal)
  now += 4000
  await interval.turn(signal)
  expect(waits).toEqual([1000, 2000, 500])
})

test('a turn that is too far away is refused, and takes none', async () => {
  const waits: number[] = []
  const interval = new RequestInterval(
    1000,
    () => 0,
    async (ms) => waits.push(ms),
  )
  await Promise.all([interval.turn(signal), interval.turn(signal), interval.turn(signal)])
  await expect(interval.turn(signal, 2000)).rejects.toMatchObject({ code: 'GEOCODER_BUSY', retryable: true })
  await interval.turn(signal, 3000)
  expect(waits).toEqual([1000, 2000, 3000])
})
