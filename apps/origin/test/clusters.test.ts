import { VectorTile } from '@mapbox/vector-tile'
import { seededRandom } from '@terrane/core'
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

const ask = (path: string) =>
  fetch(`${origin.url}/vector/v1/public.many${path}`, { headers: { apikey: origin.keys.anon } })

async function clusters(path: string): Promise<Record<string, unknown>[]> {
  const response = await ask(path)
  if (response.status === 204) return []
  const { many } = new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer()))).layers
  return Array.from({ length: many?.length ?? 0 }, (_, i) => many!.feature(i).properties)
}

/** Numbers of rows in squares of the grid, counted one by one. */
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
