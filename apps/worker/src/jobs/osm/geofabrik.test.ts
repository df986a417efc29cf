import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAoi } from '@terrane/core'
import { createGuardedFetch } from '@terrane/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findExtract } from './geofabrik.ts'

let folder: string
let server: Server
let index: unknown
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-geofabrik-'))
  server = createServer((_, response) => response.end(JSON.stringify(index)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

const square = (west: number, south: number, side: number) => {
  const [east, north] = [west + side, south + side]
  return { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] } // prettier-ignore
}

async function found(answer: unknown) {
  index = answer
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fetch = createGuardedFetch({ allowHosts: ['127.0.0.1'] })
  const { signal } = new AbortController()
  const workdir = await mkdtemp(join(folder, 'work-'))
  const cache = { fetch, folder: workdir, signal, maxBytes: 1 << 20, maxCacheBytes: 1 << 20, maxAgeMs: 0 }
  return findExtract(url, readAoi(square(9.1, 47.1, 0.1), { maxVertices: 100, maxAreaKm2: 1e6 }), workdir, cache)
}

test('the smallest extract that contains the area is found among entries that say nothing', async () => {
  const entry = (id: string, side: number) => ({
    properties: { id, name: id.toUpperCase(), urls: { pbf: `https://extracts.example/${id}.osm.pbf` } },
    geometry: square(9, 47, side),
  })
  const odd = [null, 7, 'land', [], {}, { properties: null }, { properties: [] }, { properties: { urls: null } }]
  const features = [...odd, entry('country', 3), entry('land', 1), { ...entry('town', 1), geometry: null }]
  expect(await found({ features })).toEqual({
    id: 'land',
    name: 'LAND',
    url: 'https://extracts.example/land.osm.pbf',
  })
})

test.each([
  { index: null },
  { index: [] },
  { index: 'index' },
  { index: { features: null } },
  { index: { features: {} } },
])('an index %j is refused', async ({ index: answer }) => {
  await expect(found(answer)).rejects.toMatchObject({ code: 'EXTRACT_INDEX_BROKEN' })
})
