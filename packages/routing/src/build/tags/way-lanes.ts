import { Access, CycleLane, Use } from '../../graph/attributes.ts'
import type { WayAccess } from './way-access.ts'
import { leadingNumber, type Tags } from './values.ts'

/** Facilities along a way for each direction of travel, such as lanes. */
export interface DirectedLanes {
  readonly lanes: number
  readonly cycleLane: number
  readonly shoulder: boolean
}

const MOST_LANES = 15

/** Lanes, cycle lanes and shoulder of a way, seen along (`forward`) or against its node order. */
export function directedLanes(
  tags: Tags,
  access: WayAccess,
  use: number,
  forward: boolean,
  driveOnRight: boolean,
): DirectedLanes {
  return {
    lanes: laneCount(tags, access, forward),
    cycleLane: directedCycleLane(cycleLanes(tags, access, use), access, forward, driveOnRight),
    shoulder: hasShoulder(tags, access, forward === driveOnRight ? 'right' : 'left'),
  }
}

function laneCount(tags: Tags, access: WayAccess, forward: boolean): number {
  const count = (key: string): number | undefined => {
    const number = leadingNumber(tags.get(key))
    return number === undefined || number > MOST_LANES ? undefined : number
  }
  const ahead = count('lanes:forward')
  const back = count('lanes:backward')
  if (ahead !== undefined && back !== undefined) return Math.max(1, forward ? ahead : back)
  const all = count('lanes') ?? 0
  return Math.max(1, access.oneway || access.reversed ? all : Math.floor(all / 2))
}

interface CycleLanes {
  readonly left: number
  readonly right: number
  /** Whether the lane on that side runs against the traffic beside it. */
  readonly leftOpposite: boolean
  readonly rightOpposite: boolean
}

const LANES: ReadonlyMap<string, number> = new Map([
  ...['shared_lane', 'share_busway', 'shared'].map((value) => [value, CycleLane.shared] as const),
  ...['opposite_lane', 'lane', 'buffered_lane'].map((value) => [value, CycleLane.dedicated] as const),
  ...['opposite_track', 'track'].map((value) => [value, CycleLane.separated] as const),
])
const OPPOSITE = new Set(['opposite', 'opposite_lane', 'opposite_track'])

function cycleLanes(tags: Tags, access: WayAccess, use: number): CycleLanes {
  if (PATHS.has(use) && ((access.forward | access.backward) & Access.bicycle) !== 0) {
    const lane = pathLane(tags, access, use)
    return { left: lane, right: lane, leftOpposite: false, rightOpposite: false }
  }
  const side = (name: string): number => LANES.get(tags.get(`cycleway:${name}`) ?? '') ?? buffered(tags, name)
  const both = LANES.get(tags.get('cycleway') ?? '') ?? buffered(tags, 'both')
  const left = both === CycleLane.none ? side('left') : both
  const right = both === CycleLane.none ? side('right') : both
  const bothOpposite = OPPOSITE.has(tags.get('cycleway') ?? '')
  const leftOpposite = bothOpposite || OPPOSITE.has(tags.get('cycleway:left') ?? '')
  const rightOpposite = bothOpposite || OPPOSITE.has(tags.get('cycleway:right') ?? '')
  const lanes = { left, right, leftOpposite, rightOpposite }
  if (tags.get('oneway:bicycle') !== 'no' || leftOpposite || rightOpposite) return lanes
  return twoWayLane(lanes, access.oneway)
}

const PATHS = new Set<number>([Use.cycleway, Use.footway, Use.path])

/** Cycle lane of a path: its separation from pedestrians. */
function pathLane(tags: Tags, access: WayAccess, use: number): number {
  if ((access.forward & Access.foot) === 0) return CycleLane.separated
  const segregated = tags.get('segregated')
  if (segregated === 'yes') return CycleLane.dedicated
  if (segregated === 'no') return CycleLane.shared
  return use === Use.cycleway ? CycleLane.dedicated : CycleLane.shared
}

function buffered(tags: Tags, side: string): number {
  return tags.get(`cycleway:${side}:buffer`) === 'yes' ? CycleLane.dedicated : CycleLane.none
}

/** Adds the opposite direction of a two-way lane on one side. */
function twoWayLane(lanes: CycleLanes, oneway: boolean): CycleLanes {
  const { left, right } = lanes
  if (right >= CycleLane.dedicated) {
    if (oneway) return { ...lanes, left: right, leftOpposite: true }
    if (left === CycleLane.none) return { ...lanes, left: right }
  } else if (left >= CycleLane.dedicated) {
    if (oneway) return { ...lanes, right: left, rightOpposite: true }
    if (right === CycleLane.none) return { ...lanes, right: left }
  }
  return lanes
}

function directedCycleLane(lanes: CycleLanes, access: WayAccess, forward: boolean, driveOnRight: boolean): number {
  const ahead = (access.forward & Access.bicycle) !== 0
  const back = (access.backward & Access.bicycle) !== 0
  let rightAhead = true
  let leftAhead = true
  if (!ahead && back) {
    rightAhead = leftAhead = false
  } else if (ahead && back && access.oneway) {
    rightAhead = lanes.rightOpposite === access.reversed
    leftAhead = lanes.leftOpposite === access.reversed
  } else if (ahead === back) {
    rightAhead = lanes.rightOpposite ? !driveOnRight : driveOnRight
    leftAhead = lanes.leftOpposite ? driveOnRight : !driveOnRight
  }
  return Math.max(rightAhead === forward ? lanes.right : 0, leftAhead === forward ? lanes.left : 0)
}

const SHOULDER: Readonly<Record<string, boolean>> = { yes: true, both: true, no: false }

function hasShoulder(tags: Tags, access: WayAccess, side: 'left' | 'right'): boolean {
  const value = tags.get('shoulder')
  const both = SHOULDER[value ?? ''] ?? SHOULDER[tags.get('shoulder:both') ?? '']
  if (both !== undefined) return both
  const on = (name: string): boolean => SHOULDER[tags.get(`shoulder:${name}`) ?? ''] ?? value === name
  // On a one-way street the tagged side counts, left or right.
  return on(side) || (access.oneway && on(side === 'left' ? 'right' : 'left'))
}
