import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import topology from 'world-atlas/countries-50m.json' with { type: 'json' }
import { expect, test } from 'vitest'
import { unwrapped } from './unwrapped.ts'

test('no edge of the land of the basemap crosses the world, and the Arctic Sea is no land', () => {
  const world = topology as unknown as Topology<{ land: GeometryCollection }>
  const rings = feature(world, world.objects.land).features.flatMap(({ geometry }) => {
    const areas = unwrapped(geometry)
    return areas.type === 'MultiPolygon' ? areas.coordinates.flat() : []
  })
  // Only the closing edge along a pole is as long as the world.
  const long = rings.flatMap((ring) =>
    ring.slice(1).filter(([lng, lat], i) => Math.abs(lng! - ring[i]![0]!) > 180 && Math.abs(lat!) < 89),
  )
  expect(long).toEqual([])
  const isLand = (lng: number, lat: number) =>
    [-360, 0, 360].reduce((n, turn) => n + rings.filter((ring) => isInside(ring, lng + turn, lat)).length, 0) % 2 === 1
  for (const [name, lng, lat, land] of [
    ['Denmark Strait', -27, 67, false],
    ['Hudson Strait', -70, 62.3, false],
    ['Chukotka, west of the antimeridian', 178, 67, true],
    ['Chukotka, east of it', -175, 66.5, true],
    ['South Pole', 10, -88, true],
    ['Fiji Sea', 0, -16.5, false],
  ] as const)
    expect([name, isLand(lng, lat)]).toEqual([name, land])
})

/** Even-odd rule. */
function isInside(ring: readonly GeoJSON.Position[], x: number, y: number): boolean {
  let isOdd = false
  for (const [i, [bx = 0, by = 0]] of ring.entries()) {
    const [ax = 0, ay = 0] = ring.at(i - 1)!
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isOdd = !isOdd
  }
  return isOdd
}
