import { RoadClass, Surface, Use } from '../graph/attributes.ts'
import type { LegalSpeeds } from './country/legal-speeds.ts'
import type { WaySpeeds } from './tags/way-speeds.ts'

export const FASTEST = 140
/** Maximum density of rural areas; denser ones are towns. */
const RURAL_DENSITY = 8
/** Speeds in towns by road class. Source of all figures here: Valhalla 3.6 `mjolnir/speed_assigner.h`. */
const TOWN_SPEEDS = [89, 73, 57, 49, 40, 35, 30, 20]
const YARD_SPEEDS: ReadonlyMap<number, number> = new Map([
  [Use.parkingAisle, 15],
  [Use.driveway, 10],
  [Use.driveThrough, 10],
])

/** Inputs for the speed of an edge. */
export interface SpeedInputs {
  readonly speeds: WaySpeeds
  readonly forward: boolean
  readonly use: number
  readonly roadClass: number
  readonly link: boolean
  readonly roundabout: boolean
  readonly surface: number
  readonly density: number
  /** Length of the way the edge is a part of. */
  readonly meters: number
  /** Duration of the way by its tag in seconds, for ferries; or zero. */
  readonly duration: number
  readonly legalSpeeds: LegalSpeeds | null
}

/** Speed of an edge in km/h, 1 … 140. */
export function edgeSpeed(edge: SpeedInputs): number {
  const { speeds, use } = edge
  const directed = edge.forward ? speeds.forward : speeds.backward
  const base = Math.min(directed || speeds.general, FASTEST)
  if (use === Use.ferry && edge.duration > 0) return Math.max(1, Math.floor((edge.meters * 3.6) / edge.duration))
  if (edge.link) return rampSpeed(edge, base)
  if (speeds.tagged) return Math.max(1, roughened(base, edge.surface))
  if (use === Use.railFerry) return 65
  // Longer crossings use faster boats.
  if (use === Use.ferry) return edge.meters < 2000 ? 10 : edge.meters < 8000 ? 20 : 30
  const usual = edge.density > RURAL_DENSITY ? TOWN_SPEEDS[edge.roadClass]! : base
  let speed = Math.min(usual, legalLimit(edge))
  if (edge.roundabout) speed = Math.floor(speed * 0.5 + 0.5)
  speed = YARD_SPEEDS.get(use) ?? speed
  return Math.max(1, edge.surface >= Surface.pavedRough ? Math.floor(speed / 2) : speed)
}

/** Legal speed of an edge without a speed limit sign; infinite without a legal limit. */
function legalLimit({ legalSpeeds, roadClass, use, density }: SpeedInputs): number {
  if (legalSpeeds === null) return Infinity
  const { motorway, urban, rural, livingStreet } = legalSpeeds
  const area = density > RURAL_DENSITY ? urban : rural
  const limit = roadClass === RoadClass.motorway ? motorway : (use === Use.livingStreet && livingStreet) || area
  return limit || Infinity
}

function rampSpeed({ speeds, use, roadClass, density }: SpeedInputs, base: number): number {
  if (use === Use.turnChannel) return Math.floor(base * 1.25 + 0.5)
  if (speeds.tagged) return base
  const crowded = roadClass <= RoadClass.primary && density > RURAL_DENSITY
  return Math.floor(base * (crowded ? 0.8 : 0.85) + 0.5)
}

/** Tagged speed in km/h, reduced on rough surfaces. */
export function roughened(speed: number, surface: number): number {
  if (surface < Surface.pavedRough) return speed
  return speed >= 50 ? speed - 10 : speed > 15 ? speed - 5 : speed
}

/**
 * Truck speed of an edge: the stricter of the general and the directed tag, else the legal speed of trucks on motorways
 * or outside of towns; zero without either.
 */
export function truckSpeed({ speeds, forward, legalSpeeds, roadClass, density }: SpeedInputs): number {
  const directed = forward ? speeds.truckForward : speeds.truckBackward
  const both = speeds.truck > 0 && directed > 0
  const tagged = Math.min(both ? Math.min(speeds.truck, directed) : Math.max(speeds.truck, directed), FASTEST)
  if (tagged > 0 || legalSpeeds === null) return tagged
  if (roadClass === RoadClass.motorway) return legalSpeeds.truckMotorway
  return density > RURAL_DENSITY ? 0 : legalSpeeds.truckRural
}
