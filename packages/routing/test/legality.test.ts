import { describe, expect, it } from 'vitest'

import type { Mode } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { LegalityChecker, type Place } from './support/legality/check.ts'
import { hoursHold, momentAfter } from './support/legality/hours.ts'
import type { Journey } from './support/legality/judge.ts'
import { readTravelMap } from './support/legality/map.ts'

// Shows that the checker finds faults where there are some.
describe('the checker of routes', async () => {
  const road = { highway: 'residential' }
  const town = await drawTown({
    map: `
      A---B---C---D
      |   |   |   |
      E---F---G---H
      |   |   |   |
      I---J-x-K---L
    `,
    meters: 40,
    ways: {
      AB: { ...road, oneway: 'yes' },
      BC: { ...road, oneway: '-1', 'oneway:bicycle': 'no' },
      CD: { highway: 'footway' },
      AE: { ...road, access: 'private' },
      BF: road,
      CG: { ...road, motor_vehicle: 'no', bus: 'yes' },
      DH: road,
      EF: road,
      FG: road,
      GH: road,
      EI: { ...road, vehicle: 'agricultural' },
      FJ: road,
      GK: road,
      HL: { ...road, motorroad: 'yes' },
      IJ: { highway: 'construction' },
      JxK: road,
      KL: { ...road, 'motor_vehicle:forward': 'no' },
    },
    nodes: { x: { barrier: 'bollard' } },
    restrictions: [
      { from: 'EF', via: 'F', to: 'BF', tags: { restriction: 'no_left_turn', except: 'bus' } },
      { from: 'FJ', via: 'F', to: 'FG', tags: { restriction: 'only_right_turn' } },
      { from: 'DH', via: ['GH'], to: 'GK', tags: { restriction: 'no_left_turn' } },
    ],
  })
  const checker = new LegalityChecker(await readTravelMap(town.reader))
  const places = (path: string): Place[] => Array.from(path, (letter) => [town.at(letter).lon, town.at(letter).lat])
  const faults = (mode: Mode, path: string): string[] =>
    checker.check({ mode }, places(path)).violations.map(({ kind }) => kind)

  it.each<[Mode, string, string[]]>([
    ['auto', 'ABFGH', []],
    ['auto', 'BA', ['oneway']],
    ['bicycle', 'BA', ['oneway']],
    ['pedestrian', 'BA', []],
    ['auto', 'BC', ['oneway']],
    ['auto', 'CB', []],
    ['bicycle', 'BC', []],
    ['auto', 'CD', ['access']],
    ['bicycle', 'CD', ['access']],
    ['pedestrian', 'CD', []],
    ['auto', 'CG', ['access']],
    ['bus', 'CG', []],
    ['bicycle', 'CG', []],
    ['auto', 'EI', ['access']],
    ['pedestrian', 'EI', []],
    ['pedestrian', 'HL', ['access']],
    ['auto', 'HL', []],
    ['pedestrian', 'IJ', ['access']],
    ['auto', 'KL', ['access']],
    ['auto', 'LK', []],
    ['auto', 'JxK', ['barrier']],
    ['bicycle', 'JxK', []],
    ['auto', 'EFB', ['restriction']],
    ['bus', 'EFB', []],
    ['bicycle', 'EFB', ['restriction']],
    ['pedestrian', 'EFB', []],
    ['auto', 'JFB', ['restriction']],
    ['auto', 'JFG', []],
    ['auto', 'DHGK', ['restriction']],
    ['auto', 'DHGF', []],
    ['auto', 'HGK', []],
    ['auto', 'EG', ['off the map']],
    ['auto', 'EFGCB', ['access']],
  ])('finds of %s along %s: %j', (mode, path, want) => {
    expect(faults(mode, path)).toEqual(want)
  })

  it('finds routes that begin and end between nodes', () => {
    const [a, b, f] = places('ABF') as [Place, Place, Place]
    const middle = (p: Place, q: Place): Place => [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2]
    expect(checker.check({ mode: 'auto' }, [middle(a, b), b, middle(b, f)]).violations).toEqual([])
    expect(checker.check({ mode: 'auto' }, [middle(b, f), b, middle(a, b)]).violations).toMatchObject([
      { kind: 'oneway' },
    ])
    expect(checker.check({ mode: 'auto' }, [b, middle(a, b)]).violations).toMatchObject([{ kind: 'oneway', id: 1 }])
    const west: Place = [a[0] - 0.001, a[1]]
    expect(checker.check({ mode: 'auto' }, [west, a, b]).violations).toMatchObject([{ kind: 'off the map' }])
  })

  it('tells ways for residents only that are passed from those where a route ends', () => {
    expect(checker.check({ mode: 'auto' }, places('EAB')).passesLocal).toEqual([])
    expect(checker.check({ mode: 'auto' }, places('FEABF')).passesLocal.length).toBe(1)
  })
})

describe('the checker of limits, hours and ferries', async () => {
  const road = { highway: 'residential' }
  const town = await drawTown({
    map: `
      A---B---C---D
      |   |   |   |
      E---F---G---H
      |   |   |   |
      I---J---K---L
    `,
    meters: 40,
    ways: {
      AB: road,
      BC: { ...road, maxheight: '3.5', maxweight: '7.5 t' },
      CD: road,
      AE: road,
      BF: { ...road, 'motor_vehicle:conditional': 'no @ (Mo-Fr 07:00-19:00)' },
      CG: { ...road, maxweight: '3.5', 'maxweight:conditional': 'none @ destination' },
      DH: road,
      EF: road,
      FG: { ...road, 'vehicle:conditional': 'no @ (22:00-06:00)', motorcar: 'yes' },
      GH: road,
      EI: road,
      FJ: road,
      GK: { route: 'ferry', oneway: 'yes' },
      HL: road,
      IJ: road,
      JK: { ...road, 'maxheight:forward': '2' },
      KL: road,
    },
    restrictions: [
      { from: 'FJ', via: 'J', to: 'IJ', tags: { 'restriction:conditional': 'no_right_turn @ (Sa 10:00-12:00)' } },
    ],
  })
  const checker = new LegalityChecker(await readTravelMap(town.reader))
  const places = (path: string): Place[] => Array.from(path, (letter) => [town.at(letter).lon, town.at(letter).lat])
  const monday = '2026-06-01T08:00'
  const night = '2026-06-06T23:20'
  const saturday = '2026-06-06T10:10'

  it.each<[string, Journey, string, string[]]>([
    ['a high lorry', { mode: 'truck', vehicle: { height: 4 } }, 'ABCD', ['limit']],
    ['a low lorry', { mode: 'truck', vehicle: { height: 3, weight: 7 } }, 'ABCD', []],
    ['a heavy lorry', { mode: 'truck', vehicle: { weight: 8 } }, 'ABCD', ['limit']],
    ['a heavy lorry that ends there', { mode: 'truck', vehicle: { weight: 8 } }, 'ABC', []],
    ['a motorcycle of no size', { mode: 'motorcycle', vehicle: { height: 4 } }, 'ABCD', []],
    ['a limit with an exception', { mode: 'truck', vehicle: { weight: 8 } }, 'DCGH', []],
    ['a limit in one direction', { mode: 'bus', vehicle: { height: 3 } }, 'IJKL', ['limit']],
    ['a limit in the other', { mode: 'bus', vehicle: { height: 3 } }, 'LKJI', []],
    ['closed hours', { mode: 'auto', departure: monday, minutes: [0, 10] }, 'ABFE', ['access']],
    ['other hours', { mode: 'auto', departure: saturday, minutes: [0, 10] }, 'ABFE', []],
    ['no hours', { mode: 'auto' }, 'ABFE', []],
    ['hours for others', { mode: 'bicycle', departure: monday, minutes: [0, 10] }, 'ABFE', []],
    ['hours over midnight', { mode: 'truck', departure: night, minutes: [0, 10] }, 'EFGH', ['access']],
    ['hours that a mode is excepted from', { mode: 'auto', departure: night, minutes: [0, 10] }, 'EFGH', []],
    ['a turn in its hours', { mode: 'auto', departure: saturday, minutes: [0, 10] }, 'FJI', ['restriction']],
    ['a turn in other hours', { mode: 'auto', departure: monday, minutes: [0, 10] }, 'FJI', []],
    ['a walker against a ferry', { mode: 'pedestrian' }, 'LKGH', ['oneway']],
    ['a walker on a ferry', { mode: 'pedestrian' }, 'HGKL', []],
  ])('finds of %s', (_, journey, path, want) => {
    expect(checker.check(journey, places(path)).violations.map(({ kind }) => kind)).toEqual(want)
  })

  it('makes no claim about hours that are not plain', () => {
    for (const hours of ['sunset-sunrise', 'PH 10:00-12:00', 'week 10-20 10:00-12:00', 'Th[4]', '2026 Jun']) {
      expect(hoursHold(hours, momentAfter(monday, 0))).toBeNull()
    }
  })

  it.each([
    ['Mo-Fr', monday, true],
    ['Mo-Fr', saturday, false],
    ['Mar-Oct 07:00-09:00', monday, true],
    ['Nov-Feb 07:00-09:00', monday, false],
    ['Jun 01-15', monday, true],
    ['Jun 02-15: Mo 08:00-09:00', monday, false],
    ['Sa 22:00-06:00', '2026-06-07T05:59', true],
    ['Sa 22:00-06:00', '2026-06-07T06:00', false],
    ['07:00-19:00; Mo off', monday, false],
    ['Fr-Mo,We 00:00-24:00', saturday, true],
  ])('reads %s at %s: %s', (hours, moment, want) => {
    expect(hoursHold(hours, momentAfter(moment, 0))).toBe(want)
  })
})
