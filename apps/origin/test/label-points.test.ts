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
    grant select on public.lakes to anon;
    create table public.far (id integer primary key, geom geometry(Geometry, 4326), seen boolean default true);
    insert into public.far values (1, st_makeenvelope(-180, -89.9, 180, -62, 4326)), (2, 'SRID=4326;MULTIPOLYGON(((170 10, 180 10, 180 20, 170 20, 170 10)), ((-180 10, -178 10, -178 20, -180 20, -180 10)))'),
      (3, 'SRID=4326;POLYGON((30 30, 40 40, 40 30, 30 40, 30 30))'), (4, 'SRID=4326;POLYGON EMPTY'), (5, null), (6, 'SRID=4326;GEOMETRYCOLLECTION(POINT(60 60), POLYGON((61 61, 69 61, 69 69, 61 61)))');
    insert into public.far values (7, st_makeenvelope(-60, -20, -50, -10, 4326), false);
    alter table public.far enable row level security;
    create policy seen on public.far for select using (seen);
    grant select on public.far to anon;
    create table public.metres (id integer primary key, geom geometry(Polygon, 3035));
    insert into public.metres select i, st_makeenvelope(i * 3e5, 2e6, i * 3e5 + 2.9e5, 4e6, 3035) from generate_series(10, 20) i;
    grant select on public.metres to anon`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (path: string, table = 'lakes') =>
  fetch(`${origin.url}/vector/v1/public.${table}${path}`, { headers: { apikey: origin.keys.anon } })

async function layersOf(path: string, table?: string): Promise<Record<string, VectorTileLayer>> {
  const response = await ask(path, table)
  if (response.status === 204) return {}
  expect(response.status).toBe(200)
  return new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer()))).layers
}

/** Labels of all tiles of a zoom, with their positions. */
async function labelsOf(
  zoom: number,
  query: string,
  table = 'lakes',
): Promise<{ id: number; name: unknown; at: number[] }[]> {
  const side = 2 ** zoom
  const tiles = Array.from({ length: side * side }, (_, i) => [i % side, Math.floor(i / side)] as const)
  const found = await Promise.all(
    tiles.map(async ([x, y]) => {
      const layer = (await layersOf(`/${zoom}/${x}/${y}?${query}`, table))[`${table}:labels`]
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

test.each([0, 2, 3])(
  'areas up to a pole, over the antimeridian or not valid have one label at zoom %i',
  async (zoom) => {
    const labels = await labelsOf(zoom, 'label_points=true', 'far')
    // Row-level security keeps the seventh area from the caller.
    expect(labels.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 6])
    const [pole, , , collection] = labels.toSorted((a, b) => a.id - b.id)
    expect([pole!.at[1]! < -62, pole!.at[1]! > -85.06]).toEqual([true, true])
    expect([collection!.at[0]! > 61, collection!.at[0]! < 69]).toEqual([true, true])
  },
)

test.each([3, 6])('areas in a projection of Europe have one label at zoom %i', async (zoom) => {
  const labels = zoom === 3 ? await labelsOf(zoom, 'label_points=true', 'metres') : await europeAt(zoom)
  expect(labels.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, i) => i + 10))
})

async function europeAt(zoom: number): Promise<{ id: number }[]> {
  const [columns, rows] = [[28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39], [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]] // prettier-ignore
  const found = await Promise.all(
    columns.flatMap((x) => rows.map((y) => layersOf(`/${zoom}/${x}/${y}?label_points=true`, 'metres'))),
  )
  return found.flatMap(({ 'metres:labels': layer }) =>
    Array.from({ length: layer?.length ?? 0 }, (_, i) => ({ id: layer!.feature(i).id! })),
  )
}

test('a tile without the option has the bytes of the first layer only, and each has its own ETag', async () => {
  const [plain, off, labelled] = await Promise.all(['', '?label_points=false', '?label_points=true'].map((query) => ask(`/1/1/0${query}`))) // prettier-ignore
  const [first, same, both] = await Promise.all([plain!, off!, labelled!].map(async (one) => Buffer.from(await one.arrayBuffer()))) // prettier-ignore
  expect(first!.equals(same!)).toBe(true)
  expect(both!.subarray(0, first!.length).equals(first!)).toBe(true)
  expect(both!.length).toBeGreaterThan(first!.length)
  expect(labelled!.headers.get('etag')).not.toBe(plain!.headers.get('etag'))
})

test('the TileJSON names the layer of labels when tiles have it, and the style draws no circles for them', async () => {
  const layersIn = async (query: string) => {
    const { vector_layers: layers } = (await (await ask(query)).json()) as { vector_layers: { id: string; geometry_type: string }[] } // prettier-ignore
    return layers.map((layer) => [layer.id, layer.geometry_type])
  }
  expect(await layersIn('')).toEqual([['lakes', 'Geometry']])
  expect(await layersIn('?label_points=true')).toEqual([['lakes', 'Geometry'], ['lakes:labels', 'Point']]) // prettier-ignore
  const style = (await (await ask('/style.json?label_points=true')).json()) as { layers: { id: string }[] }
  expect(style.layers.map(({ id }) => id)).toEqual(['background', 'lakes polygon', 'lakes line', 'lakes point'])
})
