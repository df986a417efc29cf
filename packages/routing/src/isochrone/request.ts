import type { CostOptions, Mode } from '../cost/options.ts'
import type { Limits } from '../request/limits.ts'
import { type Exclusions, type Location, checkExclusions } from '../request/location.ts'
import { type DateTime, parse, readMembers } from '../request/parts.ts'
import { RouteProblem, type Warning } from '../request/problems.ts'
import { flagOf, isObject, type Json, numberOf, textOf } from '../request/read.ts'
import { MEMBER_UNHEEDED, readOptions } from '../request/unheeded.ts'

/** A requested contour, in minutes or kilometres. */
export interface Contour {
  readonly metric: 'time' | 'distance'
  /** Minutes or kilometres, as requested. */
  readonly value: number
  /** Six hexadecimal digits; null for a default colour. */
  readonly color: string | null
}

/** A request for the area that is reachable from a location, or from which a location is reachable. */
export interface IsochroneRequest extends Exclusions {
  readonly location: Location
  readonly mode: Mode
  readonly options: CostOptions
  readonly dateTime: DateTime | null
  /** Outermost first, those of distance before those of time. */
  readonly contours: readonly Contour[]
  readonly polygons: boolean
  readonly reverse: boolean
  readonly showLocations: boolean
  /** Minimum size of a shown area, as a share of the largest area; null hides noise only. */
  readonly denoise: number | null
  /** Tolerance for simplifying lines in metres; null for the least that their precision allows. */
  readonly generalize: number | null
  readonly id: string | null
  readonly warnings: readonly Warning[]
}

const MEMBERS = { formats: ['json'], lists: { locations: 130 }, shape: null } as const

/**
 * Reads a request for `isochrone`.
 *
 * @throws RouteProblem
 */
export function readIsochroneRequest(text: string, limits: Limits): IsochroneRequest {
  const request = parse(text)
  const members = readMembers(request, MEMBERS, limits)
  const { mode, transit, dateTime, exclusions, warnings } = members
  const { locations } = members.places
  const contours = readContours(request.contours, limits)
  if (locations.length === 0) throw new RouteProblem(110)
  if (mode === null) throw new RouteProblem(124)
  if (transit) throw new RouteProblem(140, 'isochrone')
  if (locations.length > 1) throw new RouteProblem(150, '1')
  const reverse = flagOf(request.reverse) ?? false
  if (dateTime?.type === 'arrive') throw new RouteProblem(142)
  if (dateTime !== null && reverse) {
    warnings.push({
      code: MEMBER_UNHEEDED,
      text: '"date_time" is not supported with "reverse": rules that hold at all times hold',
    })
  }
  const options = readOptions(request, { mode, given: members.given }, { limits, warnings })
  checkExclusions(exclusions, limits)
  const denoise = numberOf(request.denoise)
  const generalize = numberOf(request.generalize)
  return {
    location: locations[0]!,
    mode,
    options,
    ...exclusions,
    dateTime: reverse ? null : dateTime,
    contours,
    polygons: flagOf(request.polygons) ?? false,
    reverse,
    showLocations: flagOf(request.show_locations) ?? false,
    denoise: denoise === null ? null : Math.max(0, Math.min(1, denoise)),
    generalize: generalize === null || !Number.isFinite(generalize) || generalize < 0 ? null : generalize,
    id: textOf(request.id),
    warnings,
  }
}

function readContours(value: unknown, { isochrone: limits }: Limits): Contour[] {
  const list = Array.isArray(value) ? value.filter(isObject) : []
  if (list.length === 0) throw new RouteProblem(113)
  const contours = list.flatMap((item) => {
    const lines = [...lineOf(item, 'distance'), ...lineOf(item, 'time')]
    if (lines.length === 0) throw new RouteProblem(111)
    return lines
  })
  for (const { metric, value: size } of contours) {
    if (metric === 'time' && size > limits.minutes) throw new RouteProblem(151, String(limits.minutes))
    if (metric === 'distance' && size > limits.kilometers) throw new RouteProblem(166, String(limits.kilometers))
  }
  if (list.length > limits.contours) throw new RouteProblem(152, String(limits.contours))
  return contours
    .filter(({ value: size }) => size > 0)
    .toSorted((a, b) => (a.metric === b.metric ? b.value - a.value : a.metric === 'distance' ? -1 : 1))
}

function lineOf(item: Json, metric: Contour['metric']): Contour[] {
  const value = numberOf(item[metric])
  if (value === null || Number.isNaN(value)) return []
  const color = /^#?([0-9a-f]{6})$/i.exec(textOf(item.color) ?? '')?.[1]?.toLowerCase() ?? null
  return [{ metric, value, color }]
}
