import { Access } from '../graph/attributes.ts'

/**
 * Access rules as data: the access keys of each mode, the meaning of their values, the modes that a highway class and a
 * barrier let pass, and the differences between countries. Other modules read lanes, hours, sizes and a few tags such
 * as `impassable`. Source: OpenStreetMap wiki, pages Key:access, Key:oneway, Key:barrier, OSM tags for routing/Access
 * restrictions; for gaps in it, Valhalla 3.6 `lua/graph.lua`.
 */

const { car, foot, wheelchair, bicycle, truck, taxi, bus, moped, motorcycle } = Access
export const MOTOR = car | truck | bus | taxi | moped | motorcycle
const ROAD = MOTOR | foot | bicycle
/** Modes that are excluded from highways for fast traffic. */
export const SLOW = bicycle | moped

/**
 * Meaning of an access value: open, open for local access only, closed, no statement, or (a mask) closed to all but
 * these modes.
 */
export type Meaning = 'yes' | 'local' | 'no' | 'nothing' | number

const table = (rows: readonly (readonly [meaning: Meaning, values: string])[]): ReadonlyMap<string, Meaning> =>
  new Map(rows.flatMap(([meaning, values]) => values.split(' ').map((value) => [value, meaning] as const)))

/** Values of every access key; an unlisted value has no effect and is reported as unread. */
const VALUES = table([
  ['yes', 'yes permissive designated official public allowed use_sidepath dismount'],
  ['local', 'private permit destination delivery customers residents'],
  ['no', 'no agricultural forestry discouraged emergency emergency_vehicle military minibus share_taxi restricted'],
  [bus | taxi, 'psv'],
  [bus, 'bus'],
  [taxi, 'taxi'],
  [car, 'motorcar'],
  [truck, 'hgv'],
  [motorcycle, 'motorcycle'],
  [moped, 'moped'],
  [bicycle, 'bicycle'],
  [foot, 'foot'],
])

/** Further values of single keys. */
const OWN_VALUES: Readonly<Record<string, ReadonlyMap<string, Meaning>>> = {
  hgv: table([
    ['yes', 'local'],
    ['no', 'unsuitable'],
  ]),
  // A discouraged mode may still use the way; only cars and lorries are excluded.
  bus: table([['yes', 'urban discouraged']]),
  taxi: table([['yes', 'discouraged']]),
  psv: table([['yes', '1 2 discouraged']]),
  moped: table([
    ['yes', 'discouraged'],
    ['no', 'unknown'],
  ]),
  foot: table([['yes', 'crossing sidewalk passable footway discouraged']]),
  bicycle: table([
    ['yes', 'lane track shared shared_lane sidepath share_busway discouraged'],
    ['no', 'none'],
  ]),
  // A way that is open to mofas (up to 25 km/h) may be closed to other mopeds.
  mofa: table([['nothing', 'yes permissive designated official public private permit destination delivery customers']]),
}

/** Meaning of a value of an access key; undefined when the value is unknown. */
export function meaningOf(key: string, value: string): Meaning | undefined {
  return OWN_VALUES[key]?.get(value) ?? VALUES.get(value)
}

type TagRule = readonly [key: string, values: readonly string[]]

/** Access rules of one mode. */
export interface ModeLaw {
  readonly mode: number
  /** Access keys, the most specific first; the first key with a meaning counts. */
  readonly keys: readonly string[]
  /** Tags that designate the whole way for the mode; they count after the mode's own keys. */
  readonly streets?: readonly TagRule[]
  /**
   * Tags of lanes for the mode. They also open a way, unless `access` closes it; a way for local access stays closed to
   * through traffic.
   */
  readonly lanes?: readonly TagRule[]
  /** Keys of `oneway:*` for the mode, the most specific first; the first existing one counts. */
  readonly oneway: readonly string[]
  /**
   * Tags that let the mode travel against a one-way street, besides `oneway:* = no` and `*:backward` of its own keys;
   * absent for modes that ignore `*:backward`, too.
   */
  readonly against?: readonly (readonly [keys: readonly string[], values: readonly string[]])[]
}

const VEHICLE_KEYS = ['motor_vehicle', 'vehicle', 'access'] as const
const TWO_WHEELS = ['single_tracked_motor_vehicle', ...VEHICLE_KEYS] as const
const FOUR_WHEELS = ['double_tracked_motor_vehicle', ...VEHICLE_KEYS] as const
/** Keys of access for several modes, after those of a mode's own. */
export const GENERAL_KEYS: readonly string[] = [...FOUR_WHEELS, TWO_WHEELS[0]]

const LANES = ['bus', 'taxi', 'yes', 'designated', 'permissive', '1', '2']
const BUS_LANES = ['lanes:psv:forward', LANES] as const
const BUS_LANES_BACK = [['lanes:psv:backward'], LANES] as const
const OPPOSITE = ['opposite', 'opposite_lane', 'opposite_track']
const TRACKS = 'lane track buffered_lane shared shared_lane sharrow sidepath share_busway cyclestreet crossing'.split(
  ' ',
)
const OPEN = ['yes', 'designated', 'permissive', 'destination', 'dismount', 'allowed', 'private', 'use_sidepath']
const BUSWAYS = ['busway', 'busway:left', 'busway:right']
const CYCLEWAYS = ['cycleway', 'cycleway:left', 'cycleway:right', 'cycleway:both']
const CYCLE_ONEWAYS = ['cycleway:oneway', 'cycleway:left:oneway', 'cycleway:right:oneway', 'cycleway:both:oneway']

const MOTOR_ONEWAYS = ['oneway:motor_vehicle', 'oneway:vehicle']

/** Modes with their keys. Source: OpenStreetMap wiki, Key:access, transport mode hierarchy. */
export const MODE_LAWS: readonly ModeLaw[] = [
  { mode: car, keys: ['motorcar', ...FOUR_WHEELS], oneway: ['oneway:motorcar', ...MOTOR_ONEWAYS] },
  { mode: truck, keys: ['hgv', 'goods', ...FOUR_WHEELS], oneway: ['oneway:hgv', ...MOTOR_ONEWAYS] },
  {
    mode: bus,
    keys: ['bus', 'psv', ...FOUR_WHEELS],
    lanes: [BUS_LANES],
    oneway: ['oneway:bus', 'oneway:psv', ...MOTOR_ONEWAYS],
    against: [[BUSWAYS, ['opposite', 'opposite_lane']], BUS_LANES_BACK],
  },
  {
    mode: taxi,
    keys: ['taxi', 'psv', ...FOUR_WHEELS],
    lanes: [BUS_LANES],
    oneway: ['oneway:taxi', 'oneway:psv', ...MOTOR_ONEWAYS],
    against: [BUS_LANES_BACK],
  },
  {
    mode: foot,
    keys: ['foot', 'access'],
    streets: [['pedestrian', OPEN]],
    oneway: ['oneway:foot'],
    against: [],
  },
  {
    mode: bicycle,
    keys: ['bicycle', 'vehicle', 'access'],
    streets: [
      ['bicycle_road', OPEN],
      ['cyclestreet', OPEN],
    ],
    lanes: CYCLEWAYS.map((key) => [key, [...TRACKS, ...OPPOSITE]]),
    oneway: ['oneway:bicycle', 'oneway:vehicle'],
    against: [
      [CYCLEWAYS, OPPOSITE],
      // A lane beside a one-way street, against its direction or in both directions.
      [CYCLE_ONEWAYS, ['-1', 'no']],
    ],
  },
  {
    mode: moped,
    keys: ['moped', 'mofa', ...TWO_WHEELS],
    oneway: ['oneway:moped', ...MOTOR_ONEWAYS],
    against: [],
  },
  {
    mode: motorcycle,
    keys: ['motorcycle', ...TWO_WHEELS],
    oneway: ['oneway:motorcycle', ...MOTOR_ONEWAYS],
    against: [],
  },
]

/** Keys of access, for modes and in general; the more specific ones first. */
export const ACCESS_KEYS: readonly string[] = [
  ...new Set(
    MODE_LAWS.flatMap(({ keys }) => keys.map((key, i) => ({ key, depth: keys.length - i })))
      .toSorted((a, b) => b.depth - a.depth)
      .map(({ key }) => key),
  ),
]

/** All lanes are designated for one group of vehicles; the keys of other vehicles decide whether they may use them. */
const ALL_DESIGNATED = /^designated(\|designated)*$/

/** Keys of one-way streets, for modes and in general. */
export const ONEWAY_KEYS: readonly string[] = ['oneway', ...new Set(MODE_LAWS.flatMap(({ oneway }) => oneway))]

/**
 * Keys that are not read but may close a way: seasonally without dates, temporarily, permanently, by lanes, or for a
 * part of a mode that requests cannot name. Routes have warnings about them. Source: OpenStreetMap wiki, Key:seasonal,
 * Key:ford, Key:winter_service, Key:low_emission_zone, Key:winter_road, Tag:ice_road=yes, Key:tidal, Lifecycle prefix,
 * Lanes, Key:access, transport mode hierarchy.
 */
export const UNREAD_KEYS: readonly { readonly key: string; readonly values: RegExp; readonly modes: number }[] = [
  { key: 'highway', values: /^(ice|winter)_road$/, modes: ROAD },
  ...['ice_road', 'winter_road', 'tidal', 'construction', 'disused', 'abandoned'].map((key) => ({
    key,
    values: /^yes$/,
    modes: ROAD,
  })),
  ...['disused:highway', 'abandoned:highway'].map((key) => ({ key, values: /^/, modes: ROAD })),
  { key: 'psv:lanes', values: ALL_DESIGNATED, modes: MOTOR & ~(bus | taxi) },
  { key: 'bus:lanes', values: ALL_DESIGNATED, modes: MOTOR & ~bus },
  ...['seasonal', 'ford'].map((key) => ({ key, values: /^(?!no$)/, modes: ROAD })),
  { key: 'winter_service', values: /^no$/, modes: ROAD },
  { key: 'low_emission_zone', values: /^yes$/, modes: MOTOR },
  ...ACCESS_KEYS.map((key) => ({
    key: `temporary:${key}`,
    values: /^(?!yes$)/,
    modes: MODE_LAWS.reduce((modes, { mode, keys }) => (keys.includes(key) ? modes | mode : modes), 0),
  })),
  ...['hgv_articulated', 'trailer'].map((key) => ({ key, values: /^no$/, modes: truck })),
  ...['coach', 'tourist_bus'].map((key) => ({ key, values: /^no$/, modes: bus })),
]

/** Modes with few occupants, and modes that high-occupancy lanes exclude. Source: OpenStreetMap wiki, Key:hov. */
export const FEW_PEOPLE = car | taxi
export const NOT_WITH_MANY = truck | foot | bicycle

/** Modes that may use a way of a highway class when no other tag decides. */
const CLASSES: readonly (readonly [modes: number, classes: string])[] = [
  [MOTOR & ~moped, 'motorway motorway_link'],
  [ROAD, 'trunk trunk_link primary primary_link secondary secondary_link tertiary tertiary_link'],
  [ROAD, 'unclassified residential residential_link living_street service road track ice_road winter_road'],
  [foot, 'footway pedestrian corridor elevator platform via_ferrata'],
  [foot | bicycle, 'steps path'],
  [bicycle, 'cycleway'],
  [bus, 'bus_guideway busway'],
  [0, 'bridleway undefined unknown'],
]
const CLASS_ACCESS = new Map(
  CLASSES.flatMap(([modes, classes]) => classes.split(' ').map((name) => [name, modes] as const)),
)
/**
 * Highway values that are no streets, whatever the access tags: planned or removed ones, and facilities beside the
 * street.
 */
export const NO_STREETS: ReadonlySet<string> = new Set(
  'proposed planned razed demolished dismantled removed no rest_area services escape emergency_bay'.split(' '),
)

/** Ferries and trains that carry vehicles. */
export const CARRIED = ROAD

/** Modes that may use a way of a highway class, by the class alone; null for an unknown class. */
export function accessOfClass(highway: string | undefined): number | null {
  return CLASS_ACCESS.get(highway ?? '') ?? null
}

const WALK = foot | wheelchair
const RIDE = WALK | bicycle
const RIDE_SLOW = RIDE | moped
/** Fast roads: without pedestrians, bicycles and mopeds. */
const FAST = car | truck | bus | taxi | motorcycle

type ClassRules = Readonly<Record<string, number>>
const fast: ClassRules = { trunk: FAST, trunk_link: FAST }

/**
 * Default access of highway classes in countries that differ from the rest of the world. Facts from OpenStreetMap's
 * wiki, page OSM tags for routing/Access restrictions, which Valhalla's `adminconstants.h` follows too; but unlike
 * there, no country opens paths to mopeds: highway=path is closed to motor vehicles.
 */
export const COUNTRIES: Readonly<Record<string, ClassRules>> = {
  AT: { ...fast, path: WALK },
  AU: { footway: RIDE },
  BE: { ...fast, track: RIDE_SLOW, pedestrian: RIDE, bridleway: WALK, cycleway: RIDE_SLOW, path: RIDE },
  BR: { bridleway: RIDE },
  BY: { footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  CH: { ...fast, cycleway: RIDE_SLOW },
  CN: { pedestrian: RIDE, path: RIDE },
  DK: { ...fast, track: RIDE, cycleway: RIDE },
  ES: { pedestrian: RIDE, path: RIDE },
  FI: { pedestrian: RIDE, cycleway: RIDE },
  FR: { ...fast, pedestrian: RIDE, path: RIDE },
  GB: { bridleway: RIDE, cycleway: RIDE },
  GR: { bridleway: RIDE, cycleway: RIDE },
  HU: { ...fast, cycleway: RIDE },
  IE: { bridleway: RIDE },
  IS: { footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  IT: { pedestrian: RIDE },
  NL: { cycleway: RIDE, path: RIDE },
  NO: { track: RIDE_SLOW, footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  OM: { bridleway: RIDE, cycleway: RIDE },
  PH: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: RIDE },
  PL: { bridleway: RIDE, cycleway: RIDE, path: RIDE },
  RO: { bridleway: RIDE_SLOW, cycleway: SLOW, path: RIDE },
  RU: { cycleway: SLOW },
  SE: { pedestrian: RIDE, bridleway: WALK, cycleway: RIDE_SLOW },
  SK: fast,
  TH: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: RIDE },
  TR: { bridleway: WALK, cycleway: RIDE },
  US: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: RIDE },
}

/** Kinds of barriers on a node. */
export type Barrier = 'gate' | 'bollard' | 'turnstile' | 'trap' | 'wall'

const BARRIERS: readonly (readonly [kind: Barrier, values: string])[] = [
  ['gate', 'gate lift_gate swing_gate sliding_gate sliding_beam hampshire_gate wedge'],
  [
    'bollard',
    'bollard block planter tank_trap kissing_gate wicket_gate motorcycle_barrier cycle_barrier chain rope bar log',
  ],
  ['turnstile', 'turnstile full-height_turnstile stile horse_stile'],
  ['trap', 'sump_buster bus_trap'],
  // Source: OSRM's profiles.
  ['wall', 'yes fence barrier_board wall jersey_barrier debris'],
]
const BARRIER_KINDS = new Map(
  BARRIERS.flatMap(([kind, values]) => values.split(' ').map((value) => [value, kind] as const)),
)

/**
 * Barriers that stop no mode by themselves. Unlisted values do not stop either, but routes have a warning about them.
 */
const PASSED = new Set(
  'no entrance cattle_grid bump_gate toll_booth border_control sally_port height_restrictor width_restrictor arch kerb'.split(
    ' ',
  ),
)

/** Whether a value of `barrier` is unknown. */
export function isUnknownBarrier(value: string): boolean {
  return !BARRIER_KINDS.has(value) && !PASSED.has(value)
}

/** Kind of a value of `barrier`; null when it stops no mode. */
export function barrierKind(value: string | undefined): Barrier | null {
  return BARRIER_KINDS.get(value ?? '') ?? null
}

/** Modes that a barrier without an access tag lets pass. */
export const PASSES: Readonly<Record<Barrier, number>> = {
  gate: ~0,
  bollard: foot | wheelchair | bicycle,
  turnstile: foot,
  trap: ~(car | taxi),
  wall: 0,
}
