import { describe, expect, it } from 'vitest'

import type { Mode } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { LegalityChecker, type Place } from './support/legality/check.ts'
import { hoursHold, momentAfter } from './support/legality/hours.ts'
import type { Journey } from './support/legality/judge.ts'
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

// A strip of streets in a row, each with tags of its own, and a way around: who may go straight on?
describe('the checker of conditions, lanes, gates and through traffic', () => {
  const road = { highway: 'residential' }
  const monday = '2026-06-01T08:00'
  const lorry = { height: 3.8, weight: 21, length: 12, axle_load: 9 }

  async function faultsOf(journey: Journey, { street = {}, gate = {} }: StreetTags): Promise<string[]> {
    const town = await drawTown({
      map: `
        A---B-x-C---D
            |   |
            E---F
      `,
      meters: 40,
      ways: { AB: road, BxC: { ...road, ...street }, CD: road, BE: road, EF: road, FC: road },
      nodes: { x: gate },
    })
    const checker = new LegalityChecker(await readTravelMap(town.reader))
    const places = Array.from('ABxCD', (letter): Place => [town.at(letter).lon, town.at(letter).lat])
    return [...new Set(checker.check(journey, places).violations.map(({ kind }) => kind))]
  }

  interface StreetTags {
    readonly street?: Readonly<Record<string, string>>
    readonly gate?: Readonly<Record<string, string>>
  }

  it.each<[string, Journey, StreetTags, string[]]>([
    ['a car on a private street', { mode: 'auto' }, { street: { access: 'private' } }, ['through']],
    [
      'a car where vehicles are for destinations',
      { mode: 'auto' },
      { street: { vehicle: 'destination' } },
      ['through'],
    ],
    ['a walker there', { mode: 'pedestrian' }, { street: { vehicle: 'destination' } }, []],
    [
      'a car where only deliveries are excepted',
      { mode: 'auto' },
      { street: { 'motor_vehicle:conditional': 'yes @ delivery', motor_vehicle: 'no' } },
      ['through'],
    ],
    ['a solo car in lanes for several', { mode: 'auto' }, { street: { hov: 'designated' } }, ['access']],
    ['a bus there', { mode: 'bus' }, { street: { hov: 'designated' } }, []],
    ['a car in lanes for buses', { mode: 'auto' }, { street: { 'vehicle:lanes': 'no|no' } }, ['access']],
    ['a bus in them', { mode: 'bus' }, { street: { 'vehicle:lanes': 'no|no', 'bus:lanes': 'yes|yes' } }, []],
    [
      'a lorry that is too heavy by a condition',
      { mode: 'truck', vehicle: lorry },
      { street: { 'hgv:conditional': 'no @ (weight>7.5)' } },
      ['access'],
    ],
    [
      'a lorry that is light enough',
      { mode: 'truck', vehicle: { weight: 7 } },
      { street: { 'hgv:conditional': 'no @ (weight>7.5)' } },
      [],
    ],
    [
      'a lorry whose limit is lifted for deliveries',
      { mode: 'truck', vehicle: lorry },
      { street: { maxweight: '3.5', 'maxweight:conditional': 'none @ delivery' } },
      ['through'],
    ],
    ['a reversible street', { mode: 'auto' }, { street: { oneway: 'reversible' } }, ['oneway']],
    [
      'a reversible street in its hours',
      { mode: 'auto', departure: monday },
      { street: { oneway: 'reversible', 'oneway:conditional': 'yes @ (06:00-12:00); -1 @ (12:00-22:00)' } },
      [],
    ],
    [
      'a reversible street in the hours of the other way',
      { mode: 'auto', departure: '2026-06-01T13:00' },
      { street: { oneway: 'reversible', 'oneway:conditional': 'yes @ (06:00-12:00); -1 @ (12:00-22:00)' } },
      ['oneway'],
    ],
    [
      'a gate by night',
      { mode: 'bicycle', departure: '2026-06-01T23:00' },
      { gate: { barrier: 'gate', 'access:conditional': 'no @ (22:00-06:00)' } },
      ['barrier'],
    ],
    [
      'a gate with opening hours',
      { mode: 'pedestrian', departure: '2026-06-01T23:00' },
      { gate: { barrier: 'gate', opening_hours: '06:00-22:00' } },
      ['barrier'],
    ],
    [
      'a low beam',
      { mode: 'truck', vehicle: lorry },
      { gate: { barrier: 'height_restrictor', maxheight: '2.5' } },
      ['barrier'],
    ],
    [
      'a gate with hours and no time',
      { mode: 'auto' },
      { gate: { barrier: 'gate', opening_hours: '06:00-07:00' } },
      [],
    ],
    [
      'a lorry with dangerous goods',
      { mode: 'truck', vehicle: { hazmat: true } },
      { street: { hazmat: 'no' } },
      ['limit'],
    ],
  ])('finds of %s', async (_, journey, tags, want) => {
    expect(await faultsOf(journey, tags)).toEqual(want)
  })

  it.each<[string, Journey, Record<string, string>, string[]]>([
    ['a car at a turn for others', { mode: 'auto' }, { 'restriction:hgv': 'no_left_turn' }, []],
    ['a lorry at it', { mode: 'truck' }, { 'restriction:hgv': 'no_left_turn' }, ['restriction']],
    [
      'a car at a turn that buses are excepted from',
      { mode: 'auto' },
      { restriction: 'no_left_turn', 'restriction:bus': 'none' },
      ['restriction'],
    ],
    ['a bus at it', { mode: 'bus' }, { restriction: 'no_left_turn', 'restriction:bus': 'none' }, []],
    [
      'a heavy lorry at a turn for light ones',
      { mode: 'truck', vehicle: lorry },
      { 'restriction:conditional': 'no_left_turn @ (weight>7.5)' },
      ['restriction'],
    ],
    [
      'a car at the second case of several',
      { mode: 'auto', departure: monday },
      { 'restriction:conditional': 'no_u_turn @ (10:00-12:00); no_left_turn @ (07:00-09:00)' },
      ['restriction'],
    ],
  ])('finds of %s', async (_, journey, tags, want) => {
    const town = await drawTown({
      map: `
            C
            |
        A---B---D
      `,
      meters: 40,
      ways: { AB: road, BC: road, BD: road },
      restrictions: [{ from: 'AB', via: 'B', to: 'BC', tags }],
    })
    const checker = new LegalityChecker(await readTravelMap(town.reader))
    const places = Array.from('ABC', (letter): Place => [town.at(letter).lon, town.at(letter).lat])
    expect(checker.check(journey, places).violations.map(({ kind }) => kind)).toEqual(want)
  })
})
