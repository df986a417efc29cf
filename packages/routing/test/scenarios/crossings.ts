import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../src/index.ts'
import { type Ask, by, named, primary, residential, type Scenario, secondary } from './scenario.ts'

const oneway = (tags: OsmTags): OsmTags => ({ ...tags, oneway: 'yes' })

/** A crossing X of eight arms where F and H are of one kind: every turn from H. */
function arms(behaviour: string, from: OsmTags, others: OsmTags): Scenario {
  return {
    behaviour,
    map: 'A B C\n \\|/\nD-X-E\n /|\\\nF G H',
    meters: 40,
    ways: Object.fromEntries(Array.from('ABCDEFGH', (arm) => [`${arm}X`, 'FH'.includes(arm) ? from : others])),
    asks: Array.from('ABCDEFG', (arm) => ({ go: `H${arm}` })),
  }
}

const link = (kind: string): OsmTags => ({ highway: `${kind}_link` })
const aisle = (tags: OsmTags): OsmTags => ({ ...tags, service: 'parking_aisle' })

/** A street crosses a better one, with a sign on its way to the crossing. */
function sign(behaviour: string, tags: OsmTags): Scenario {
  return {
    behaviour,
    map: '    B\n    |\nC---X---D\n    |\n    h\n    |\n    A',
    meters: 30,
    ways: {
      AhX: named({ highway: 'tertiary' }, 'South'),
      XB: named({ highway: 'tertiary' }, 'North'),
      CX: named(primary, 'West'),
      XD: named(primary, 'East'),
    },
    nodes: { h: tags },
    asks: [...by(['auto', 'truck'], 'AD'), ...by(['auto', 'truck'], 'AC'), ...by(['auto'], 'AB')],
  }
}

/** Where the carriageways AX and XB become one, at an angle that the map draws. */
function tip(behaviour: string, map: string, meters: number): Scenario {
  return {
    behaviour,
    map,
    meters,
    ways: {
      AX: named(oneway(primary), 'Long Road'),
      XB: named(oneway(primary), 'Long Road'),
      XE: named(primary, 'Long Road'),
    },
    asks: by(['auto', 'truck', 'motor_scooter', 'bicycle'], 'AB'),
  }
}

/** Tips of pencils: which angle still is turning around depends on whether a carriageway is shorter than 50 m. */
export const TIPS = {
  'of two short carriageways': ['      A\n            X----E\n      B', 6],
  'of two that are not short': ['      A\n            X----E\n      B', 9.5],
  'of a short one and a long one at a wider angle': ['        A\n            X----E\n        B', 6],
  'of one that is not short and a long one': ['      A\n            X----E\n\nB', 9.5],
  'of a long one and one that is not short': ['A\n\n            X----E\n      B', 9.5],
} as const satisfies Readonly<Record<string, readonly [string, number]>>

const DIVIDED = `
    A B
    | |
C---1-2---D
E---3-4---F
    | |
    G H
`
const DIVIDED_ASKS: Ask[] = ['HB', 'HF', 'HC', 'HG', 'AG', 'AC', 'AF', 'EF', 'EB', 'EG', 'DC', 'DG', 'DB', 'DF'].map(
  (go) => ({ go }),
)
const east = named(oneway(primary), 'East Road')
const north = named(oneway(secondary), 'North Road')

/** Streets across an edge between 1 and 2, and their requests. */
function inside(behaviour: string, map: string, ways: Scenario['ways'], go: readonly string[], meters = 4): Scenario {
  const costings: readonly Mode[] = ['auto', 'motor_scooter']
  const asks = go.flatMap((places) => by(costings, places, places.length > 2 ? { stop: 'through' } : {}))
  return { behaviour, map, meters, ways, asks }
}

/** Costs of turns and crossings that depend on their shape. */
export const CROSSING_SCENARIOS: readonly Scenario[] = [
  arms('turns from a lesser ramp where only ramps meet', link('primary'), link('trunk')),
  arms('turns from a greater ramp where only ramps meet', link('trunk'), link('secondary')),
  arms('turns from an aisle that is a great street', aisle(primary), aisle(residential)),
  {
    ...arms('turns between ramps at a traffic light', link('primary'), link('primary')),
    ways: Object.fromEntries(
      Array.from('ABCDEFGH', (arm) => [`${arm}X`, 'DE'.includes(arm) ? secondary : link('primary')]),
    ),
    nodes: { X: { highway: 'traffic_signals' } },
  },
  sign('a traffic light before a crossing, for those who leave it', {
    highway: 'traffic_signals',
    'traffic_signals:direction': 'backward',
  }),
  sign('a traffic light before a crossing, for those who come', {
    highway: 'traffic_signals',
    'traffic_signals:direction': 'forward',
  }),
  sign('a stop sign before a crossing, for those who leave it', { highway: 'stop', direction: 'backward' }),
  {
    behaviour: 'a slip road onto a ramp',
    map: `
    B
    |
C---X-Q---------------D---E
    |/ \\
    P   F
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
      QF: named(primary, 'East'),
      PQ: { highway: 'secondary_link', oneway: 'yes' },
      QD: { highway: 'motorway_link', oneway: 'yes' },
      DE: { highway: 'motorway', oneway: 'yes' },
    },
    asks: [...by(['auto', 'truck'], 'AE'), ...by(['auto', 'truck'], 'AF'), ...by(['auto'], 'CE')],
  },
  {
    behaviour: 'onto a great roundabout',
    map: `
      A
      |
    --1--
  2       4
    --3--
      |
      B
`,
    meters: 10,
    ways: {
      '12341': { ...primary, junction: 'roundabout' },
      A1: named({ highway: 'tertiary' }, 'North'),
      B3: named(residential, 'South'),
    },
    asks: [...by(['auto', 'truck', 'motor_scooter', 'bicycle'], 'AB'), ...by(['auto', 'bicycle'], 'BA')],
  },
  inside(
    'a short street from a one-way to a roundabout',
    `
      A
      |
D-----1
      |
    --2--
  3       5
    --4--
      |
      B
`,
    {
      '23452': { ...primary, junction: 'roundabout' },
      A1: named(residential, 'North'),
      '12': named(residential, 'North'),
      D1: named(oneway(residential), 'West'),
      B4: named(residential, 'South'),
    },
    ['AB', 'DB', 'DA', 'BA'],
    8,
  ),
  ...Object.entries(TIPS).map(([what, [map, meters]]) => tip(`turning around at the tip ${what}`, map, meters)),
  {
    behaviour: 'a crossing of two divided roads, driven as on the right',
    map: DIVIDED,
    meters: 8,
    ways: {
      C1: east,
      '12': east,
      '2D': east,
      F4: east,
      '43': east,
      '3E': east,
      G3: north,
      '31': north,
      '1A': north,
      B2: north,
      '24': north,
      '4H': north,
    },
    asks: ['BH', 'BE', 'BD', 'GA', 'GD', 'GE', 'CD', 'CA', 'CH', 'FE', 'FH', 'FA'].map((go) => ({ go })),
  },
  ...(['13', '2B'] as const).map((round) => ({
    behaviour: `a crossing of two divided roads, ${round} a roundabout`,
    map: DIVIDED,
    meters: 8,
    ways: Object.fromEntries(
      ['D2', '21', '1C', 'E3', '34', '4F', 'A1', '13', '3G', 'H4', '42', '2B'].map((way) => [
        way,
        {
          ...(['D2', '21', '1C', 'E3', '34', '4F'].includes(way) ? east : north),
          ...(way === round && { junction: 'roundabout' }),
        },
      ]),
    ),
    asks: DIVIDED_ASKS,
  })),
  inside(
    'two crossings side by side, one-way over the first and away from the second',
    `
    A   G
    |   |
C---1---2---D
    |   |
    F   B
`,
    {
      A1: named(residential, 'A Street'),
      F1: named(oneway(residential), 'F Street'),
      C1: named(secondary, 'Cross Street'),
      '12': named(secondary, 'Cross Street'),
      '2D': named(secondary, 'Cross Street'),
      '2B': named(oneway(residential), 'B Street'),
    },
    ['CD', 'AD', 'FD', 'AB', 'FB', 'CB', 'DA'],
  ),
  ...(
    [
      ['a wide angle', 'A\n\n     1--2---D\n          \\\n            \\\n                B'],
      ['a narrow angle', 'A\n     1--2---D\n          \\\n            \\\n                B'],
      ['a wide angle from below', '     1--2---D\n\nA          \\\n            B'],
      ['a narrow angle from below', '     1--2---D\nA          \\\n\n            B'],
    ] as const
  ).map(([what, map]) =>
    inside(
      `a one-way street that arrives at ${what}`,
      map,
      {
        A1: named(oneway(residential), 'A Street'),
        '12': named(secondary, 'Cross Street'),
        '2D': named(secondary, 'Cross Street'),
        '2B': named(oneway(residential), 'B Street'),
      },
      ['AB', 'AD'],
      6,
    ),
  ),
  ...(['XPNQX', 'split'] as const).map((loop) =>
    inside(
      `a small one-way loop at the end of a street, ${loop === 'split' ? 'in two ways' : 'in one'}`,
      '              P\nE---------X       N\n              Q',
      {
        EX: named(residential, 'End Street'),
        ...(loop === 'split' ? { NQX: oneway(residential), XPN: oneway(residential) } : { XPNQX: oneway(residential) }),
      },
      ['EP', 'EQ', 'PQ', 'EPE'],
      2,
    ),
  ),
  {
    behaviour: 'from ramp to ramp where four ways meet',
    map: '    B\n    |\nC---X---D\n    |\n    A',
    meters: 40,
    ways: { AX: link('primary'), XB: link('primary'), CX: secondary, XD: secondary },
    asks: [...by(['auto', 'truck', 'bicycle'], 'AB'), ...by(['auto'], 'AC'), ...by(['auto'], 'AD')],
  },
]
