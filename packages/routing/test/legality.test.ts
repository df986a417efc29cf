import { describe, expect, it } from 'vitest'

import type { Mode } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { LegalityChecker, type Place } from './support/legality/check.ts'
import { readTravelMap } from './support/legality/map.ts'

// What finds no fault with any route must be known to find faults.
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
    checker.check(mode, places(path)).violations.map(({ kind }) => kind)

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
    expect(checker.check('auto', [middle(a, b), b, middle(b, f)]).violations).toEqual([])
    expect(checker.check('auto', [middle(b, f), b, middle(a, b)]).violations).toMatchObject([{ kind: 'oneway' }])
    expect(checker.check('auto', [b, middle(a, b)]).violations).toMatchObject([{ kind: 'oneway', id: 1 }])
    const west: Place = [a[0] - 0.001, a[1]]
    expect(checker.check('auto', [west, a, b]).violations).toMatchObject([{ kind: 'off the map' }])
  })

  it('tells ways for residents only that are passed from those where a route ends', () => {
    expect(checker.check('auto', places('EAB')).passesRestricted).toEqual([])
    expect(checker.check('auto', places('FEABF')).passesRestricted.length).toBe(1)
  })
})
