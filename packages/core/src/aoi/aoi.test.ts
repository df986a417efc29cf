import { describe, expect, test } from 'vitest'
import { seededRandom } from '../random.ts'
import { Aoi } from './aoi.ts'
import { readAoi } from './read-aoi.ts'

const LIMITS = { maxVertices: 1000, maxAreaKm2: 1e9 }
const polygon = (...rings: number[][][]) => ({ type: 'Polygon', coordinates: rings })
const box = (w: number, s: number, e: number, n: number) => [[w, s], [e, s], [e, n], [w, n], [w, s]] // prettier-ignore
const triangle = [[0, 0], [2, 0], [0, 2], [0, 0]] // prettier-ignore

describe('reading', () => {
  test('a polygon with a hole, its area and its box', () => {
    const aoi = readAoi(polygon(box(0, 0, 1, 1), box(0.25, 0.25, 0.5, 0.5)), LIMITS)
    expect(aoi.boxes).toEqual([[0, 0, 1, 1]])
    expect(aoi.vertices).toBe(10)
    // A degree at the equator is 111.195 km on this sphere.
    expect(aoi.areaKm2).toBeCloseTo(111.195 ** 2 * (1 - 1 / 16), -1)
    expect(aoi.containsPoint(0.1, 0.1)).toBe(true)
    expect(aoi.containsPoint(0.3, 0.3)).toBe(false)
    expect(aoi.containsPoint(0.25, 0.3)).toBe(true)
  })

  test('the whole Earth', () => {
    const aoi = readAoi(polygon(box(-180, -90, 180, 90)), LIMITS)
    expect(aoi.areaKm2).toBeCloseTo(4 * Math.PI * 6371.0088 ** 2, 0)
    expect(aoi.containsPoint(180, 90)).toBe(true)
  })

  test.for<[string, unknown]>([
    ['a MultiPolygon', { type: 'MultiPolygon', coordinates: [[triangle]] }],
    ['a Feature', { type: 'Feature', properties: null, geometry: polygon(triangle) }],
    [
      'a FeatureCollection',
      { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: polygon(triangle) }] },
    ],
    ['an open ring', polygon(triangle.slice(0, 3))],
    ['heights', polygon(triangle.map((position) => [...position, 99]))],
  ])('%s is taken', ([, value]) => {
    expect(readAoi(value, LIMITS).toGeoJson()).toEqual({ type: 'MultiPolygon', coordinates: [[triangle]] })
  })

  test.for<[string, unknown, string]>([
    ['nothing', null, '/aoiGeoJson'],
    ['a text', 'POLYGON', '/aoiGeoJson'],
    ['a point', { type: 'Point', coordinates: [1, 2] }, '/aoiGeoJson/type'],
    ['no type', { coordinates: [] }, '/aoiGeoJson/type'],
    ['an empty collection', { type: 'FeatureCollection', features: [] }, '/aoiGeoJson'],
    ['a collection of collections', { type: 'FeatureCollection', features: [{ type: 'FeatureCollection' }] }, '/aoiGeoJson/features/0/type'],
    ['a feature without a geometry', { type: 'Feature', geometry: null }, '/aoiGeoJson/geometry'],
    ['no rings', polygon(), '/aoiGeoJson/coordinates'],
    ['no coordinates', { type: 'Polygon' }, '/aoiGeoJson/coordinates'],
    ['two positions', polygon([[0, 0], [1, 1], [0, 0]]), '/aoiGeoJson/coordinates/0'],
    ['a ring on a line', polygon([[0, 0], [1, 0], [2, 0], [0, 0]]), '/aoiGeoJson/coordinates/0'],
    ['a bow tie', polygon([[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]), '/aoiGeoJson/coordinates/0'],
    ['a hole that crosses itself', polygon(box(0, 0, 9, 9), [[1, 1], [2, 2], [2, 1], [1, 2], [1, 1]]), '/aoiGeoJson/coordinates/1'],
    ['a latitude beyond the pole', polygon(box(0, 0, 1, 91)), '/aoiGeoJson/coordinates/0/2/1'],
    ['metres', polygon(box(500_000, 0, 500_001, 1)), '/aoiGeoJson/coordinates/0/0/0'],
    ['a text for a number', polygon([[0, 0], ['1', 0], [0, 1], [0, 0]] as never), '/aoiGeoJson/coordinates/0/1'],
    ['infinity', polygon(box(0, 0, 1, Infinity)), '/aoiGeoJson/coordinates/0/2'],
  ])('%s is refused', ([, value, path]) => {
    expect(() => readAoi(value, LIMITS)).toThrow(expect.objectContaining({ code: 'AOI_INVALID', kind: 'invalid', errors: [{ path, message: expect.any(String) as string }] }))
  }) // prettier-ignore

  test('more vertices, area or polygons than allowed', () => {
    const many = Array.from({ length: 1_000_000 }, (_, i) => [Math.cos(i / 1e6), Math.sin(i / 1e6)])
    const tooLarge = expect.objectContaining({ code: 'AOI_TOO_LARGE', kind: 'invalid' }) as Error
    expect(() => readAoi(polygon(many), LIMITS)).toThrow(tooLarge)
    expect(() => readAoi(polygon(box(0, 0, 1, 1)), { maxVertices: 10, maxAreaKm2: 12_000 })).toThrow(tooLarge)
    const islands = { type: 'MultiPolygon', coordinates: Array.from({ length: 30 }, () => [triangle]) }
    expect(() => readAoi(islands, { ...LIMITS, maxPolygons: 29 })).toThrow(tooLarge)
  })
})

describe('over the antimeridian', () => {
  test('a jump leads to the other side, whichever way the ring runs', () => {
    const ring = box(177, -19, -177, -15)
    const [one, other] = [readAoi(polygon(ring), LIMITS), readAoi(polygon(ring.toReversed()), LIMITS)]
    for (const aoi of [one, other]) {
      expect([178, -178, 0].map((lng) => aoi.containsPoint(lng, -17))).toEqual([true, true, false])
    }
    expect(other.areaKm2).toBeCloseTo(one.areaKm2, 3)
  })
  const fiji = { maxVertices: 100, maxAreaKm2: 1e6 }
  test.for<[string, number[][][]]>([
    ['drawn past 180', [box(177, -19, 183, -15), box(179, -18, 181, -17)]],
    ['drawn past -180', [box(-183, -19, -177, -15), box(-181, -18, -179, -17)]],
    ['with a jump', [box(177, -19, -177, -15), box(179, -18, -179, -17)]],
    ['with a hole on the other side', [box(177, -19, -177, -15), box(-179.9, -18, -179, -17)]],
  ])('%s', ([, rings]) => {
    const aoi = readAoi(polygon(...rings), fiji)
    expect(aoi.areaKm2).toBeLessThan(300_000)
    expect([178, -178].map((lng) => aoi.containsPoint(lng, -16))).toEqual([true, true])
    expect([0, 176, -176].map((lng) => aoi.containsPoint(lng, -16))).toEqual([false, false, false])
    expect(aoi.containsPoint(-179.5, -17.5)).toBe(false)
    expect(aoi.boxes.toSorted((a, b) => a[0] - b[0])).toEqual([[-180, -19, -177, -15], [177, -19, 180, -15]]) // prettier-ignore
    expect(aoi.touchesSegment(-179, -10, -178, -20)).toBe(true)
  })
})

describe('around the Earth', () => {
  const band = box(-179.9, -1, 179.9, 1)
  const hole = box(-170, -0.5, 175, 0.5)

  test('a counter-clockwise ring with a jump is as wide as it stands', () => {
    const aoi = readAoi(polygon(band), LIMITS)
    expect(aoi.boxes).toEqual([[-179.9, -1, 179.9, 1]])
    expect([-179, -90, 0, 90, 179].map((lng) => aoi.containsPoint(lng, 0))).toEqual([true, true, true, true, true])
    expect([-179.95, 179.95].map((lng) => aoi.containsPoint(lng, 0))).toEqual([false, false])
    expect(aoi.areaKm2).toBeCloseTo(readAoi(polygon(box(0, -1, 179.9, 1)), LIMITS).areaKm2 * 2, 0)
  })
  test('has holes as wide', () => {
    const aoi = readAoi(polygon(band, hole.toReversed()), LIMITS)
    expect([-175, 0, 177].map((lng) => aoi.containsPoint(lng, 0))).toEqual([true, false, true])
    expect(readAoi(polygon(band, hole), LIMITS).areaKm2).toBe(aoi.areaKm2)
  })
  test('is told how to stay on its side when it is too large', () => {
    const limits = { ...LIMITS, maxAreaKm2: 100_000 }
    const hint = expect.stringContaining('across the antimeridian') as string
    for (const ring of [band, box(179.8, -19, -179.8, -15).toReversed()]) {
      expect(() => readAoi(polygon(ring), limits)).toThrow(expect.objectContaining({ code: 'AOI_TOO_LARGE', hint }))
    }
  })
  test('every side is shorter than half of it, so that no reader takes it for a jump', () => {
    for (const [outer] of readAoi(polygon(band), LIMITS).given) {
      for (let i = 2; i < outer!.length; i += 2) expect(Math.abs(outer![i]! - outer![i - 2]!)).toBeLessThanOrEqual(180)
    }
  })
})

describe('tests of points, boxes and segments', () => {
  test('agree with plain ones on random stars with holes', () => {
    const random = seededRandom(3)
    const mistaken: string[] = []
    const seen = { outside: 0, inside: 0, crossing: 0 }
    for (let round = 0; round < 200; round++) {
      const corners = 3 + Math.floor(random() * (round % 10 === 0 ? 400 : 12))
      const star = (radius: number, order: 1 | -1) =>
        Array.from({ length: corners + 1 }, (_, i) => {
          const angle = ((order * (i % corners)) / corners) * 2 * Math.PI
          const stretch = radius * (0.5 + (((i % corners) * 7919) % 13) / 26)
          return [Math.cos(angle) * stretch, Math.sin(angle) * stretch]
        })
      const rings = round % 2 ? [star(10, 1)] : [star(10, 1), star(3, -1)]
      const aoi = new Aoi([rings.map((ring) => Float64Array.from(ring.flat()))])
      const inside = (x: number, y: number) => rings.filter((ring) => within(ring, x, y)).length === 1
      for (let i = 0; i < 20; i++) {
        const [x, y] = [random() * 24 - 12, random() * 24 - 12]
        const [width, height] = [random() * 4, random() * 4]
        expect(aoi.containsPoint(x, y)).toBe(inside(x, y))
        const border = rings.some((ring) =>
          ring.some(
            (_, k) =>
              k > 0 &&
              sampled(ring[k - 1]!, ring[k]!, (px, py) => px >= x && px <= x + width && py >= y && py <= y + height),
          ),
        )
        const relation = aoi.relateBox(x, y, x + width, y + height)
        if (!border && relation === 'crossing') mistaken.push(`box ${x} ${y}`)
        const expected = border ? 'crossing' : inside(x, y) ? 'inside' : 'outside'
        expect(relation === 'crossing' || relation === expected).toBe(true)
        seen[relation]++
        const touches = sampled([x, y], [x + width, y + height], inside)
        const found = aoi.touchesSegment(x, y, x + width, y + height)
        expect(touches && !found).toBe(false)
        expect(found && !touches && !nearly(rings, x, y, width, height)).toBe(false)
      }
    }
    // Samples along the border may miss a box that it barely cuts.
    expect(mistaken.length).toBeLessThan(60)
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(200)
  })

  test('count the border in', () => {
    const aoi = readAoi(polygon(box(0, 0, 2, 2)), LIMITS)
    expect([[0, 0], [1, 0], [2, 2], [0, 1.5]].every(([x, y]) => aoi.containsPoint(x!, y!))).toBe(true) // prettier-ignore
    expect(aoi.relateBox(2, 2, 3, 3)).toBe('crossing')
    expect(aoi.relateBox(0.5, 0.5, 1, 1)).toBe('inside')
    expect(aoi.touchesSegment(2, -1, 2, 3)).toBe(true)
    expect(aoi.touchesSegment(-1, 1, 3, 1)).toBe(true)
    expect([...aoi.borderPoints()]).toEqual([[0, 0]])
  })
})

test('an area contains another that lies within it', () => {
  const area = (...rings: number[][][]) => readAoi(polygon(...rings), LIMITS)
  const outer = area(box(0, 0, 10, 10), box(4, 4, 6, 6))
  expect(outer.contains(area(box(1, 1, 3, 3)))).toBe(true)
  expect(outer.contains(area(box(1, 1, 5, 5)))).toBe(false)
  expect(outer.contains(area(box(3, 3, 7, 7)))).toBe(false)
  expect(outer.contains(area([[1, 1], [9, 1], [9, 9], [1, 1]]))).toBe(false) // prettier-ignore
  expect(outer.contains(area(box(-1, 1, 3, 3)))).toBe(false)
  expect(outer.contains(area(box(20, 20, 21, 21)))).toBe(false)
  const islands = { type: 'MultiPolygon', coordinates: [[box(170, -20, 180, -10)], [box(-180, -20, -170, -10)]] }
  expect(readAoi(islands, LIMITS).contains(area(box(178, -18, -178, -16)))).toBe(true)
  expect(readAoi(islands, LIMITS).contains(area(box(178, -18, -160, -16)))).toBe(false)
})

function within(ring: number[][], x: number, y: number): boolean {
  let odd = false
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay, bx, by] = [...ring[i - 1]!, ...ring[i]!] as [number, number, number, number]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd
  }
  return odd
}

function sampled(a: number[], b: number[], hit: (x: number, y: number) => boolean): boolean {
  const at = (t: number, axis: 0 | 1) => a[axis]! + (b[axis]! - a[axis]!) * t
  return Array.from({ length: 101 }, (_, i) => i / 100).some((t) => hit(at(t, 0), at(t, 1)))
}

/** A hundred samples may step over a corner that the segment just cuts. */
function nearly(rings: number[][][], x: number, y: number, width: number, height: number): boolean {
  return rings.flat().some(([px, py]) => {
    const t = Math.max(0, Math.min(1, ((px! - x) * width + (py! - y) * height) / (width ** 2 + height ** 2)))
    return Math.hypot(px! - x - t * width, py! - y - t * height) < 0.3
  })
}
