import { turnDegrees } from '../geometry/geodesy.ts'
import { Turn, turnOf, Use } from '../graph/attributes.ts'
import { Kind, type Maneuver } from '../guide/maneuver.ts'
import type { GuidedLeg } from '../guide/steps.ts'

const MODIFIERS: Readonly<Record<number, string>> = {
  [Turn.straight]: 'straight',
  [Turn.slightRight]: 'slight right',
  [Turn.right]: 'right',
  [Turn.sharpRight]: 'sharp right',
  [Turn.reverse]: 'uturn',
  [Turn.sharpLeft]: 'sharp left',
  [Turn.left]: 'left',
  [Turn.slightLeft]: 'slight left',
}

const KIND_MODIFIERS: ReadonlyMap<number, string> = new Map([
  ...[Kind.slightRight, Kind.stayRight, Kind.exitRight, Kind.mergeRight].map((kind) => [kind, 'slight right'] as const),
  ...[Kind.slightLeft, Kind.stayLeft, Kind.exitLeft, Kind.mergeLeft].map((kind) => [kind, 'slight left'] as const),
  ...[Kind.right, Kind.startRight, Kind.destinationRight].map((kind) => [kind, 'right'] as const),
  ...[Kind.left, Kind.startLeft, Kind.destinationLeft].map((kind) => [kind, 'left'] as const),
  ...[Kind.uturnRight, Kind.uturnLeft].map((kind) => [kind, 'uturn'] as const),
  [Kind.sharpRight, 'sharp right'],
  [Kind.sharpLeft, 'sharp left'],
])

/** Kinds whose direction follows from their angle. */
const BY_ANGLE = new Set<number>([Kind.roundaboutEnter, Kind.roundaboutExit, Kind.ferryEnter, Kind.ferryExit])

/** Direction of a maneuver in OSRM's terms; empty for departure and arrival straight ahead. */
export function osrmModifier({ kind }: Maneuver, before: number, after: number): string {
  if (kind === Kind.start || kind === Kind.destination) return ''
  const turn = turnOf(turnDegrees(before, after))
  if (kind === Kind.rampRight) return turn === Turn.right ? 'right' : 'slight right'
  if (kind === Kind.rampLeft) return turn === Turn.left ? 'left' : 'slight left'
  if (BY_ANGLE.has(kind)) return MODIFIERS[turn]!
  return KIND_MODIFIERS.get(kind) ?? 'straight'
}

const MERGES = new Set<number>([Kind.merge, Kind.mergeLeft, Kind.mergeRight])
const FORKS = new Set<number>([Kind.stayStraight, Kind.stayLeft, Kind.stayRight])
const OFF_RAMPS = new Set<number>([Kind.exitLeft, Kind.exitRight])
const RAMPS = new Set<number>([Kind.rampStraight, Kind.rampLeft, Kind.rampRight])
const NEW_NAMES = new Set<number>([Kind.continue, Kind.becomes])

/**
 * Type of a maneuver between the first and the last in the words of OSRM, as Valhalla 3.6 derives it.
 *
 * @param previous the previous maneuver and its number of crossings
 */
export function osrmType(
  leg: GuidedLeg,
  maneuver: Maneuver,
  modifier: string,
  previous: { maneuver: Maneuver; crossings: number },
): string {
  const { kind } = maneuver
  if (maneuver.travelMode !== previous.maneuver.travelMode) return 'notification'
  if (kind === Kind.roundaboutEnter) return maneuver.names.length > 0 ? 'rotary' : 'roundabout'
  if (kind === Kind.roundaboutExit) return previous.maneuver.names.length > 0 ? 'exit rotary' : 'exit roundabout'
  if (MERGES.has(kind)) return 'merge'
  if (FORKS.has(kind)) return 'fork'
  if (OFF_RAMPS.has(kind)) return 'off ramp'
  if (RAMPS.has(kind)) return maneuver.turnDegrees > 329 || maneuver.turnDegrees < 31 ? 'on ramp' : 'turn'
  if (NEW_NAMES.has(kind)) return 'new name'
  if (previous.crossings > 1 && endsRoad(leg, maneuver.beginNode)) return 'end of road'
  if (leg.crossings(maneuver.beginNode).length === 0 && changesName(leg, maneuver.beginNode)) return 'new name'
  return modifier === 'uturn' || maneuver.toStayOn ? 'continue' : 'turn'
}

/** Whether a street ends at a T-junction. */
function endsRoad(leg: GuidedLeg, node: number): boolean {
  const [other, ...more] = leg.crossings(node)
  const before = leg.steps[node - 1]!
  if (other === undefined || more.length > 0 || before.use === Use.ramp || other.sameNameBefore) return false
  const arms = [leg.steps[node]!.beginHeading, other.heading]
  const turns = new Set(arms.map((to) => turnOf(turnDegrees(before.endHeading, to))))
  return turns.has(Turn.right) && turns.has(Turn.left)
}

function changesName(leg: GuidedLeg, node: number): boolean {
  const before = leg.steps[node - 1]!.names
  const after = leg.steps[node]!.names
  return before.length > 0 && before.length === after.length && before[0]!.text !== after[0]!.text
}
