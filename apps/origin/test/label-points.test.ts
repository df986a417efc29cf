import { VectorTile, type VectorTileLayer } from '@mapbox/vector-tile'
import { seededRandom } from '@terrane/core'
import { PbfReader } from 'pbf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
const random = seededRandom(11)
/** Boxes of west, south, east, north; most of them cross the edges of tiles. */
const lakes = Array.from({ length: 60 }, (_, id) => {
  const [lng, lat] = [random() * 300 - 150, random() * 120 - 60]
  return { id, box: [lng, lat, lng + 1 + random() * 25, lat + 1 + random() * 12] as const }
})
beforeAll(async () => {
  origin = await openOrigin()
  const values = lakes.map(({ id, box }) => `(${id}, 'lake ${id}', st_makeenvelope(${box.join()}, 4326))`)
  await origin.db.database
    .query(`create table public.lakes (id integer primary key, name text, geom geometry(Geometry, 4326));
    insert into public.lakes values ${values.join()};
    insert into public.lakes values (100, 'river', 'SRID=4326;LINESTRING(0 0, 9 9)'), (101, 'spring', 'SRID=4326;POINT(5 5)'), (102, 'puddle', st_makeenvelope(1, 1, 1.0001, 1.0001, 4326));
    insert into public.lakes select 103, 'islands', st_collect(st_makeenvelope(i * 20 - 40, 70, i * 20 - 35, 74, 4326)) from generate_series(0, 3) i;
    grant select on public.lakes to anon`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (path: string) =>
  fetch(`${origin.url}/vector/v1/public.lakes${path}`, { headers: { apikey: origin.keys.anon } })

async function layersOf(path: string): Promise<Record<string, VectorTileLayer>> {
  const response = await ask(path)
  if (response.status === 204) return {}
  expect(response.status).toBe(200)
  return new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer()))).layers
}

/** Labels of all tiles of a zoom, with their positions. */
async function labelsOf(zoom: number, query: string): Promise<{ id: number; name: unknown; at: number[] }[]> {
  const side = 2 ** zoom
  const tiles = Array.from({ length: side * side }, (_, i) => [i % side, Math.floor(i / side)] as const)
  const found = await Promise.all(
    tiles.map(async ([x, y]) => {
      const layer = (await layersOf(`/${zoom}/${x}/${y}?${query}`))['lakes:labels']
      return Array.from({ length: layer?.length ?? 0 }, (_, i) => {
        const feature = layer!.feature(i)
        const { geometry } = feature.toGeoJSON(x, y, zoom)
        return { id: feature.id!, name: feature.properties['name'], at: (geometry as GeoJSON.Point).coordinates }
      })
    }),
  )
  return found.flat()
}

test.each([0, 1, 3])('an area is labelled once at zoom %i, however many tiles it lies in', async (zoom) => {
  const labels = await labelsOf(zoom, 'label_points=true')
  expect(labels.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([...lakes.map(({ id }) => id), 103])
  for (const { id, name, at } of labels.filter((label) => label.id < 100)) {
    const [west, south, east, north] = lakes[id]!.box
    const [lng = 0, lat = 0] = at
    expect([name, lng > west && lng < east && lat > south && lat < north]).toEqual([`lake ${id}`, true])
  }
})

test('the features of a tile stay as they are, and filters hold for its labels', async () => {
  const [plain, labelled] = [await layersOf('/1/1/0'), await layersOf('/1/1/0?label_points=true')]
  expect(Object.keys(plain)).toEqual(['lakes'])
  expect(Object.keys(labelled)).toEqual(['lakes', 'lakes:labels'])
  expect(labelled['lakes']!.length).toBe(plain['lakes']!.length)
  expect((await labelsOf(1, 'label_points=true&name=eq.lake 7')).map(({ id }) => id)).toEqual([7])
  expect((await ask('/1/1/0?label_points=maybe')).status).toBe(400)
})
