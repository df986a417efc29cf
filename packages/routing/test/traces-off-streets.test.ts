import { afterAll, describe, expect, it } from 'vitest'

import { decodeLine } from '../src/geometry/polyline.ts'
import { type Mode, Router } from '../src/index.ts'
import { noiseOf } from '../src/match/noise.ts'
import { onPlane } from '../src/match/trace.ts'
import { drawTown } from './support/ascii-map.ts'

interface Point {
  readonly lon: number
  readonly lat: number
}

// Streets around a park without paths.
const town = await drawTown({
  map: `
    A--------------B-----E
                         |
                         |
                         |
                         |
                         |
                         |
    D--------------C-----F
  `,
  meters: 20,
  ways: {
    AB: { highway: 'residential' },
    BE: { highway: 'residential' },
    EF: { highway: 'residential' },
    FC: { highway: 'residential' },
    CD: { highway: 'residential' },
  },
})
const router = new Router(town.network)
afterAll(() => router.close())

/** Places at equal distances along straight lines between letters. */
function along(letters: string, parts: number): Point[] {
  const ends = Array.from(letters, (letter) => town.at(letter))
  const points = ends.slice(1).flatMap((to, i) => {
    const from = ends[i]!
    return Array.from({ length: parts }, (_, part) => ({
      lon: from.lon + (part / parts) * (to.lon - from.lon),
      lat: from.lat + (part / parts) * (to.lat - from.lat),
    }))
  })
  return [...points, ends.at(-1)!]
}

/** Lengths of the parts of a matched trace, in metres. */
function partsOf(points: readonly Point[], { costing, seconds }: { costing: Mode; seconds: number }): number[] {
  const shape = points.map((point, i) => ({ ...point, time: i * seconds }))
  const { body } = router.answer(JSON.stringify({ shape, costing, shape_match: 'map_snap' }), 'trace_route')
  const { trip, alternates = [] } = JSON.parse(body) as { trip: Trip; alternates?: { trip: Trip }[] }
  return [trip, ...alternates.map((one) => one.trip)].map(({ summary }) => Math.round(1000 * summary.length))
}

interface Trip {
  readonly summary: { readonly length: number }
  readonly legs: readonly { readonly shape: string }[]
}

describe('a trace through a park without paths', () => {
  it('is two parts and no detour', () => {
    const parts = partsOf(along('ABCD', 40), { costing: 'pedestrian', seconds: 5 })
    expect(parts).toHaveLength(2)
    for (const meters of parts) expect(Math.abs(meters - 300)).toBeLessThan(60)
  })

  it('is one part where the walk goes around it', () => {
    const [meters, ...others] = partsOf(along('ABEFCD', 30), { costing: 'pedestrian', seconds: 5 })
    expect(others).toEqual([])
    expect(Math.abs(meters! - 1120)).toBeLessThan(30)
  })
})

describe('a walker whose points are 600 m apart in a minute', () => {
  const walk = async (middle: Record<string, string>): Promise<number> => {
    const shores = await drawTown({
      map: 'A---B------------------C---D',
      meters: 100,
      ways: { AB: { highway: 'residential' }, BC: middle, CD: { highway: 'residential' } },
    })
    const [from, to] = [shores.at('B'), shores.at('C')]
    const shape = Array.from({ length: 4 }, (_, i) => ({
      lat: from.lat,
      lon: from.lon + ((i * 600) / 1900) * (to.lon - from.lon),
      time: 60 * i,
    }))
    const request = { shape, costing: 'pedestrian', shape_match: 'map_snap', trace_options: { gps_accuracy: 5 } }
    const matcher = new Router(shores.network)
    const { status } = matcher.answer(JSON.stringify(request), 'trace_route')
    await matcher.close()
    return status
  }

  it('is on board of a ferry', async () => {
    expect(await walk({ route: 'ferry', foot: 'yes' })).toBe(200)
  })

  it('is not on a street', async () => {
    expect(await walk({ highway: 'residential' })).toBe(400)
  })
})

it('a sparse trace keeps its ends beyond crossings', async () => {
  const crossings = await drawTown({
    map: `
         H              G
         |              |
      A--B--------------C--D
    `,
    meters: 20,
    ways: {
      AB: { highway: 'residential' },
      BC: { highway: 'residential' },
      CD: { highway: 'residential' },
      BH: { highway: 'residential' },
      CG: { highway: 'residential' },
    },
  })
  const [b, c] = [crossings.at('B'), crossings.at('C')]
  const degrees = 20 / (111_195 * Math.cos((b.lat * Math.PI) / 180))
  const shape = [
    { lat: b.lat, lon: b.lon - degrees },
    { lat: c.lat, lon: c.lon + degrees },
  ]
  const request = { shape, costing: 'auto', shape_match: 'map_snap', trace_options: { gps_accuracy: 10 } }
  const matcher = new Router(crossings.network)
  const { trip } = JSON.parse(matcher.answer(JSON.stringify(request), 'trace_route').body) as { trip: Trip }
  await matcher.close()
  const { lon } = decodeLine(trip.legs[0]!.shape, 6)
  const meters = [lon[0]! - shape[0]!.lon, lon.at(-1)! - shape[1]!.lon].map((each) => (each / degrees) * 20)
  expect(meters).toEqual([expect.closeTo(0, 0), expect.closeTo(0, 0)])
})

it('a few distant points of a loop are a sparse trace with little noise', () => {
  const points = onPlane(
    along('ABEFCD', 2)
      .concat(along('DA', 1))
      .map((point) => ({ ...point, seconds: null, accuracy: null, radius: null })),
  )
  const nearest = (_: Point, [east]: readonly [number, number]): number => (east === 0 ? 5 : 60)
  expect(noiseOf(points.slice(0, 8), nearest)).toBeLessThan(15)
})
