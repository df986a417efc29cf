import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'
import { LegalityChecker, type Place } from './support/legality/check.ts'
import type { Journey } from './support/legality/judge.ts'
import { readTravelMap } from './support/legality/map.ts'

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
    [
      'a bus against traffic whose lanes are counted',
      { mode: 'bus' },
      { street: { oneway: '-1', 'lanes:bus': '1' } },
      ['oneway'],
    ],
    [
      'a wheelchair in closed hours',
      { mode: 'pedestrian', vehicle: { type: 'wheelchair' }, departure: monday },
      { street: { 'access:conditional': 'no @ (07:00-19:00)' } },
      ['access'],
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

it.each([
  ['footway', ['through']],
  // A way closed to pedestrians is not an alternative.
  ['cycleway', []],
] as const)('finds that a walker might have gone by a %s in place of a private street: %j', async (highway, want) => {
  const residential = { highway: 'residential' }
  const town = await drawTown({
    map: `
      A---B---C---D
          |   |
          E---F
    `,
    meters: 40,
    ways: {
      AB: residential,
      BC: { ...residential, access: 'private' },
      CD: residential,
      BE: { highway },
      EF: { highway },
      FC: { highway },
    },
  })
  const checker = new LegalityChecker(await readTravelMap(town.reader))
  const places = Array.from('ABCD', (letter): Place => [town.at(letter).lon, town.at(letter).lat])
  expect(checker.check({ mode: 'pedestrian' }, places).violations.map(({ kind }) => kind)).toEqual(want)
})
