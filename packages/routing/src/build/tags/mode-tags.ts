import { Access } from '../../graph/attributes.ts'
import { BICYCLE, BUS, CYCLEWAY, FOOT, MOPED, MOTOR_VEHICLE, PUBLIC_SERVICE, TRUCK, type ValueTable } from './values.ts'

const { car, foot, wheelchair, bicycle, truck, taxi, bus, moped, motorcycle } = Access
export const MOTOR = car | truck | bus | taxi | moped | motorcycle

/** For each mode the keys that speak of it, the most specific first. */
export const CHAINS: readonly (readonly [modes: number, keys: readonly string[]])[] = [
  [car, ['motorcar', 'motor_vehicle', 'vehicle', 'access']],
  [truck, ['hgv', 'goods', 'motor_vehicle', 'vehicle', 'access']],
  [bus, ['bus', 'psv', 'motor_vehicle', 'vehicle', 'access']],
  [taxi, ['taxi', 'psv', 'motor_vehicle', 'vehicle', 'access']],
  [moped, ['moped', 'mofa', 'motor_vehicle', 'vehicle', 'access']],
  [motorcycle, ['motorcycle', 'motor_vehicle', 'vehicle', 'access']],
  [bicycle, ['bicycle', 'vehicle', 'access']],
  [foot | wheelchair, ['foot', 'access']],
]
/** Keys of access, for modes and in general. */
export const ACCESS_KEYS = [...new Set(CHAINS.flatMap(([, keys]) => keys))]

/** What of the tags of a way concerns a mode alone. */
export interface ModeTags {
  readonly mode: number
  /** Keys that say whether it may use the way, the most specific first. */
  readonly says: readonly (readonly [key: string, meanings: ValueTable])[]
  /** Of these the keys that can close a single direction to it. */
  readonly closes?: readonly string[]
  /** Keys of `oneway:*` that are for it; the first that is there counts. */
  readonly oneway?: readonly string[]
  /** Tags that open the direction against the nodes to it, apart from `oneway:* = no` on a one-way street. */
  readonly against?: readonly (readonly [keys: readonly string[], values: readonly string[]])[]
}

/** The keys for vehicles in general, after those of a mode. Source: OpenStreetMap wiki, Key:access, transport mode hierarchy. */
const ANY_VEHICLE = ['vehicle', MOTOR_VEHICLE] as const
const ANY_MOTOR = [['motor_vehicle', MOTOR_VEHICLE], ANY_VEHICLE] as const

/** Modes that a value of an access key names. */
const NAMED: ReadonlyMap<string, number> = new Map([
  ['psv', bus | taxi],
  ['bus', bus],
  ['taxi', taxi],
])

/** The modes that a value of an access key opens a way to though it closes it to all others. */
export function namedModes(value: string | undefined): number {
  let modes = 0
  for (const part of value?.split(';') ?? []) modes |= NAMED.get(part.trim()) ?? 0
  return modes
}

/** Keys for buses and taxis in general: what is for one of them by name is open to it. */
function publicService(mode: number): ModeTags['says'] {
  const named = [...NAMED].filter(([, modes]) => (modes & mode) !== 0).map(([value]) => [value, true] as const)
  const meanings: ValueTable = new Map([...MOTOR_VEHICLE, ...named])
  return [
    ['psv', PUBLIC_SERVICE],
    ['lanes:psv:forward', PUBLIC_SERVICE],
    ['motor_vehicle', meanings],
    ['vehicle', meanings],
  ]
}

const BUS_LANES_BACK = [['lanes:psv:backward'], [...PUBLIC_SERVICE.keys()].filter((value) => value !== 'no')] as const
/** Where the slowest mopeds must not go no others may; where they may, others need a tag of their own. */
const SLOW_MOPED: ValueTable = new Map([...MOPED].filter(([, open]) => !open))

export const MODE_TAGS: readonly ModeTags[] = [
  { mode: car, says: [['motorcar', MOTOR_VEHICLE], ...ANY_MOTOR], closes: ['motorcar'] },
  { mode: truck, says: [['hgv', TRUCK], ['goods', TRUCK], ...ANY_MOTOR], closes: ['hgv', 'goods'] },
  {
    mode: bus,
    says: [['bus', BUS], ...publicService(bus)],
    closes: ['bus', 'psv'],
    oneway: ['oneway:bus', 'oneway:psv'],
    against: [
      [['bus:backward'], ['yes', 'designated']],
      [
        ['busway', 'busway:left', 'busway:right'],
        ['opposite', 'opposite_lane'],
      ],
      BUS_LANES_BACK,
    ],
  },
  {
    mode: taxi,
    says: [['taxi', BUS], ...publicService(taxi)],
    closes: ['taxi', 'psv'],
    oneway: ['oneway:taxi', 'oneway:psv'],
    against: [[['taxi:backward'], ['yes', 'designated']], BUS_LANES_BACK],
  },
  {
    mode: foot,
    says: [
      ['foot', FOOT],
      ['pedestrian', FOOT],
    ],
    oneway: ['oneway:foot'],
    against: [[['foot:backward'], ['yes']]],
  },
  {
    mode: bicycle,
    says: [
      ['bicycle', BICYCLE],
      ['cycleway', CYCLEWAY],
      ['bicycle_road', BICYCLE],
      ['cyclestreet', BICYCLE],
      ANY_VEHICLE,
    ],
    oneway: ['oneway:bicycle'],
    against: [
      [['bicycle:backward'], ['yes', 'no']],
      [
        ['cycleway', 'cycleway:left', 'cycleway:right'],
        ['opposite', 'opposite_lane', 'opposite_track'],
      ],
      // A lane beside a one-way street that runs against it, or both ways.
      [
        ['cycleway:oneway', 'cycleway:left:oneway', 'cycleway:right:oneway', 'cycleway:both:oneway'],
        ['-1', 'no'],
      ],
    ],
  },
  {
    mode: moped,
    says: [['moped', MOPED], ['mofa', SLOW_MOPED], ...ANY_MOTOR],
    closes: ['moped', 'mofa'],
    oneway: ['oneway:moped', 'oneway:mofa'],
    against: [[['moped:backward', 'mofa:backward'], ['yes']]],
  },
  {
    mode: motorcycle,
    says: [['motorcycle', MOTOR_VEHICLE], ...ANY_MOTOR],
    closes: ['motorcycle'],
    oneway: ['oneway:motorcycle'],
    against: [[['motorcycle:backward'], ['yes']]],
  },
]
