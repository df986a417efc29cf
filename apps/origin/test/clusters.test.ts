import { VectorTile } from '@mapbox/vector-tile'
import { seededRandom } from '@terrane/core'
import { restConditions } from '@terrane/map-style/filters'
import { PbfReader } from 'pbf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
const random = seededRandom(39)
const points = Array.from({ length: 900 }, (_, id) => ({ id, lng: random() * 60 - 10, lat: random() * 60 - 20 }))
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database
    .query(`create table public.many (id integer primary key, p text, point_count text, geom geometry(Point, 4326));
    insert into public.many values ${points.map(({ id, lng, lat }) => `(${id}, 'n${id % 2}', 'own', 'SRID=4326;POINT(${lng} ${lat})')`).join()};
    grant select on public.many to anon`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (path: string, table = 'many') =>
  fetch(`${origin.url}/vector/v1/public.${table}${path}`, { headers: { apikey: origin.keys.anon } })

const clusters = (path: string) => features('many', path)

async function features(table: string, path: string): Promise<Record<string, unknown>[]> {
  const response = await ask(path, table)
  if (response.status === 204) return []
  const layer = new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer()))).layers[table]
  return Array.from({ length: layer?.length ?? 0 }, (_, i) => layer!.feature(i).properties)
}

/** Numbers of rows in squares of the grid, by brute force. */
function brute([zoom, x, y]: readonly [number, number, number], side: number, only = points): number[] {
  const counts = new Map<string, number>()
  for (const { lng, lat } of only) {
    const [px, py] = [
      ((lng + 180) / 360) * 2 ** zoom - x,
      (0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)) * 2 ** zoom - y,
    ]
    if (px < 0 || px >= 1 || py < 0 || py >= 1) continue
    const square = `${Math.floor((px * 4096) / side)} ${Math.floor((py * 4096) / side)}`
    counts.set(square, (counts.get(square) ?? 0) + 1)
  }
  return [...counts.values()].toSorted((a, b) => a - b)
}

test('points of a square are one with their number, in tiles that share no point', async () => {
  for (const [x, y] of [
    [3, 3],
    [4, 3],
    [4, 2],
    [0, 0],
  ] as const) {
    const found = (await clusters(`/3/${x}/${y}?cluster=512`)).map(({ point_count: count }) => Number(count))
    expect(found.toSorted((a, b) => a - b)).toEqual(brute([3, x, y], 512))
  }
})

test('a row that is alone has its properties, filters come first, and a property of that name gives way', async () => {
  const found = await clusters('/5/17/15?cluster=256&p=eq.n1')
  const odd = points.filter(({ id }) => id % 2 === 1)
  expect(found.map(({ point_count: count }) => count).toSorted((a, b) => Number(a) - Number(b))).toEqual(
    brute([5, 17, 15], 256, odd),
  )
  for (const one of found)
    expect(one).toEqual(
      one['point_count'] === 1
        ? { point_count: 1, id: expect.any(Number), p: 'n1' }
        : { point_count: one['point_count'] },
    )
})

test.each(['31', '500', '8192', 'x', ''])('cluster=%s is refused', async (side) => {
  expect(await (await ask(`/0/0/0?cluster=${side}`)).json()).toMatchObject({ code: 'PGRST100' })
})

/** Rows at the ends of the world, and rows of a projection whose area is small. */
const ENDS = `create table public.ends (id integer primary key, geom geometry(Point, 4326));
  insert into public.ends values (1, 'SRID=4326;POINT(180 10)'), (2, 'SRID=4326;POINT(-180 10)'), (3, 'SRID=4326;POINT(178 -17)'), (4, 'SRID=4326;POINT(0 0)');
  create table public.utm (id integer primary key, geom geometry(Point, 25832));
  insert into public.utm select row_number() over (), st_transform(st_setsrid(st_makepoint(lng, lat), 4326), 25832)
    from generate_series(0.1, 20.1, 1) lng, generate_series(45, 60, 1) lat;
  grant select on public.ends, public.utm to anon`

test('all rows are in some tile of each zoom, as clusters and as they are, in any projection', async () => {
  await origin.db.database.query(ENDS)
  const ids = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => Number(id))
  for (const [table, zoom, total, [x1, y1, x2, y2]] of [
    ['ends', 0, 4, [0, 0, 0, 0]],
    ['ends', 1, 4, [0, 0, 1, 1]],
    ['utm', 0, 336, [0, 0, 0, 0]],
    ['utm', 1, 336, [0, 0, 1, 1]],
    ['utm', 4, 336, [8, 4, 9, 5]],
    ['utm', 6, 336, [32, 18, 35, 23]],
  ] as const) {
    const found = new Set<number>()
    let counted = 0
    for (let x = x1; x <= x2; x++)
      for (let y = y1; y <= y2; y++) {
        for (const id of ids(await features(table, `/${zoom}/${x}/${y}`))) found.add(id)
        for (const one of await features(table, `/${zoom}/${x}/${y}?cluster=64`)) counted += Number(one['point_count'])
      }
    expect([table, zoom, found.size, counted]).toEqual([table, zoom, total, total])
  }
})

test('a filter names any column, also one of the name of a parameter', async () => {
  await origin.db.database
    .query(`create table public.named (id integer primary key, cluster text, geom geometry(Point, 4326));
    insert into public.named values (1, 'a', 'SRID=4326;POINT(1 1)'), (2, 'b', 'SRID=4326;POINT(50 1)'); grant select on public.named to anon`)
  const and = new URLSearchParams(restConditions([{ property: 'cluster', is: 'equal', value: 'a' }], false))
  expect((await features('named', `/0/0/0?cluster=64&${and.toString()}`)).map(({ id }) => id)).toEqual([1])
})
