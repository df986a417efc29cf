import type { JSX } from 'preact'
import { CopyButton } from '../../components/basics.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { formatDuration } from '../../lib/format.ts'
import type { Leg, RouteRequest, Trip } from '../../lib/routing.ts'
import { stopName } from './stops.ts'

/** The routes that were found; hidden where there is only one. */
export function RouteChoice(props: {
  trips: readonly Trip[]
  chosen: number
  units: RouteRequest['units']
  onChoose: (index: number) => void
}): JSX.Element | null {
  const { trips, chosen, units, onChoose } = props
  if (trips.length < 2) return null
  return (
    <div class="route-choice" role="group" aria-label="Routes">
      {trips.map(({ summary }, i) => (
        <button key={i} type="button" class="button" aria-pressed={i === chosen} onClick={() => onChoose(i)}>
          <strong class="nums">{formatDuration(summary.time)}</strong>
          <span class="small dim nums">{formatLength(summary.length, units)}</span>
        </button>
      ))}
    </div>
  )
}

type Line = readonly [number, number][]

/** Length and duration of a route, and its maneuvers. Choosing one shows its part of the route. */
export function Itinerary(props: {
  trip: Trip
  /** The line of each leg. */
  lines: readonly Line[]
  units: RouteRequest['units']
  onLook: (stretch: Line) => void
}): JSX.Element {
  const { trip, lines, units, onLook } = props
  const line = { type: 'MultiLineString', coordinates: lines }
  return (
    <section aria-label="Itinerary">
      <div class="summary">
        <strong>{formatDuration(trip.summary.time)}</strong>
        <span class="dim nums">{formatLength(trip.summary.length, units)}</span>
        <span class="copy-line" title="Copy the line as GeoJSON">
          <CopyButton text={JSON.stringify(line)} />
        </span>
      </div>
      {trip.legs.map((leg, i) => (
        <div key={i}>
          {trip.legs.length > 1 && (
            <h2 class="leg-title">
              {stopName(i)} to {stopName(i + 1)}
              <span class="small dim nums">
                {formatDuration(leg.summary.time)}, {formatLength(leg.summary.length, units)}
              </span>
            </h2>
          )}
          <Maneuvers leg={leg} line={lines[i] ?? []} units={units} onLook={onLook} />
        </div>
      ))}
    </section>
  )
}

function Maneuvers(props: {
  leg: Leg
  line: Line
  units: RouteRequest['units']
  onLook: (stretch: Line) => void
}): JSX.Element {
  const { leg, line, units, onLook } = props
  return (
    <ol class="maneuvers">
      {leg.maneuvers?.map((maneuver, i) => (
        <li key={i}>
          <button
            type="button"
            onClick={() => onLook(line.slice(maneuver.begin_shape_index, maneuver.end_shape_index + 1))}
          >
            <Icon name={iconOf(maneuver.type)} size={18} />
            <span>{maneuver.instruction}</span>
            <span class="small dim nums">{maneuver.length > 0 ? formatLength(maneuver.length, units) : ''}</span>
          </button>
        </li>
      ))}
    </ol>
  )
}

const FEET = 5280

function formatLength(length: number, units: RouteRequest['units']): string {
  if (units === 'miles') {
    return length < 0.19 ? `${Math.round((length * FEET) / 10) * 10} ft` : `${length.toFixed(length < 10 ? 1 : 0)} mi`
  }
  return length < 1 ? `${Math.round(length * 1000)} m` : `${length.toFixed(length < 10 ? 1 : 0)} km`
}

/** Maneuver types by the numbers of the routing engine. */
const TURNS: readonly (readonly [IconName, readonly number[]])[] = [
  ['start', [1, 2, 3]],
  ['arrive', [4, 5, 6]],
  ['right', [9, 10, 11, 18, 20, 23]],
  ['turn', [12, 13, 26, 27]],
  ['left', [14, 15, 16, 19, 21, 24]],
]

function iconOf(type: number): IconName {
  return TURNS.find(([, types]) => types.includes(type))?.[0] ?? 'straight'
}
