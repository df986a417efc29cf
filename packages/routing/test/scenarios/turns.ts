import { by, MOTOR, named, primary, residential, type Scenario, secondary } from './scenario.ts'

const CROSS = `
    B
    |
A---X---C
|   |   |
|   D   |
|   |   |
E---F---G
`
const cross = {
  AX: residential,
  BX: residential,
  CX: residential,
  DX: residential,
  AE: residential,
  EF: residential,
  DF: residential,
  FG: residential,
  CG: residential,
}

const restricted = (
  behaviour: string,
  tags: Readonly<Record<string, string>>,
  asks: Scenario['asks'],
  to = 'DX',
): Scenario => ({
  behaviour,
  map: CROSS,
  meters: 40,
  ways: cross,
  restrictions: [{ from: 'AX', via: 'X', to, tags }],
  asks,
})

/** Turn restrictions, turning around, stops between, and where places are put. */
export const TURN_SCENARIOS: readonly Scenario[] = [
  restricted('no turn to the right', { restriction: 'no_right_turn' }, [
    ...by(['auto', 'truck', 'bicycle', 'pedestrian'], 'AD'),
    { go: 'AC' },
    { go: 'AD', options: { ignore_restrictions: true } },
    { go: 'AD', options: { ignore_non_vehicular_restrictions: true } },
  ]),
  restricted('only one turn', { restriction: 'only_right_turn' }, [
    ...by(['auto', 'bus'], 'AC'),
    { go: 'AD' },
    { go: 'AB' },
  ]),
  restricted(
    'a restriction with exceptions',
    { restriction: 'no_right_turn', except: 'bicycle;bus' },
    by(['auto', 'bus', 'bicycle', 'taxi'], 'AD'),
  ),
  restricted('a restriction for lorries', { 'restriction:hgv': 'no_right_turn' }, by(['auto', 'truck'], 'AD')),
  restricted('no straight on', { restriction: 'no_straight_on' }, by(MOTOR, 'AC'), 'CX'),
  {
    behaviour: 'a restriction over a way binds routes that come all the way',
    map: `
A---B---C
    |
    D
    |
E---F---G
    |   |
    H---I
`,
    meters: 40,
    ways: {
      AB: residential,
      BC: residential,
      BDF: residential,
      EF: residential,
      FG: residential,
      FH: residential,
      HI: residential,
      GI: residential,
    },
    restrictions: [{ from: 'AB', via: ['BDF'], to: 'FG', tags: { restriction: 'no_left_turn' } }],
    asks: [{ go: 'AG' }, { go: 'CG' }, { go: 'AH' }, { go: 'AG', costing: 'pedestrian' }],
  },
  {
    behaviour: 'only over a way',
    map: `
A---B---C
    |
E---F---G
`,
    meters: 40,
    ways: { AB: residential, BC: residential, BF: residential, EF: residential, FG: residential },
    restrictions: [{ from: 'AB', via: ['BF'], to: 'FG', tags: { restriction: 'only_left_turn' } }],
    asks: [{ go: 'AG' }, { go: 'CE' }],
  },
  {
    behaviour: 'at a dead end one turns around',
    map: `
A---B---C
    |
    D
`,
    meters: 60,
    ways: { AB: residential, BC: residential, BD: residential },
    restrictions: [{ from: 'AB', via: 'B', to: 'BC', tags: { restriction: 'no_straight_on' } }],
    asks: by(['auto', 'truck', 'motorcycle', 'bicycle'], 'AC'),
  },
  {
    behaviour: 'a barrier is a dead end',
    map: `
A---B---C---D
    |
    E
`,
    meters: 60,
    ways: { ABC: primary, CD: primary, BE: residential },
    nodes: { C: { barrier: 'block' } },
    asks: [
      { go: 'ACE', stop: 'break_through' },
      { go: 'ACA', stop: 'through' },
      { go: 'AD', costing: 'pedestrian' },
    ],
  },
  {
    behaviour: 'stops between on a blind street',
    map: `
A-B-C-D-E
    |
    1
    F---G
    |
    2
    H
`,
    meters: 100,
    ways: {
      AB: primary,
      BC: primary,
      CD: primary,
      DE: primary,
      CF: { highway: 'service' },
      FH: { highway: 'service' },
      FG: { highway: 'footway' },
    },
    asks: [
      { go: 'A1E', stop: 'break_through' },
      { go: 'A2E', stop: 'break_through' },
      { go: 'A1E', stop: 'via' },
      { go: 'A1E', stop: 'break' },
      { go: '1A' },
      { go: '2E' },
      { go: 'HDH', stop: 'break_through' },
    ],
  },
  {
    behaviour: 'stops between on a through street',
    map: `
A---B---C---D
    |   |
    E-1-F
`,
    meters: 40,
    ways: { ABCD: residential, BE: residential, EF: residential, CF: residential },
    asks: (['break', 'through', 'via', 'break_through'] as const).flatMap((stop) => [
      { go: 'A1D', stop },
      { go: 'A1A', stop },
    ]),
  },
  {
    behaviour: 'a place is put on the side that is asked for',
    map: `
      1
A-----B-----C
|           |
D-----------E
`,
    meters: 20,
    ways: { AB: secondary, BC: secondary, AD: secondary, DE: secondary, CE: secondary },
    asks: [
      { go: 'A1', at: { preferred_side: 'same' } },
      { go: 'A1', at: { preferred_side: 'opposite' } },
      { go: 'C1', at: { preferred_side: 'same' } },
    ],
  },
  {
    behaviour: 'a heading chooses the direction',
    map: `
A--1--B--2--C
|           |
D-----------E
`,
    meters: 30,
    ways: { ABC: secondary, AD: secondary, DE: secondary, CE: secondary },
    asks: [
      { go: '12', at: { heading: 90, heading_tolerance: 45 } },
      { go: '21', at: { heading: 90, heading_tolerance: 45 } },
      { go: '21', at: { heading: 270, heading_tolerance: 45 } },
    ],
  },
  {
    behaviour: 'kinds of streets that a place is not put on',
    map: `
A-----B
  1
C-----D
`,
    meters: 30,
    ways: { AB: primary, CD: residential, AC: residential, BD: residential },
    asks: [
      { go: '1B', at: { search_filter: { max_road_class: 'tertiary' } } },
      { go: '1B', at: { search_filter: { min_road_class: 'secondary' } } },
      { go: '1B' },
    ],
  },
  {
    behaviour: 'an island is where one begins if it is nearest and leads on',
    map: `
      1
A-----B

C-----D-----E
|     |     |
F-----G-----H
`,
    meters: 30,
    ways: { AB: residential, CDE: residential, FGH: residential, CF: residential, DG: residential, EH: residential },
    asks: [{ go: 'A1', at: { minimum_reachability: 4 } }],
  },
  {
    behaviour: 'one-way streets that lead away or only there',
    map: `
    1       2
A-------B-------C
        |
        D-------E
        |       |
        F-------G
`,
    meters: 30,
    ways: {
      AB: { ...residential, oneway: 'yes' },
      BC: { ...residential, oneway: 'yes' },
      BD: residential,
      DE: residential,
      DF: residential,
      EG: residential,
      FG: residential,
    },
    asks: [
      { go: '1G', at: { minimum_reachability: 4 } },
      { go: 'G2', at: { minimum_reachability: 4 } },
      { go: '2G', at: { minimum_reachability: 4 } },
      { go: 'G1', at: { minimum_reachability: 4 } },
      { go: '12', at: { minimum_reachability: 4 } },
    ],
  },
  {
    behaviour: 'roads through a crossing with two carriageways',
    map: `
    B   D
    |   |
E---F---G---H
    |   |
    A   C
`,
    meters: 8,
    ways: {
      BF: named({ ...primary, oneway: 'yes' }, 'North Road'),
      FA: named({ ...primary, oneway: 'yes' }, 'North Road'),
      CG: named({ ...primary, oneway: 'yes' }, 'North Road'),
      GD: named({ ...primary, oneway: 'yes' }, 'North Road'),
      EF: named(secondary, 'Cross Street'),
      FG: named(secondary, 'Cross Street'),
      GH: named(secondary, 'Cross Street'),
    },
    asks: [{ go: 'BA' }, { go: 'CE' }, { go: 'BH' }, { go: 'EH' }, { go: 'CD' }, { go: 'EA' }, { go: 'HD' }],
  },
]
