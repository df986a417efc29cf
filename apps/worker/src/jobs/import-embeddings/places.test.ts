import { expect, test } from 'vitest'
import { ringsOfPlace } from './places.ts'

/** WKB of a polygon with one ring, or of a point. */
function wkb(kind: 'point' | 'polygon', positions: readonly (readonly [number, number])[]): Uint8Array {
  const head = kind === 'point' ? 5 : 13
  const view = new DataView(new ArrayBuffer(head + 16 * positions.length))
  view.setUint8(0, 1)
  view.setUint32(1, kind === 'point' ? 1 : 3, true)
  if (kind === 'polygon') {
    view.setUint32(5, 1, true)
    view.setUint32(9, positions.length, true)
  }
  positions.flat().forEach((value, i) => view.setFloat64(head + 8 * i, value, true))
  return new Uint8Array(view.buffer)
}

const box = (west: number, east: number) =>
  wkb('polygon', [[west, 10], [east, 10], [east, 12], [west, 12], [west, 10]]) // prettier-ignore
const extentsOf = (place: ReturnType<typeof ringsOfPlace>) =>
  place?.rings.map((ring) => {
    const lngs = [...ring].filter((_, i) => i % 2 === 0)
    return [Math.min(...lngs), Math.max(...lngs)]
  })

test.each([
  ['written from 179 to -179', 179, -179],
  ['written from 179 to 181', 179, 181],
  ['written from -181 to -179', -181, -179],
])('an area across the antimeridian, %s, is one part on each side', (_, west, east) => {
  const place = ringsOfPlace(box(west, east), null)
  expect(place).toMatchObject({ isSplit: true, hasHoles: false })
  expect(extentsOf(place)!.toSorted((a, b) => a[0]! - b[0]!)).toEqual([[-180, -179], [179, 180]]) // prettier-ignore
})

test.each([
  [10, 12],
  [-180, 180],
  [-60, 100],
  [170, 180],
])('an area from %d to %d stays as it is', (west, east) => {
  const place = ringsOfPlace(box(west, east), null)
  expect(place).toMatchObject({ isSplit: false })
  expect(place!.rings).toEqual([Float64Array.of(west, 10, east, 10, east, 12, west, 12, west, 10)])
})

test.each([
  [179, -180],
  [-180, 179],
])('an area that ends at the antimeridian, written from %d to %d, is one part', (west, east) => {
  const place = ringsOfPlace(box(west, east), null)
  expect(place).toMatchObject({ isSplit: false })
  expect(extentsOf(place)).toEqual([[179, 180]])
})

test('an area and a point from 0 to 360 degrees are brought back by a turn, and nothing else is', () => {
  expect(extentsOf(ringsOfPlace(box(200, 202), null))).toEqual([[-160, -158]])
  const [[west, east]] = extentsOf(ringsOfPlace(wkb('point', [[200, 10]]), 1000)) as [[number, number]]
  expect([(west + east) / 2, east - west < 0.02]).toEqual([expect.closeTo(-160, 9), true])
  expect(ringsOfPlace(wkb('point', [[600, 10]]), 1000)).toBeNull()
  expect(ringsOfPlace(wkb('point', [[10, 95]]), 1000)).toBeNull()
})
