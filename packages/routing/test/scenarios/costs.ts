import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../src/index.ts'
import { ALL, type Ask, by, named, primary, residential, type Scenario, secondary } from './scenario.ts'

/** Ways one after the other, so that a route passes them all. */
function chain(
  behaviour: string,
  tags: readonly OsmTags[],
  asks: (go: string) => Ask[],
  nodes: Scenario['nodes'] = {},
): Scenario {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.slice(0, tags.length + 1)
  return {
    behaviour,
    map: Array.from(letters).join('---'),
    meters: 50,
    ways: Object.fromEntries(tags.map((way, i) => [letters.slice(i, i + 2), way])),
    nodes,
    asks: asks(`${letters[0]}${letters.at(-1)}`),
  }
}

/** One value each of some options. */
const each =
  (costing: Mode, values: Readonly<Record<string, readonly unknown[]>>) =>
  (go: string): Ask[] =>
    Object.entries(values).flatMap(([name, list]) => list.map((value) => ({ go, costing, options: { [name]: value } })))

const CLASSES: readonly OsmTags[] = ['residential', 'unclassified', 'tertiary', 'secondary', 'primary', 'trunk'].map(
  (highway) => ({ highway, name: 'Long Street' }),
)
const SURFACES: readonly OsmTags[] = ['asphalt', 'paved', 'paving_stones', 'compacted', 'dirt', 'gravel', 'grass'].map(
  (surface) => ({ ...residential, surface, name: 'Rough Street' }),
)
const KINDS: readonly OsmTags[] = [
  residential,
  { highway: 'living_street' },
  { highway: 'track', tracktype: 'grade1' },
  { highway: 'service' },
  { highway: 'service', service: 'alley' },
  { highway: 'service', service: 'parking_aisle' },
  residential,
]
const SPEEDS: readonly OsmTags[] = ['30', '50', '80', '120'].map((maxspeed) => ({
  ...secondary,
  maxspeed,
  'maxspeed:hgv': '60',
  name: 'Fast Street',
}))
const TOLLS: readonly OsmTags[] = [secondary, { ...secondary, toll: 'yes' }, secondary]
const FERRY: readonly OsmTags[] = [
  residential,
  { route: 'ferry', duration: '00:02', motor_vehicle: 'yes', bicycle: 'yes', foot: 'yes' },
  residential,
]
const TRAIN: readonly OsmTags[] = [
  residential,
  { route: 'shuttle_train', railway: 'rail', motor_vehicle: 'yes', bicycle: 'yes', foot: 'yes' },
  residential,
]
const LANES: readonly OsmTags[] = [
  { ...secondary, cycleway: 'lane' },
  { ...secondary, cycleway: 'track' },
  { ...secondary, cycleway: 'shared_lane' },
  { ...secondary, shoulder: 'yes' },
  { ...secondary, shoulder: 'yes', cycleway: 'lane' },
  { ...secondary, lanes: '4' },
  { highway: 'cycleway' },
  { highway: 'cycleway', foot: 'yes' },
  { highway: 'cycleway', foot: 'yes', segregated: 'yes' },
  { highway: 'path', bicycle: 'yes' },
  { ...residential, bicycle: 'use_sidepath' },
  { ...residential, ncn: 'yes' },
  { ...residential, hgv: 'designated' },
  { ...residential, bicycle: 'dismount' },
]
const WALKS: readonly OsmTags[] = [
  { highway: 'footway' },
  { highway: 'footway', footway: 'sidewalk' },
  { ...residential, sidewalk: 'both' },
  { highway: 'steps' },
  { highway: 'path', sac_scale: 'hiking' },
  { highway: 'service', service: 'driveway' },
  { highway: 'service', service: 'alley' },
  { highway: 'elevator' },
  { highway: 'footway', lit: 'yes' },
]
const HIKES: readonly OsmTags[] = [
  'hiking',
  'mountain_hiking',
  'demanding_mountain_hiking',
  'alpine_hiking',
  'demanding_alpine_hiking',
  'difficult_alpine_hiking',
].map((sac_scale) => ({ highway: 'path', sac_scale }))
const share = [0, 0.3, 0.6, 1]

/** Ways that each mode passes, and the options that weigh them. */
const CHAINS: readonly Scenario[] = [
  chain('classes of streets', CLASSES, (go) => [
    ...by(ALL, go),
    ...each('motor_scooter', { use_primary: share, use_hills: share, top_speed: [25, 60] })(go),
    ...each('bicycle', { use_roads: share, use_hills: share, cycling_speed: [12, 40] })(go),
    ...each('truck', { low_class_penalty: [0, 100], use_truck_route: share })(go),
  ]),
  chain('motorways', [secondary, { highway: 'motorway', oneway: 'no' }, { highway: 'trunk' }, secondary], (go) => [
    ...by(['auto', 'truck', 'bus', 'taxi', 'motorcycle'], go),
    ...each('auto', { use_highways: share })(go),
    ...each('truck', { use_highways: share })(go),
    ...each('motorcycle', { use_highways: share })(go),
  ]),
  chain('surfaces', SURFACES, (go) => [
    ...by(ALL, go),
    ...['road', 'cross', 'mountain'].map((bicycle_type) => ({
      go,
      costing: 'bicycle' as const,
      options: { bicycle_type },
    })),
    ...each('bicycle', { avoid_bad_surfaces: [0, 0.6] })(go),
    ...each('motorcycle', { use_trails: share })(go),
  ]),
  ...SURFACES.slice(3).map((surface, i) =>
    chain(`a surface, ${i}`, [residential, surface, residential], (go) =>
      ['road', 'cross', 'hybrid', 'mountain'].map((bicycle_type) => ({
        go,
        costing: 'bicycle' as const,
        options: { bicycle_type, avoid_bad_surfaces: 0.5 },
      })),
    ),
  ),
  chain('kinds of streets', KINDS, (go) => [
    ...by(ALL, go),
    ...each('auto', {
      use_tracks: share,
      use_living_streets: share,
      service_factor: [0.5, 4],
      service_penalty: [0, 90],
      alley_factor: [1, 3],
      maneuver_penalty: [0, 20],
      alley_penalty: [0, 30],
    })(go),
    ...each('pedestrian', {
      use_tracks: share,
      use_living_streets: share,
      alley_factor: [1, 3],
      driveway_factor: [1, 9],
      service_factor: [1, 2],
    })(go),
    ...each('bicycle', { use_tracks: share, use_living_streets: share })(go),
  ]),
  chain('speeds', SPEEDS, (go) => [
    ...by(ALL, go),
    ...each('auto', { top_speed: [70, 100], fixed_speed: [40], use_distance: share, shortest: [true] })(go),
    ...each('truck', { top_speed: [70, 100], fixed_speed: [40] })(go),
    ...each('taxi', { use_distance: [0.5] })(go),
  ]),
  chain(
    'speeds without one for lorries',
    SPEEDS.map(({ highway, name, maxspeed }) => ({ highway: highway!, name: name!, maxspeed: maxspeed! })),
    each('truck', { top_speed: [70, 100], fixed_speed: [40, 90] }),
  ),
  chain('tolls', TOLLS, (go) => [
    ...by(ALL, go),
    ...(['auto', 'truck', 'motorcycle'] as const).flatMap((costing) =>
      each(costing, { use_tolls: share, toll_booth_cost: [0, 60], toll_booth_penalty: [100] })(go),
    ),
  ]),
  chain('a ferry', FERRY, (go) => [
    ...by(ALL, go),
    ...(['auto', 'truck', 'bicycle', 'pedestrian', 'taxi', 'motorcycle'] as const).flatMap((costing) =>
      each(costing, { use_ferry: share, ferry_cost: [0, 100] })(go),
    ),
  ]),
  chain('a train that carries cars', TRAIN, (go) => [
    ...by(['auto', 'truck', 'bus'], go),
    ...(['auto', 'truck'] as const).flatMap((costing) =>
      each(costing, { use_rail_ferry: share, rail_ferry_cost: [0, 100] })(go),
    ),
  ]),
  chain('lanes and paths of riders', LANES, (go) => [
    { go, costing: 'bicycle' },
    ...each('bicycle', { use_roads: share })(go),
  ]),
  ...LANES.map((way, i) =>
    chain(`a way of riders, ${i}`, [residential, way, residential], (go) =>
      [0, 0.5, 0.9].map((use_roads) => ({ go, costing: 'bicycle' as const, options: { use_roads } })),
    ),
  ),
  chain('paths of walkers', WALKS, (go) => [
    { go, costing: 'pedestrian' },
    ...each('pedestrian', {
      walking_speed: [3],
      step_penalty: [0, 100],
      elevator_penalty: [30],
      walkway_factor: [0.5],
      sidewalk_factor: [2],
      use_lit: share,
      shortest: [true],
    })(go),
  ]),
  ...HIKES.map((path, i) =>
    chain(`a mountain path, ${i}`, [residential, path, residential], (go) => [
      { go, costing: 'pedestrian' as const, options: { max_hiking_difficulty: 6 } },
    ]),
  ),
  chain('steps for riders', [residential, { highway: 'steps', bicycle: 'yes' }, residential], (go) =>
    by(['bicycle'], go),
  ),
  ...(
    [
      ['a gate', { barrier: 'gate' }],
      ['a locked gate', { barrier: 'gate', access: 'private' }],
      ['a bollard', { barrier: 'bollard', motor_vehicle: 'yes' }],
      ['a toll booth', { barrier: 'toll_booth' }],
      ['a border', { barrier: 'border_control' }],
      ['a traffic light', { highway: 'traffic_signals' }],
      ['a lift', { highway: 'elevator' }],
    ] as const
  ).map(([kind, tags]) =>
    chain(`${kind} on the way`, [residential, residential, residential], (go) => by(passing(tags), go), { B: tags }),
  ),
  chain('private ways', [residential, { ...residential, access: 'private' }], (go) => [
    ...by(ALL, go),
    ...each('auto', { destination_only_penalty: [0, 100] })(go),
    ...each('truck', { destination_only_penalty: [100] })(go),
  ]),
]

/** A crossing X with arms in eight directions; the requests are all turns over it. */
const STAR = `
A B C
 \\|/
D-X-E
 /|\\
F G H
`
const ARMS = Array.from('ABCDEFGH')

function star(
  behaviour: string,
  tags: (arm: string) => OsmTags,
  costings: readonly Mode[],
  nodes: Scenario['nodes'] = {},
): Scenario {
  return {
    behaviour,
    map: STAR,
    meters: 40,
    ways: Object.fromEntries(ARMS.map((arm) => [`${arm}X`, tags(arm)])),
    nodes,
    asks: costings.flatMap((costing) => [
      ...ARMS.slice(0, -1).map((arm) => ({ go: `H${arm}`, costing })),
      ...['FB', 'FD', 'FC', 'FG'].map((go) => ({ go, costing })),
    ]),
  }
}

const TURNS: readonly Scenario[] = [
  star('turns between streets', (arm) => named(residential, arm), ALL),
  star(
    'turns between streets of different classes',
    (arm) => ({ highway: arm < 'E' ? 'primary' : 'tertiary', name: arm }),
    ['auto', 'bicycle', 'motor_scooter'],
  ),
  star(
    'turns at a traffic light',
    (arm) => named({ highway: arm < 'E' ? 'primary' : 'tertiary' }, arm),
    ['auto', 'bicycle', 'pedestrian'],
    {
      X: { highway: 'traffic_signals' },
    },
  ),
  star(
    'turns that stay on a street',
    (arm) => named(residential, 'ADG'.includes(arm) || arm === 'H' ? 'Same Street' : arm),
    ['auto', 'bicycle'],
  ),
  star('turns onto ramps', (arm) => ({ highway: 'BCE'.includes(arm) ? 'motorway_link' : 'primary' }), [
    'auto',
    'truck',
    'motorcycle',
  ]),
  star('turns onto paths', (arm) => ({ highway: 'ABC'.includes(arm) ? 'cycleway' : 'tertiary' }), ['bicycle']),
  ...[30, 4].map((meters) => ({
    behaviour: `turning around where two carriageways become one, ${meters}`,
    map: `
A---------
          X----E
B---------
`,
    meters,
    ways: {
      AX: named({ ...primary, oneway: 'yes' }, 'Long Road'),
      XB: named({ ...primary, oneway: 'yes' }, 'Long Road'),
      XE: named(primary, 'Long Road'),
    },
    asks: [...by(ALL, 'AB'), ...by(ALL, 'AE'), ...by(ALL, 'EB')],
  })),
  ...['primary', 'secondary', 'tertiary', 'unclassified', 'residential'].flatMap((crossed) =>
    ['tertiary', 'residential'].map((highway) => ({
      behaviour: `over and onto a ${crossed} from a ${highway}`,
      map: '    B\n    |\nC---X---D\n    |\n    A',
      meters: 40,
      ways: {
        AX: named({ highway }, 'South'),
        XB: named({ highway: 'residential' }, 'North'),
        CX: named({ highway: crossed }, 'West'),
        XD: named({ highway: crossed }, 'East'),
      },
      asks: [
        ...by(['auto', 'bicycle', 'pedestrian'], 'AB'),
        ...by(['auto', 'bicycle'], 'AC'),
        ...by(['auto', 'bicycle'], 'AD'),
      ],
    })),
  ),
  star('turns from ramps', (arm) => ({ highway: arm === 'H' ? 'motorway_link' : 'secondary' }), ['auto', 'truck']),
  star('turns between ramps', (arm) => ({ highway: 'DE'.includes(arm) ? 'secondary' : 'primary_link' }), ['auto']),
  star('turns where only ramps meet', () => ({ highway: 'trunk_link' }), ['auto', 'bicycle']),
  star('turns between parking aisles', () => ({ highway: 'service', service: 'parking_aisle' }), ['auto']),
  star('turns between cycleways', () => ({ highway: 'cycleway' }), ['bicycle']),
  star(
    'turns with a stop sign or a light before the crossing',
    (arm) => named({ highway: 'ADF'.includes(arm) ? 'primary' : 'tertiary' }, arm),
    ['auto'],
    { X: { highway: 'stop' } },
  ),
  {
    behaviour: 'crossings from the middle of a town outwards',
    map: `
A B C D E F G H I J K L M N
| | | | | | | | | | | | | |
a-b-c-d-e-f-g-h-i-j-k-l-m-n
`,
    meters: 150,
    grid: 40,
    ways: {
      abcdefghijklmn: named(residential, 'Long Street'),
      ...Object.fromEntries(
        Array.from('ABCDEFGHIJKLMN', (letter) => [
          `${letter}${letter.toLowerCase()}`,
          named(residential, `${letter} Street`),
        ]),
      ),
    },
    asks: Array.from('ABCDEFGHIJKLM', (letter, i) => ({ go: `${letter}${'bcdefghijklmn'[i]!}` })),
  },
]

/** Positions of scenarios depend on their order, so new ones come last. */
const MORE: readonly Scenario[] = [
  chain('around a roundabout on foot', [residential, { ...residential, junction: 'roundabout' }, residential], (go) =>
    by(['pedestrian', 'bicycle', 'auto'], go),
  ),
  chain('ends on steps', [residential, { highway: 'steps', bicycle: 'yes' }], (go) =>
    by(['bicycle', 'pedestrian'], go),
  ),
  star(
    'turns at a traffic light where only small streets cross',
    (arm) => named({ highway: arm === 'C' ? 'primary' : arm === 'H' || arm === 'F' ? 'tertiary' : 'residential' }, arm),
    ['auto', 'truck'],
    { X: { highway: 'traffic_signals' } },
  ),
  star(
    'turns where only small streets cross',
    (arm) => named({ highway: arm === 'C' ? 'primary' : arm === 'H' || arm === 'F' ? 'tertiary' : 'residential' }, arm),
    ['auto'],
  ),
  star(
    'turns between turn channels and streets',
    (arm) => ({ highway: 'FH'.includes(arm) ? 'tertiary_link' : 'secondary' }),
    ['auto'],
  ),
  ...(['secondary', 'motorway'] as const).map((kind) => ({
    behaviour: `a slip road onto a ${kind}`,
    map: `
    B
    |
C---X-Q-D---E
    |/
    P
    |
    A
`,
    meters: 25,
    ways: {
      AP: named(secondary, 'South'),
      PX: named(secondary, 'South'),
      XB: named(secondary, 'North'),
      CX: named(primary, 'West'),
      XQ: named(primary, 'East'),
      QD: named(primary, 'East'),
      PQ: { highway: 'secondary_link', oneway: 'yes' },
      DE: kind === 'motorway' ? { highway: 'motorway_link', oneway: 'yes' } : named(primary, 'East'),
    },
    asks: [...by(['auto', 'truck', 'bicycle'], 'AE'), ...by(['auto'], 'AB'), ...by(['auto'], 'CE')],
  })),
  ...(
    [
      ['streets', 'secondary'],
      ['a ramp', 'motorway_link'],
    ] as const
  ).map(([kind, from]) => ({
    behaviour: `a crossing of two divided roads, from ${kind}`,
    map: `
    A B
    | |
C---1-2---D
E---3-4---F
    | |
    G H
`,
    meters: 8,
    ways: {
      ...Object.fromEntries(
        ['D2', '21', '1C', 'E3', '34', '4F'].map((way) => [way, named({ ...primary, oneway: 'yes' }, 'East Road')]),
      ),
      A1: named({ ...secondary, oneway: 'yes' }, 'North Road'),
      '13': named({ ...secondary, oneway: 'yes' }, 'North Road'),
      '3G': named({ ...secondary, oneway: 'yes' }, 'North Road'),
      H4: named({ highway: from, oneway: 'yes' }, 'North Road'),
      '42': named({ ...secondary, oneway: 'yes' }, 'North Road'),
      '2B': named({ ...secondary, oneway: 'yes' }, 'North Road'),
    },
    asks: ['HB', 'HF', 'HC', 'HG', 'AG', 'AC', 'AF', 'EF', 'EB', 'EG', 'DC', 'DG', 'DB', 'DF'].flatMap((go) =>
      by(['auto', 'motor_scooter', 'bicycle'], go),
    ),
  })),
]

/** Effects of each term of the costs. */
export const COST_SCENARIOS: readonly Scenario[] = [...CHAINS, ...TURNS, ...MORE]

/** Modes tested with an object on a node: motorcycles pass where motor vehicles may, which Valhalla 3.6.1 does not see. */
function passing(tags: OsmTags): Mode[] {
  return ALL.filter((mode) => tags['motor_vehicle'] !== 'yes' || !['motorcycle', 'motor_scooter'].includes(mode))
}
