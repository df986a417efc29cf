import { ALL, by, MOTOR, primary, residential, type Scenario, secondary, service } from './scenario.ts'

/** A short way BC, and a long one over F and G. */
const BYPASS = `
A---B-----C---D
    |     |
    |     |
    F-----G
`
const around = { AB: residential, CD: residential, BF: residential, FG: residential, GC: residential }

/** Access of modes to ways, by direction. */
export const ACCESS_SCENARIOS: readonly Scenario[] = [
  {
    behaviour: 'vehicles keep to the direction of a one-way street, walkers do not',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, oneway: '-1' } },
    asks: by(ALL, 'AD'),
  },
  {
    behaviour: 'bicycles and buses may be excepted from a one-way street',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, oneway: '-1', 'oneway:bicycle': 'no', 'oneway:bus': 'no' } },
    // Where a street runs against its nodes Valhalla excepts neither.
    asks: by(['auto', 'taxi'], 'AD'),
  },
  {
    behaviour: 'a lane against the traffic lets bicycles pass',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, oneway: '-1', cycleway: 'opposite_lane' } },
    asks: by(['auto', 'bicycle'], 'AD'),
  },
  {
    behaviour: 'a street for motor vehicles of some kind only',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, motor_vehicle: 'no', bus: 'yes', taxi: 'yes' } },
    asks: by(ALL, 'AD'),
  },
  {
    behaviour: 'a street closed to lorries',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, hgv: 'no' } },
    asks: by(['truck', 'auto'], 'AD'),
  },
  {
    behaviour: 'a street closed to motorcycles and to mopeds',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, motorcycle: 'no', moped: 'no' } },
    asks: by(['motorcycle', 'motor_scooter', 'auto'], 'AD'),
  },
  {
    behaviour: 'a private street is for routes that begin or end there',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, access: 'private' } },
    asks: [...by(['auto', 'truck', 'bicycle'], 'AD'), { go: 'AC' }, { go: 'CB' }],
  },
  {
    behaviour: 'a street for destination traffic is not passed',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, motor_vehicle: 'destination' } },
    asks: by(['auto', 'taxi', 'motorcycle'], 'AD'),
  },
  {
    behaviour: 'a street for deliveries by lorries is not passed by them',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, hgv: 'destination' } },
    asks: by(['truck', 'auto'], 'AD'),
  },
  {
    behaviour: 'footways, cycleways and steps carry whom they are for',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { highway: 'footway' } },
    asks: by(['auto', 'bicycle', 'pedestrian'], 'AD'),
  },
  {
    behaviour: 'a cycleway is for bicycles',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { highway: 'cycleway' } },
    asks: by(['auto', 'bicycle'], 'AD'),
  },
  {
    behaviour: 'walkers climb stairs, riders would rather go around',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { highway: 'steps' } },
    asks: [
      ...by(['bicycle', 'pedestrian'], 'AD'),
      { go: 'AD', costing: 'pedestrian', options: { type: 'wheelchair' } },
    ],
  },
  {
    behaviour: 'what a request says to ignore is ignored',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, oneway: '-1' } },
    asks: by(MOTOR, 'AD', { options: { ignore_oneways: true } }),
  },
  {
    behaviour: 'access can be ignored',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, access: 'no' } },
    asks: by(['auto', 'bicycle', 'pedestrian'], 'AD', { options: { ignore_access: true } }),
  },
  {
    behaviour: 'bollards stop cars and let bicycles and walkers pass',
    map: `
A---x---B
|       |
C-------D
`,
    meters: 40,
    ways: { AxB: residential, AC: residential, CD: residential, DB: residential },
    nodes: { x: { barrier: 'bollard' } },
    asks: by(ALL, 'AB'),
  },
  {
    behaviour: 'gates cost time, locked ones more',
    map: `
A---x---B
|       |
C-------D
`,
    meters: 30,
    ways: { AxB: residential, AC: residential, CD: residential, DB: residential },
    nodes: { x: { barrier: 'gate', access: 'private' } },
    asks: [
      ...by(['auto', 'bicycle', 'pedestrian'], 'AB'),
      { go: 'AB', options: { private_access_penalty: 0, gate_penalty: 0 } },
    ],
  },
  {
    behaviour: 'a service road is no short cut between streets',
    map: `
A---B---C
    |   |
    D---E---F
`,
    meters: 100,
    ways: { ABC: secondary, CE: primary, EF: primary, BD: service, DE: service },
    asks: [
      ...by(['auto', 'bicycle', 'motor_scooter'], 'AF'),
      { go: 'AF', options: { service_penalty: 0, service_factor: 0.1 } },
      { go: 'AF', options: { service_penalty: 300, service_factor: 8 } },
    ],
  },
  {
    behaviour: 'driveways are for their houses',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...service, service: 'driveway' } },
    asks: [...by(['auto', 'pedestrian'], 'AD'), { go: 'AC' }],
  },
  {
    behaviour: 'alleys are avoided',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...service, service: 'alley' } },
    asks: by(['auto', 'bicycle', 'pedestrian'], 'AD'),
  },
  {
    behaviour: 'living streets and tracks are taken by preference',
    map: BYPASS,
    meters: 60,
    ways: { ...around, BC: { highway: 'track' } },
    asks: [
      { go: 'AD', options: { use_tracks: 0 } },
      { go: 'AD', options: { use_tracks: 1 } },
      { go: 'AD', costing: 'bicycle', options: { use_tracks: 1 } },
    ],
  },
  {
    behaviour: 'living streets are taken by preference',
    map: BYPASS,
    meters: 60,
    ways: { ...around, BC: { highway: 'living_street' } },
    asks: [
      { go: 'AD', options: { use_living_streets: 0 } },
      { go: 'AD', options: { use_living_streets: 1 } },
      { go: 'AD', costing: 'pedestrian', options: { use_living_streets: 0 } },
      { go: 'AD', costing: 'bicycle', options: { use_living_streets: 1 } },
    ],
  },
  {
    behaviour: 'unpaved streets can be excluded',
    map: BYPASS,
    meters: 40,
    ways: { ...around, BC: { ...residential, surface: 'gravel' } },
    asks: [
      { go: 'AD' },
      { go: 'AD', options: { exclude_unpaved: true } },
      { go: 'AD', costing: 'truck', options: { exclude_unpaved: true } },
    ],
  },
]
