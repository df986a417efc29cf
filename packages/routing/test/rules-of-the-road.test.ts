import { describe, expect, it } from 'vitest'

import { type AsciiTown, type Drawing, drawTown } from './support/ascii-map.ts'

const street = (name: string) => ({ highway: 'residential', name })

/** A square with two ways around: the short one over B, the long one over D and C. */
const SQUARE = `
  A-----B-----E
  |     |
  |     |
  |     |
  D-----C
`

const square = (more: Partial<Drawing>): Promise<AsciiTown> =>
  drawTown({
    map: SQUARE,
    meters: 30,
    ...more,
    ways: {
      AB: street('North Street'),
      BE: street('East Street'),
      BC: street('Middle Street'),
      DC: street('South Street'),
      AD: street('West Street'),
      ...more.ways,
    },
  })

/** A block where D is nearer to E over AB, which is tagged, than over F and C. */
const tall = (tags: Readonly<Record<string, string>>): Promise<AsciiTown> =>
  drawTown({
    map: 'A-----B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C',
    meters: 30,
    ways: {
      AB: { ...street('North Street'), ...tags },
      BE: street('East Street'),
      BC: street('Middle Street'),
      FC: street('South Street'),
      ADF: street('West Street'),
    },
  })

describe('a street for buses and taxis', () => {
  it.each([{ vehicle: 'psv' }, { motor_vehicle: 'psv' }, { 'motor_vehicle:forward': 'psv' }])('%j', async (tags) => {
    const town = await square({ ways: { AB: { ...street('North Street'), ...tags } } })
    for (const costing of ['auto', 'truck', 'motorcycle', 'motor_scooter']) {
      expect(town.route('AE', { costing }).path).toBe('ADCBE')
    }
    for (const costing of ['bus', 'taxi', 'pedestrian']) expect(town.route('AE', { costing }).path).toBe('ABE')
    expect(town.route('AE', { costing: 'bicycle' }).path).toBe('vehicle' in tags ? 'ADCBE' : 'ABE')
  })
})

describe('one-way streets', async () => {
  const town = await square({ ways: { AB: { ...street('North Street'), oneway: 'yes' } } })

  it('are driven along, not against', () => {
    expect(town.route('AE').path).toBe('ABE')
    expect(town.route('EA').path).toBe('EBCDA')
  })

  it('bind riders but not walkers', () => {
    expect(town.route('EA', { costing: 'bicycle' }).path).toBe('EBCDA')
    expect(town.route('EA', { costing: 'pedestrian' }).path).toBe('EBA')
  })

  it.each([
    ['bus', 'bus'],
    ['psv', 'bus'],
    ['psv', 'taxi'],
    ['taxi', 'taxi'],
    ['hgv', 'truck'],
    ['motorcar', 'auto'],
    ['motorcycle', 'motorcycle'],
    ['moped', 'motor_scooter'],
  ])('a direction that %s:forward=no closes is closed by %s, and only to it', async (key, costing) => {
    const closed = await square({ ways: { AB: { ...street('North Street'), [`${key}:forward`]: 'no' } } })
    expect(closed.route('AE', { costing }).path).toBe('ADCBE')
    expect(closed.route('EA', { costing }).path).toBe('EBA')
    expect(closed.route('AE', { costing: costing === 'auto' ? 'bicycle' : 'auto' }).path).toBe('ABE')
  })

  it('are motorways without a oneway tag, but not where a tag says otherwise', async () => {
    const motorway = { highway: 'motorway', name: 'North Street' }
    const untagged = await square({ ways: { AB: motorway } })
    expect(untagged.route('AE').path).toBe('ABE')
    expect(untagged.route('EA').path).toBe('EBCDA')
    const both = await square({ ways: { AB: { ...motorway, oneway: 'no' } } })
    expect(both.route('EA').path).toBe('EBA')
  })

  it('of oneway:motor_vehicle=yes bind cars but not riders', async () => {
    const cars = await square({ ways: { AB: { ...street('North Street'), 'oneway:motor_vehicle': 'yes' } } })
    expect(cars.route('EA').path).toBe('EBCDA')
    expect(cars.route('EA', { costing: 'truck' }).path).toBe('EBCDA')
    expect(cars.route('AE').path).toBe('ABE')
    expect(cars.route('EA', { costing: 'bicycle' }).path).toBe('EBA')
  })

  it('with oneway=-1 run against the nodes, and oneway:bicycle=no lets riders through', async () => {
    const backwards = await square({
      ways: { AB: { ...street('North Street'), oneway: '-1', 'oneway:bicycle': 'no' } },
    })
    expect(backwards.route('AE').path).toBe('ADCBE')
    expect(backwards.route('EA').path).toBe('EBA')
    const riders = { costing: 'bicycle' }
    expect([backwards.route('AE', riders).path, backwards.route('EA', riders).path]).toEqual(['ABE', 'EBA'])
  })
})

it.each([
  [{ 'cycleway:both': 'lane' }, 'EBCDA'],
  [{ 'cycleway:right': 'lane', 'cycleway:left': 'lane' }, 'EBCDA'],
  [{ 'cycleway:both': 'lane', 'oneway:bicycle': 'no' }, 'EBA'],
])('a one-way street with %j is left by riders as %s', async (tags, path) => {
  const town = await square({ ways: { AB: { ...street('North Street'), oneway: 'yes', ...tags } } })
  expect(town.route('EA', { costing: 'bicycle' }).path).toBe(path)
})

describe('what a request excludes', async () => {
  const town = await square({ ways: { AB: { ...street('North Street'), bridge: 'yes' } } })
  const without = (costing: string, name: string) => ({ costing, costing_options: { [costing]: { [name]: true } } })

  it.each(['auto', 'bicycle', 'pedestrian', 'truck', 'motorcycle'])('is gone around by %s', (costing) => {
    expect(town.route('EA', { costing }).path).toBe('EBA')
    expect(town.route('DE', { costing }).path).toBe('DABE')
    expect(town.route('DE', without(costing, 'exclude_bridges')).path).toBe('DCBE')
  })

  it('may be begun and ended on', async () => {
    const island = await drawTown({
      map: 'A--1-B---C-2--D',
      ways: { AB: { ...street('a'), bridge: 'yes' }, BC: street('b'), CD: { ...street('c'), bridge: 'yes' } },
      meters: 30,
    })
    expect(island.route('12', without('auto', 'exclude_bridges')).path).toBe('1BC2')
    expect(island.route('BC', without('auto', 'exclude_bridges')).path).toBe('BC')
  })

  it('is not passed where nothing leads around it', async () => {
    const only = await drawTown({
      map: 'A--1-B---C-2--D',
      ways: { AB: street('a'), BC: { ...street('b'), bridge: 'yes' }, CD: street('c') },
      meters: 30,
    })
    expect(only.route('12').path).toBe('1BC2')
    expect(() => only.route('12', without('auto', 'exclude_bridges'))).toThrow('No path could be found for input')
  })

  it('is unpaved for cars, and of no matter to walkers', async () => {
    const dirt = await tall({ surface: 'dirt' })
    expect(dirt.route('DE', without('auto', 'exclude_unpaved')).path).toBe('DFCBE')
    expect(dirt.route('DE', without('pedestrian', 'exclude_unpaved')).path).toBe('DABE')
  })
})

describe('what a request ignores', async () => {
  const ignoring = (costing: string, name: string) => ({ costing, costing_options: { [costing]: { [name]: true } } })

  it('can be one-way streets, for every mode', async () => {
    const town = await square({ ways: { AB: { ...street('North Street'), oneway: 'yes' } } })
    for (const costing of ['auto', 'bicycle', 'taxi']) {
      expect(town.route('EA', { costing }).path).toBe('EBCDA')
      expect(town.route('EA', ignoring(costing, 'ignore_oneways')).path).toBe('EBA')
    }
  })

  it('can be who may use a street, and pass a barrier', async () => {
    const town = await square({
      ways: { AB: { highway: 'footway', name: 'North Walk' } },
      nodes: { D: { barrier: 'bollard' } },
    })
    expect(() => town.route('EA')).toThrow('No path could be found for input')
    expect(town.route('EA', ignoring('auto', 'ignore_access')).path).toBe('EBA')
    expect(() => town.route('EA', ignoring('auto', 'ignore_oneways'))).toThrow('No path could be found')
  })

  it('can be limits of height, which ignore_non_vehicular_restrictions keeps', async () => {
    const town = await tall({ maxheight: '2' })
    expect(town.route('DE', { costing: 'truck' }).path).toBe('DFCBE')
    expect(town.route('DE', ignoring('truck', 'ignore_restrictions')).path).toBe('DABE')
    expect(town.route('DE', ignoring('truck', 'ignore_non_vehicular_restrictions')).path).toBe('DFCBE')
  })

  it.each(['ignore_restrictions', 'ignore_non_vehicular_restrictions'])('can be turns, by %s', async (name) => {
    const town = await square({
      restrictions: [
        { from: 'AB', via: 'B', to: 'BC', tags: { restriction: 'no_right_turn' } },
        { from: 'AD', via: 'DC', to: 'BC', tags: { restriction: 'no_left_turn' } },
      ],
    })
    expect(town.route('AC').path).toBe('ADC')
    expect(town.route('AC', ignoring('auto', name)).path).toBe('ABC')
  })
})

describe('turn restrictions', async () => {
  const restrictions = [
    { from: 'AB', via: 'B', to: 'BC', tags: { restriction: 'no_right_turn', except: 'bicycle;bus' } },
  ]
  const town = await square({ restrictions })

  it('keep cars from turning', () => {
    expect(town.route('AC').path).toBe('ADC')
    expect(town.route('AE').path).toBe('ABE')
  })

  it('do not bind whom they except, nor walkers', async () => {
    const far = await square({ restrictions, ways: { DC: { highway: 'construction' } } })
    expect(() => far.route('AC')).not.toThrow()
    expect(far.route('AC').path).not.toBe('ABC')
    for (const costing of ['bicycle', 'bus', 'pedestrian']) expect(far.route('AC', { costing }).path).toBe('ABC')
  })

  it('of the only kind close everything else', async () => {
    const only = await square({
      restrictions: [{ from: 'AB', via: 'B', to: 'BC', tags: { restriction: 'only_right_turn' } }],
    })
    expect(only.route('AE').path).not.toBe('ABE')
    expect(only.route('AC').path).toBe('ABC')
  })

  it('over a way bind only routes that come the whole way', async () => {
    const over = await drawTown({
      map: `
        A---B---C
            |
            |
        D---E---F
            |
            G---H
      `,
      meters: 30,
      ways: {
        AB: street('a'),
        BC: street('b'),
        BE: street('via'),
        DE: street('d'),
        EF: street('f'),
        EG: street('g'),
        GH: street('h'),
        FH: street('round'),
      },
      restrictions: [{ from: 'AB', via: ['BE'], to: 'EF', tags: { restriction: 'no_left_turn' } }],
    })
    expect(over.route('AF').path).toBe('ABEGHF')
    expect(over.route('CF').path).toBe('CBEF')
    expect(over.route('AG').path).toBe('ABEG')
    expect(over.route('AF', { costing: 'pedestrian' }).path).toBe('ABEF')
  })
})

describe('barriers', async () => {
  const map = `
    A--x--B
    |     |
    |     |
    D-----C
  `
  const town = (tags: Record<string, string>): Promise<AsciiTown> =>
    drawTown({
      map,
      meters: 30,
      ways: { AxB: street('Short Street'), BC: street('b'), DC: street('c'), AD: street('d') },
      nodes: { x: tags },
    })

  it.each<[string, Record<string, string>, string, string]>([
    ['a bollard', { barrier: 'bollard' }, 'ADCB', 'AxB'],
    ['a bollard that cars may pass', { barrier: 'bollard', motor_vehicle: 'yes' }, 'AxB', 'AxB'],
    ['a wall', { barrier: 'wall' }, 'ADCB', 'ADCB'],
    ['a guard rail with motor_vehicle=no', { barrier: 'guard_rail', motor_vehicle: 'no' }, 'ADCB', 'AxB'],
    ['a turnstile', { barrier: 'turnstile' }, 'ADCB', 'ADCB'],
    ['a cattle grid', { barrier: 'cattle_grid' }, 'AxB', 'AxB'],
    ['motor_vehicle=no where no barrier stands', { motor_vehicle: 'no' }, 'ADCB', 'AxB'],
    ['access=no with foot=yes there', { access: 'no', foot: 'yes' }, 'ADCB', 'ADCB'],
    ['a crossing for walkers that riders may not use', { highway: 'crossing', bicycle: 'no' }, 'AxB', 'AxB'],
  ])('%s', async (_name, tags, car, bicycle) => {
    const given = await town(tags)
    expect(given.route('AB').path).toBe(car)
    expect(given.route('AB', { costing: 'bicycle' }).path).toBe(bicycle)
    if (tags.barrier !== 'wall') expect(given.route('AB', { costing: 'pedestrian' }).path).toBe('AxB')
  })
})

describe('access', async () => {
  it('private ways are for routes that begin or end there', async () => {
    const town = await square({ ways: { AB: { ...street('Private Street'), access: 'private' } } })
    expect(town.route('DE').path).toBe('DCBE')
    expect(town.route('CA').path).toBe('CDA')
    const inside = await drawTown({
      map: 'A---B---C',
      ways: { AB: street('Public Street'), BC: { ...street('Private Drive'), access: 'private' } },
      meters: 40,
    })
    expect(inside.route('AC').path).toBe('ABC')
    expect(inside.route('CA').path).toBe('CBA')
  })

  it.each([
    ['bicycle=no with a grade for mountain bikes', { bicycle: 'no', 'mtb:scale': '1' }, 'bicycle'],
    [
      'vehicle=no on a path with a grade for mountain bikes',
      { highway: 'path', vehicle: 'no', 'mtb:scale': '1' },
      'bicycle',
    ],
    ['mofa=yes on a path', { highway: 'path', mofa: 'yes' }, 'motor_scooter'],
    ['mofa=no', { mofa: 'no' }, 'motor_scooter'],
    ['motorroad=yes on a street of any class', { motorroad: 'yes' }, 'bicycle'],
    ['motorroad=yes for walkers', { motorroad: 'yes' }, 'pedestrian'],
    ['vehicle=agricultural', { vehicle: 'agricultural' }, 'auto'],
    ['motor_vehicle=forestry', { motor_vehicle: 'forestry' }, 'auto'],
    ['access=no', { access: 'no' }, 'pedestrian'],
    ['hgv=no', { hgv: 'no' }, 'truck'],
    ['access:forward=no in that direction', { 'access:forward': 'no' }, 'auto'],
  ])('%s closes a street', async (_name, tags, costing) => {
    const town = await square({ ways: { AB: { ...street('North Street'), ...tags } } })
    expect(town.route('AE', { costing }).path).toBe('ADCBE')
  })

  it('oneway=-1 with oneway:bus=-1 is turned around once', async () => {
    const tags = { oneway: '-1', 'oneway:bus': '-1' }
    const town = await square({ ways: { AB: { ...street('North Street'), ...tags } } })
    expect(town.route('AE', { costing: 'bus' }).path).toBe('ADCBE')
    expect(town.route('EA', { costing: 'bus' }).path).toBe('EBA')
  })

  it('service=driveway does not open a footway to cars', async () => {
    const town = await square({ ways: { AB: { highway: 'footway', service: 'driveway' } } })
    expect(town.route('AE').path).toBe('ADCBE')
  })
})

describe('stops between', async () => {
  const town = await drawTown({
    map: `
      A---B---C---D
          |   |
          |   |
          E-1-F
    `,
    meters: 40,
    ways: {
      ABCD: street('Main Street'),
      BE: street('Left Lane'),
      EF: street('Back Lane'),
      CF: street('Right Lane'),
    },
  })

  it('break and break_through end a leg, through and via do not', () => {
    for (const [stop, legs] of Object.entries({ break: 2, break_through: 2, through: 1, via: 1 })) {
      const { trip } = town.route('A1D', { stop })
      expect(trip.legs.length, stop).toBe(legs)
      expect(trip.locations.map(({ type }) => type)).toEqual(['break', stop, 'break'])
    }
  })

  it.each([
    ['through', 'ABE1FCBA'],
    ['break_through', 'ABE1 1FCBA'],
    ['via', 'ABE1EBA'],
    ['break', 'ABE1 1EBA'],
  ])('%s runs %s: the through ones go on along the street, the others may turn around', (stop, path) => {
    expect(town.route('A1A', { stop }).path).toBe(path)
  })
})

describe('a stop to go through where nothing leads on', async () => {
  // The one-way street YX continues outside of the map.
  const town = await drawTown({
    map: `
      A---B-1-Y---X
          |
      C---D
    `,
    meters: 40,
    ways: { AB: street('a'), BY: street('b'), BD: street('d'), CD: street('c'), YX: { ...street('y'), oneway: 'yes' } },
  })

  it.each(['through', 'break_through'])('is turned around at, with a warning (%s)', (stop) => {
    const route = town.route('A1C', { stop })
    expect(route.path).toBe(stop === 'through' ? 'AB1BDC' : 'AB1 1BDC')
    expect(route.trip.warnings).toEqual([
      { code: 900, text: 'location 1 is gone through, but nothing leads on: the route turns around there' },
    ])
    expect(town.route('A1X', { stop }).trip.warnings).toBeUndefined()
  })

  it('is put on another street of its surroundings', () => {
    const near = { ...town.at('1'), type: 'through', radius: 100, rank_candidates: false }
    const route = town.answer([town.at('A'), near, town.at('C')])
    expect(route.trip.warnings).toBeUndefined()
  })

  it('is an error where no turn helps', () => {
    expect(() => town.route('AXC', { stop: 'through' })).toThrow('No path')
  })
})

describe('turning around', async () => {
  const town = await drawTown({
    map: `
      A---B---C
          |
          D
    `,
    meters: 60,
    ways: { AB: street('West Street'), BC: street('East Street'), BD: street('Blind Lane') },
    restrictions: [{ from: 'AB', via: 'B', to: 'BC', tags: { restriction: 'no_straight_on' } }],
  })

  it('happens at a dead end, when there is no other way', () => {
    const route = town.route('AC')
    expect(route.path).toBe('ABDBC')
    expect(route.kinds.some((kind) => kind.startsWith('uturn'))).toBe(true)
  })
})
