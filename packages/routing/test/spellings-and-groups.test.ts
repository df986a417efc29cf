import { describe, expect, it } from 'vitest'

import { MODES } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { type Passage, road, straight, type Tags } from './support/straight.ts'

// Expected values from the OpenStreetMap wiki, by the page that is named.
const SLOW = ['bicycle', 'pedestrian']
const without = (...modes: string[]): string[] => MODES.filter((mode) => !modes.includes(mode))
const passes = async (street: Tags, passage: Passage = {}, gate: Tags = {}, meters = 40): Promise<string[]> =>
  (await straight({ street, gate, meters }, passage)).toSorted()

describe('keys of groups of vehicles and in other spellings (Key:access, Forward & backward)', () => {
  it.each<[Tags, string[]]>([
    [{ 'bicycle:both': 'no' }, without('bicycle')],
    [{ 'motor_vehicle:both': 'no' }, SLOW],
    [{ 'motor_vehicle:conditional:forward': 'no @ (08:00-20:00)' }, SLOW],
    [{ double_tracked_motor_vehicle: 'no' }, [...SLOW, 'motor_scooter', 'motorcycle']],
    [{ double_tracked_motor_vehicle: 'no', bus: 'yes' }, [...SLOW, 'bus', 'motor_scooter', 'motorcycle']],
    [{ single_tracked_motor_vehicle: 'no' }, without('motor_scooter', 'motorcycle')],
    [{ motor_vehicle: 'no', single_tracked_motor_vehicle: 'yes' }, [...SLOW, 'motor_scooter', 'motorcycle']],
    [
      {
        'motor_vehicle:conditional': 'no @ (08:00-20:00)',
        'hgv:conditional': 'yes @ (08:00-20:00)',
      },
      [...SLOW, 'truck'],
    ],
    [
      {
        motor_vehicle: 'no',
        'motor_vehicle:conditional': 'yes @ (08:00-20:00)',
        'hgv:conditional': 'no @ (08:00-20:00)',
      },
      without('truck'),
    ],
  ])('%j is passed by %j', async (street, want) => {
    expect(await passes(street, { time: '2026-06-03T12:00' })).toEqual(want.toSorted())
  })

  it('a street that mofas may ride against its direction is closed to mopeds (Key:oneway)', async () => {
    expect(await passes({ oneway: 'yes', 'oneway:mofa': 'no' }, { path: 'DA' })).toEqual(['pedestrian'])
  })

  it('riders leave a street for the path beside it in the direction of the tag (Compulsory use of parallel way)', async () => {
    const way = async (street: Tags, ends: string): Promise<string> => {
      const town = await drawTown({
        map: 'A--B--C--D\n   |  |\n   E--F',
        meters: 50,
        ways: {
          AB: road,
          BC: { highway: 'primary', ...street },
          CD: road,
          BEFC: { highway: 'cycleway', bicycle: 'designated' },
        },
      })
      return town.route(ends, { costing: 'bicycle', costing_options: { bicycle: { use_roads: 0 } } }).path
    }
    const there = { 'bicycle:forward': 'use_sidepath' }
    expect([await way(there, 'AD'), await way(there, 'DA')]).toEqual(['ABEFCD', await way({}, 'DA')])
    expect(await way({ 'bicycle:both': 'use_sidepath' }, 'DA')).toBe(await way({ bicycle: 'use_sidepath' }, 'DA'))
  })
})

describe('what is no street, whatever access tags say (Key:highway, Lifecycle prefix, Tag:highway=platform)', () => {
  it.each<[Tags, string[]]>([
    [{ highway: 'razed', foot: 'yes' }, []],
    [{ highway: 'planned', motor_vehicle: 'yes', foot: 'yes' }, []],
    [{ highway: 'rest_area', hgv: 'yes', motorcar: 'yes' }, []],
    [{ highway: 'services', motorcar: 'yes' }, []],
    [{ highway: 'platform', bus: 'yes' }, ['pedestrian']],
  ])('%j is passed by %j', async (street, want) => expect(await passes(street)).toEqual(want))
})

describe('limits (Key:maxweight, Key:maxheight, Key:hazmat, Conditional restrictions)', () => {
  const truck = (options: object): Passage => ({ modes: ['truck'], options: { ...options } })

  it.each<[Tags, Passage, boolean]>([
    [{ maxheight: '3.5;4.2' }, truck({ height: 3.6 }), false],
    [{ 'maxheight:legal': '3.5' }, truck({ height: 3.6 }), false],
    [{ maxweight: '7,5' }, truck({ weight: 7.4 }), true],
    [{ maxweight: '7,5' }, truck({ weight: 7.6 }), false],
    [{ 'maxweight:motor_vehicle': '5' }, truck({ weight: 6 }), false],
    [{ maxweight: '3.5', 'maxweight:hgv': '12' }, truck({ weight: 10 }), true],
    [{ maxweight: '3.5', 'maxweight:bus': '12' }, truck({ weight: 10 }), false],
    [{ maxweight: '3.5', 'maxweight:hgv': 'none' }, truck({ weight: 10 }), true],
    [{ maxweight: '3.5', 'maxweight:forward': '12' }, truck({ weight: 10 }), true],
    [{ maxweight: '3.5', 'maxweight:forward': '12' }, { ...truck({ weight: 10 }), path: 'DA' }, false],
    [{ maxweight: '12', 'maxweight:hgv:backward': '3.5' }, truck({ weight: 10 }), true],
    [{ maxweight: '12', 'maxweight:hgv:backward': '3.5' }, { ...truck({ weight: 10 }), path: 'DA' }, false],
    [{ maxweight: '80,000 lbs' }, truck({ weight: 20 }), true],
    [{ maxweight: '15,000 lbs' }, truck({ weight: 7 }), false],
    [{ 'hgv:conditional': 'no @ (weight>7,5)' }, truck({ weight: 8 }), false],
    [{ 'hazmat:adr_tunnel_cat': 'E' }, truck({ hazmat: true }), false],
    [{ 'hazmat:adr_tunnel_cat': 'A' }, truck({ hazmat: true }), true],
  ])('%j, %j: %s', async (street, passage, isOpen) => {
    expect(await passes(street, passage)).toEqual(isOpen ? ['truck'] : [])
  })

  it('a barrier is closed to dangerous goods', async () => {
    expect(await passes({}, truck({ hazmat: true }), { barrier: 'entrance', hazmat: 'no' })).toEqual([])
    expect(await passes({}, truck({}), { barrier: 'entrance', hazmat: 'no' })).toEqual(['truck'])
  })
})

describe('nodes (Key:locked, Conditional restrictions)', () => {
  it.each<[Tags, boolean]>([
    [{ barrier: 'gate' }, true],
    [{ barrier: 'gate', locked: 'yes' }, false],
    [{ barrier: 'gate', locked: 'yes', foot: 'yes' }, false],
    [{ barrier: 'gate', locked: 'yes', access: 'yes' }, true],
    [{ barrier: 'gate', locked: 'yes', motorcar: 'yes' }, true],
    [{ barrier: 'gate', locked: 'yes', bus: 'yes' }, false],
  ])('%j is passed by a car, where the way around takes four minutes: %s', async (gate, isOpen) => {
    expect(await passes({}, { modes: ['auto'] }, gate, 600)).toEqual(isOpen ? ['auto'] : [])
  })

  it('a locked gate is open to those whose key says so, and a locked bollard to riders', async () => {
    const bus = { barrier: 'gate', locked: 'yes', bus: 'yes' }
    expect(await passes({}, { modes: ['auto', 'truck', 'bus', 'taxi'] }, bus, 600)).toEqual(['bus'])
    expect(await passes({}, { modes: ['bicycle'] }, { barrier: 'kissing_gate', locked: 'yes' }, 100)).toEqual([])
    expect(await passes({}, { modes: ['bicycle'] }, { barrier: 'bollard', locked: 'yes' }, 100)).toEqual(['bicycle'])
  })

  it.each([
    ['2026-06-03T12:00', SLOW],
    ['2026-06-03T23:00', [...MODES]],
  ])('a node without a barrier that is closed by day, at %s', async (time, want) => {
    const gate = { 'motor_vehicle:conditional': 'no @ (08:00-20:00)' }
    expect(await passes({}, { time }, gate)).toEqual(want.toSorted())
  })
})

describe('hours (Key:opening_hours/specification)', () => {
  it.each([
    ['PH,Su 10:00-18:00', '2026-06-07T12:00', SLOW],
    ['PH,Su 10:00-18:00', '2026-06-06T12:00', [...MODES]],
    ['Jun 1-15: Mo-Fr 08:00-18:00', '2026-06-03T12:00', SLOW],
    ['Jun 1-15: Mo-Fr 08:00-18:00', '2026-06-17T12:00', [...MODES]],
    ['Nov 15-Apr 15: 22:00-06:00', '2026-01-07T23:00', SLOW],
  ])('motor_vehicle:conditional=no @ (%s) at %s', async (hours, time, want) => {
    expect(await passes({ 'motor_vehicle:conditional': `no @ (${hours})` }, { time })).toEqual(want.toSorted())
  })
})

describe('turn restrictions (Relation:restriction)', () => {
  const turn = async (tags: Tags, via: string | readonly string[] = 'B', to = 'BE', costing = 'auto') => {
    const names = ['AB', 'BC', 'CD', 'BE', 'EF', 'FC', 'FG', 'GD']
    const town = await drawTown({
      map: 'A---B---C---D\n    |   |   |\n    E---F---G',
      meters: 60,
      ways: Object.fromEntries(names.map((name) => [name, road])),
      restrictions: [{ from: 'AB', via, to, tags }],
    })
    return town.route(to === 'BE' ? 'AE' : 'AF', { costing })
  }

  it.each<[Tags, string, string]>([
    [{ restriction: 'no_right_turn;no_u_turn' }, 'auto', 'ABCFE'],
    [{ 'restriction:vehicle': 'no_right_turn' }, 'bicycle', 'ABCFE'],
    [{ 'restriction:moped': 'no_right_turn' }, 'motor_scooter', 'ABCFE'],
    [{ 'restriction:moped': 'no_right_turn' }, 'auto', 'ABE'],
    [{ restriction: 'no_right_turn', except: 'bicycle,bus' }, 'bicycle', 'ABE'],
    [{ restriction: 'no_right_turn', except: 'moped' }, 'motor_scooter', 'ABE'],
    [{ type: 'restriction:hgv', restriction: 'no_right_turn' }, 'truck', 'ABCFE'],
    [{ type: 'restriction:hgv', restriction: 'no_right_turn' }, 'auto', 'ABE'],
    [{ restriction: 'no_right_turn_on_red' }, 'auto', 'ABE'],
    [{ 'restriction:goods': 'no_right_turn' }, 'truck', 'ABCFE'],
    [{ 'restriction:goods': 'no_right_turn' }, 'auto', 'ABE'],
    [{ restriction: 'no_right_turn', except: 'goods' }, 'truck', 'ABCFE'],
  ])('%j by %s: %s', async (tags, costing, path) => {
    const route = await turn(tags, 'B', 'BE', costing)
    expect([route.path, route.trip.warnings]).toEqual([path, undefined])
  })

  it('over ways in any order, and only all of them', async () => {
    const paths = async (...via: string[]): Promise<string[]> => {
      const town = await drawTown({
        map: 'A---B---C---D\n    |       |\n    E---F---G',
        meters: 60,
        ways: { AB: road, BC: road, CD: road, GD: road, FG: road, BE: { ...road, maxspeed: '10' }, EF: road },
        restrictions: via.length === 0 ? [] : [{ from: 'AB', via, to: 'FG', tags: { restriction: 'no_right_turn' } }],
      })
      const options = { costing_options: { auto: { maneuver_penalty: 0 } } }
      return ['AF', 'AG', 'CF'].map((ends) => town.route(ends, options).path)
    }
    expect(await paths()).toEqual(['ABCDGF', 'ABCDG', 'CDGF'])
    expect(await paths('BC', 'CD', 'GD')).toEqual(['ABEF', 'ABCDG', 'CDGF'])
    expect(await paths('GD', 'BC', 'CD')).toEqual(['ABEF', 'ABCDG', 'CDGF'])
  })

  it('over many ways side by side, in good time', async () => {
    const sides = 'P Q R S T U V W X Y Z'.split(' ')
    const ways = Object.fromEntries(sides.map((letter) => [`B${letter}C`, road]))
    const town = await drawTown({
      map: `A-B-C-D\n${sides.map((letter) => `  ${letter}`).join('\n')}`,
      ways: { AB: road, CD: road, ...ways },
      restrictions: [{ from: 'AB', via: Object.keys(ways).toReversed(), to: 'AB', tags: { restriction: 'no_u_turn' } }],
    })
    expect(town.route('AD').path).toMatch(/^AB.CD$/)
  })

  it('a turn that no rule knows is said in the warnings', async () => {
    const route = await turn({ restriction: 'no_bear_right' })
    expect(route.trip.warnings?.map(({ text }) => text)).toEqual([expect.stringContaining('restriction=no_bear_right')])
  })
})
