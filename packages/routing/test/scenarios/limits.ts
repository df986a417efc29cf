import { by, primary, residential, type Scenario } from './scenario.ts'

const BLOCK = `
A---B-----C---D
    |     |
    |     |
    F-----G
`
const around = { AB: primary, CD: primary, BF: primary, FG: primary, GC: primary }

/** A block whose short side has a limit, and a vehicle below and above it. */
function limit(
  behaviour: string,
  tags: Readonly<Record<string, string>>,
  name: string,
  fits: number,
  breaks: number,
): Scenario {
  return {
    behaviour,
    map: BLOCK,
    meters: 50,
    ways: { ...around, BC: { ...primary, ...tags } },
    asks: [
      { go: 'AD', costing: 'truck', options: { [name]: fits } },
      { go: 'AD', costing: 'truck', options: { [name]: breaks } },
      { go: 'AD', costing: 'truck', options: { [name]: breaks, ignore_restrictions: true } },
      { go: 'AD', costing: 'motorcycle' },
    ],
  }
}

/** Limits of size and weight, tolls, ferries, and what requests exclude. */
export const LIMIT_SCENARIOS: readonly Scenario[] = [
  limit('a limit of height', { maxheight: '3.5' }, 'height', 3.4, 3.6),
  limit('a limit of width', { maxwidth: '2.2' }, 'width', 2.1, 2.5),
  limit('a limit of length', { maxlength: '10' }, 'length', 9, 12),
  limit('a limit of weight', { maxweight: '7.5' }, 'weight', 7, 8),
  limit('a limit of axle load', { maxaxleload: '5' }, 'axle_load', 4, 6),
  limit('a limit of axles', { maxaxles: '3' }, 'axle_count', 3, 5),
  limit('a limit of height in feet', { maxheight: '11\'6"' }, 'height', 3.4, 3.6),
  limit('a limit in kilograms', { maxweight: '7500 kg' }, 'weight', 7, 8),
  {
    behaviour: 'a limit in one direction',
    map: BLOCK,
    meters: 50,
    ways: { ...around, BC: { ...primary, 'maxheight:forward': '2' } },
    asks: by(['truck'], 'AD').concat(by(['truck'], 'DA')),
  },
  {
    behaviour: 'a limit of height for cars as high as they say',
    map: BLOCK,
    meters: 50,
    ways: { ...around, BC: { ...primary, maxheight: '1.8' } },
    asks: [
      ...by(['auto', 'bus', 'taxi', 'motorcycle'], 'AD'),
      { go: 'AD', options: { height: 1.7 } },
      { go: 'AD', options: { height: 2 } },
    ],
  },
  {
    behaviour: 'dangerous goods',
    map: BLOCK,
    meters: 50,
    ways: { ...around, BC: { ...primary, hazmat: 'no' } },
    asks: [
      { go: 'AD', costing: 'truck', options: { hazmat: true } },
      { go: 'AD', costing: 'truck', options: { hazmat: false } },
    ],
  },
  {
    behaviour: 'lorries keep to truck routes if they are told to',
    map: BLOCK,
    meters: 50,
    ways: {
      ...around,
      FG: { ...primary, hgv: 'designated' },
      BF: { ...primary, hgv: 'designated' },
      GC: { ...primary, hgv: 'designated' },
    },
    asks: [
      { go: 'AD', costing: 'truck', options: { use_truck_route: 0 } },
      { go: 'AD', costing: 'truck', options: { use_truck_route: 1 } },
    ],
  },
  {
    behaviour: 'tolls can be avoided and excluded',
    map: BLOCK,
    meters: 200,
    ways: { ...around, BC: { ...primary, toll: 'yes' } },
    asks: [
      { go: 'AD', options: { use_tolls: 0 } },
      { go: 'AD', options: { use_tolls: 1, toll_booth_penalty: 0, toll_booth_cost: 0 } },
      { go: 'AD', options: { exclude_tolls: true } },
      { go: 'AD', costing: 'truck', options: { exclude_tolls: true } },
    ],
  },
  ...(['bridge', 'tunnel'] as const).map((kind): Scenario => ({
    behaviour: `a ${kind} can be excluded`,
    map: BLOCK,
    meters: 50,
    ways: { ...around, BC: { ...primary, [kind]: 'yes' } },
    asks: by(['auto', 'bicycle', 'pedestrian', 'truck'], 'AD', { options: { [`exclude_${kind}s`]: true } }),
  })),
  {
    behaviour: 'motorways can be avoided and excluded',
    map: BLOCK,
    meters: 300,
    ways: { ...around, BC: { highway: 'motorway', oneway: 'no' } },
    asks: [
      { go: 'AD' },
      { go: 'AD', options: { use_highways: 0 } },
      { go: 'AD', options: { exclude_highways: true } },
      ...by(['motor_scooter', 'bicycle', 'pedestrian'], 'AD'),
    ],
  },
  {
    behaviour: 'ferries can be avoided and excluded',
    map: BLOCK,
    meters: 300,
    ways: { ...around, BC: { route: 'ferry', duration: '00:03', motor_vehicle: 'yes' } },
    asks: [
      { go: 'AD' },
      { go: 'AD', options: { use_ferry: 1, ferry_cost: 0 } },
      { go: 'AD', options: { exclude_ferries: true } },
      { go: 'AD', costing: 'pedestrian' },
      { go: 'AD', costing: 'bicycle', options: { use_ferry: 0 } },
    ],
  },
  {
    behaviour: 'a one-way ferry carries one way',
    map: `
A---B-----C---D
`,
    meters: 300,
    ways: { AB: residential, CD: residential, BC: { route: 'ferry', oneway: 'yes', motor_vehicle: 'yes' } },
    asks: [{ go: 'AD' }, { go: 'DA' }],
  },
  {
    behaviour: 'speeds decide',
    map: BLOCK,
    meters: 200,
    ways: { ...around, BC: { ...primary, maxspeed: '20' } },
    asks: [
      { go: 'AD' },
      { go: 'AD', options: { fixed_speed: 20 } },
      { go: 'AD', options: { top_speed: 20 } },
      { go: 'AD', options: { shortest: true } },
      { go: 'AD', options: { use_distance: 1 } },
    ],
  },
  {
    behaviour: 'a speed for lorries is theirs alone',
    map: BLOCK,
    meters: 200,
    ways: { ...around, BC: { ...primary, 'maxspeed:hgv': '20' } },
    asks: by(['auto', 'truck'], 'AD'),
  },
]
