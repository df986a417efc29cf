import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { DEFAULT_LIMITS, type Mode, MODES, type Network, Router } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { openTown } from './support/town.ts'

interface Place {
  lon: number
  lat: number
}

let network: Network
let router: Router
beforeAll(async () => {
  network = await openTown()
  router = new Router(network, {
    limits: { ...DEFAULT_LIMITS, matrix: { ...DEFAULT_LIMITS.matrix, pairs: 10_000 } },
  })
})
afterAll(() => router.close())

function places(count: number, seed: number): Place[] {
  const { graph } = network
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => {
    const node = Math.floor(random() * graph.nodeCount)
    return {
      lon: graph.nodeLon[node]! / 1e7 + (random() - 0.5) * 4e-4,
      lat: graph.nodeLat[node]! / 1e7 + (random() - 0.5) * 4e-4,
    }
  })
}

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
function ask(request: Record<string, unknown>): any {
  return JSON.parse(router.answer(JSON.stringify(request), 'sources_to_targets').body)
}

/** Time and distance of the route between two places, as cells have them. */
function routed(
  from: Place,
  to: Place,
  more: Record<string, unknown>,
): { time: number | null; distance: number | null } {
  const request = { locations: [from, to], directions_type: 'none', ...more }
  const { trip } = JSON.parse(router.answer(JSON.stringify(request)).body) as {
    trip?: { summary: { time: number; length: number } }
  }
  if (trip === undefined) return { time: null, distance: null }
  return { time: Math.round(trip.summary.time), distance: trip.summary.length }
}

/** Compares every cell of a matrix with the route between its places, and counts the cells with a route. */
function compareWithRoutes(sources: Place[], targets: Place[], more: Record<string, unknown>): number {
  const { sources_to_targets: rows } = ask({ sources, targets, ...more })
  let found = 0
  for (const [i, from] of sources.entries()) {
    for (const [j, to] of targets.entries()) {
      const want = routed(from, to, more)
      expect(rows[i][j], `${i} to ${j}`).toMatchObject({ from_index: i, to_index: j, ...want })
      if (want.time !== null) found++
    }
  }
  return found
}

describe.each(MODES)('a matrix by %s', (costing) => {
  it('has the time and the distance of the route in every cell', () => {
    const some = places(9, MODES.indexOf(costing) + 1)
    // Also from each place to itself.
    expect(compareWithRoutes(some, [...some.slice(0, 4), ...places(5, 77)], { costing })).toBeGreaterThan(30)
  })
})

describe('what a request may say', () => {
  const middle = (): { lon: number; lat: number } => {
    const { graph } = network
    return {
      lon: (Math.min(...graph.nodeLon) + Math.max(...graph.nodeLon)) / 2e7,
      lat: (Math.min(...graph.nodeLat) + Math.max(...graph.nodeLat)) / 2e7,
    }
  }

  it.each([
    ['places that are excluded', () => ({ exclude_locations: places(25, 5) })],
    [
      'areas that are excluded',
      () => {
        const { lon, lat } = middle()
        const size = 0.004
        const ring = [
          [lon - size, lat - size],
          [lon + size, lat - size],
          [lon + size, lat + size],
          [lon - size, lat + size],
        ]
        return { exclude_polygons: [ring] }
      },
    ],
    ['kinds of streets that are excluded', () => ({ costing_options: { auto: { exclude_bridges: true } } })],
    ['the size of the vehicle', () => ({ costing: 'truck', costing_options: { truck: { height: 9, weight: 60 } } })],
    ['what is to be ignored', () => ({ costing_options: { auto: { ignore_oneways: true } } })],
    ['a time of departure', () => ({ date_time: { type: 1, value: '2026-06-01T08:10' } })],
    ['a time of arrival', () => ({ date_time: { type: 2, value: '2026-06-01T08:10' } })],
  ])('counts as it does for routes: %s', (_, more) => {
    const request = { costing: 'auto', ...more() }
    expect(compareWithRoutes(places(7, 21), places(7, 22), request)).toBeGreaterThan(10)
  })

  it('obeys the rules of the hour', async () => {
    const town = await drawTown({
      map: `
A--B-------D--E
   |       |
   F-------G`,
      ways: {
        AB: { highway: 'residential' },
        BD: { highway: 'residential', 'motor_vehicle:conditional': 'no @ (Mo-Fr 07:00-09:00)' },
        DE: { highway: 'residential' },
        BFGD: { highway: 'residential' },
      },
    })
    const drawn = new Router(town.network)
    const distance = (value: string): number => {
      const request = {
        sources: [town.at('A')],
        targets: [town.at('E')],
        costing: 'auto',
        date_time: { type: 1, value },
      }
      const { body } = drawn.answer(JSON.stringify(request), 'sources_to_targets')
      // oxlint-disable-next-line typescript/no-unsafe-return -- an answer as a caller sees it
      return JSON.parse(body).sources_to_targets[0][0].distance
    }
    expect(distance('2026-06-01T08:00')).toBeGreaterThan(distance('2026-06-01T12:00') + 0.05)
    await drawn.close()
  })

  it('gives the same cells however a request is split', () => {
    const [sources, targets] = [places(12, 31), places(12, 32)]
    const whole = ask({ sources, targets, costing: 'bicycle' }).sources_to_targets
    for (const [i, source] of sources.entries()) {
      for (let first = 0; first < targets.length; first += 5) {
        const part = ask({ sources: [source], targets: targets.slice(first, first + 5), costing: 'bicycle' })
        for (const [j, cell] of part.sources_to_targets[0].entries()) {
          const { from_index: _, to_index: __, ...rest } = whole[i][first + j]
          expect(cell).toMatchObject(rest)
        }
      }
    }
  })

  it('says where a path begins and ends, and in which direction', () => {
    const [from, to] = places(2, 41)
    const { sources_to_targets, sources, targets, units, algorithm } = ask({
      sources: [from],
      targets: [to],
      costing: 'auto',
      units: 'miles',
      id: 'mine',
    })
    expect([units, algorithm]).toEqual(['miles', 'costmatrix'])
    const [[cell]] = sources_to_targets
    expect(cell.distance).toBeCloseTo(routed(from!, to!, { costing: 'auto' }).distance! / 1.609344, 2)
    expect({ lat: cell.begin_lat, lon: cell.begin_lon }).toEqual(sources[0])
    expect({ lat: cell.end_lat, lon: cell.end_lon }).toEqual(targets[0])
    for (const heading of [cell.begin_heading, cell.end_heading]) {
      expect(heading).toBeGreaterThanOrEqual(0)
      expect(heading).toBeLessThan(360)
    }
  })

  it('draws the lines of routes where they are asked for', () => {
    const [from, to] = places(2, 41)
    const more = { costing: 'auto', shape_format: 'polyline6' }
    const cell = ask({ sources: [from], targets: [to], ...more }).sources_to_targets[0][0]
    const { trip } = router.route({ locations: [from, to], costing: 'auto', directions_type: 'none' })
    expect(cell.shape).toBe(trip.legs[0]!.shape)
    const short = ask({ sources: [from], targets: [to], ...more, verbose: false }).sources_to_targets
    expect(short.shapes).toEqual([[trip.legs[0]!.shape]])
  })

  it('keeps the nearest of many around one place, and the others are null', () => {
    const [place, others] = [places(1, 51), places(8, 52)]
    const times = (request: Record<string, unknown>): (number | null)[] =>
      ask({ costing: 'pedestrian', verbose: false, ...request }).sources_to_targets.durations.flat()
    for (const ends of [
      { sources: place, targets: others },
      { sources: others, targets: place },
    ]) {
      const all = times(ends)
      const nearest = new Set(all.toSorted((a, b) => a! - b!).slice(0, 3))
      expect(times({ ...ends, matrix_locations: 3 })).toEqual(all.map((time) => (nearest.has(time) ? time : null)))
    }
  })

  it('answers null where there is no path, and says how often', async () => {
    const town = await drawTown({
      map: 'A--B   C--D',
      ways: { AB: { highway: 'residential' }, CD: { highway: 'residential' } },
    })
    const drawn = new Router(town.network)
    const request = { sources: [town.at('A')], targets: [town.at('B'), town.at('D')], costing: 'auto' }
    const { body } = drawn.answer(JSON.stringify(request), 'sources_to_targets')
    expect(JSON.parse(body)).toMatchObject({
      sources_to_targets: [[{ time: expect.any(Number) }, { from_index: 0, to_index: 1, time: null, distance: null }]],
      warnings: [{ code: 903, text: '1 of 2 pairs have no path: null' }],
    })
    await drawn.close()
  })

  it('warns of what changes nothing', () => {
    const [from, to] = places(2, 61)
    const { warnings } = ask({
      sources: [{ ...from, preferred_layer: 1 }, from],
      targets: [to, to],
      costing: 'auto',
      format: 'gpx',
      matrix_locations: 1,
      costing_options: { auto: { speed_of_light: 1 } },
    })
    expect(warnings.map(({ code }: { code: number }) => code)).toEqual([211, 900, 901, 900])
  })
})

describe('a request that cannot be answered', () => {
  const here = { lon: 11, lat: 48 }
  const many = (count: number): Place[] => Array.from({ length: count }, () => here)
  it.each([
    ['no sources', { targets: [here], costing: 'auto' }, 112, 400],
    ['a source without a place', { sources: [{ lat: 1 }], targets: [here], costing: 'auto' }, 131, 400],
    ['a target off the Earth', { sources: [here], targets: [{ lat: 91, lon: 0 }], costing: 'auto' }, 132, 400],
    ['no costing', { sources: [here], targets: [here] }, 124, 400],
    ['timetables', { sources: [here], targets: [here], costing: 'multimodal' }, 140, 400],
    ['too many pairs', { sources: many(101), targets: many(100), costing: 'auto' }, 150, 400],
    ['too far apart', { sources: [here], targets: [{ lon: 11, lat: 53 }], costing: 'auto' }, 154, 400],
    ['no street near', { sources: [here], targets: [{ lon: 11, lat: 48.9 }], costing: 'auto' }, 171, 400],
  ] as [string, Record<string, unknown> & { costing?: Mode }, number, number][])(
    'names what is wrong: %s',
    (_, request, code, status) => {
      const answer = router.answer(JSON.stringify(request), 'sources_to_targets')
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.body)).toMatchObject({ error_code: code })
    },
  )
})
