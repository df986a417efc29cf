import { UNLIMITED } from '../../graph/attributes.ts'
import { kilometresPerHour, leadingNumber, type Tags } from './values.ts'

/** Speeds of a way in km/h; zero where untagged. */
export interface WaySpeeds {
  readonly general: number
  readonly forward: number
  readonly backward: number
  /** Speed limit in km/h; `UNLIMITED` for `none`, zero where untagged. */
  readonly limit: number
  /** Whether the speed is tagged; then neither density nor class changes it. */
  readonly tagged: boolean
  readonly truck: number
  readonly truckForward: number
  readonly truckBackward: number
}

/** Speeds in km/h by road class for untagged ways. Source: Valhalla 3.6 `lua/graph.lua`. */
const CLASS_SPEEDS = [105, 90, 75, 60, 50, 40, 35, 25]
const TRACK_SPEEDS: Readonly<Record<string, number>> = { grade1: 20, grade2: 15, grade3: 12, grade4: 10 }

/** Speeds of a way by its tags, else by its class. */
export function waySpeeds(tags: Tags, roadClass: number, oneway: boolean): WaySpeeds {
  const of = (key: string): number => kilometresPerHour(tags.get(key)) ?? 0
  let fallback = CLASS_SPEEDS[roadClass]!
  if (tags.get('service') === 'driveway') fallback = Math.floor(fallback / 2)
  if (tags.get('highway') === 'track') fallback = TRACK_SPEEDS[tags.get('tracktype') ?? ''] ?? 5
  const said = of('maxspeed:practical') || of('maxspeed:advisory') || of('maxspeed')
  let forward = of('maxspeed:forward')
  let backward = of('maxspeed:backward')
  const oneSided = forward > 0 !== backward > 0
  if (oneSided && !oneway) forward = backward = Math.max(forward, backward)
  return {
    general: oneSided && oneway ? fallback : said || (forward > 0 ? 0 : fallback),
    forward,
    backward,
    limit: tags.get('maxspeed') === 'none' ? UNLIMITED : of('maxspeed'),
    // `maxspeed=none` counts as a tagged speed.
    tagged: said > 0 || forward > 0 || backward > 0 || tags.get('maxspeed') === 'none',
    truck: of('maxspeed:hgv'),
    truckForward: of('maxspeed:hgv:forward'),
    truckBackward: of('maxspeed:hgv:backward'),
  }
}

/** Seconds of a duration tag `h:mm` or `h:mm:ss`; zero for anything else. */
export function durationOf(value: string | undefined): number {
  const parts = value?.split(':').map((part) => leadingNumber(part.trim()) ?? Number.NaN) ?? []
  if (parts.length < 2 || parts.length > 3 || parts.some(Number.isNaN)) return 0
  return parts[0]! * 3600 + parts[1]! * 60 + (parts[2] ?? 0)
}
