import type { CostOptions, Mode } from '../cost/options.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import type { Units } from '../narrate/lengths.ts'
import { readUnits } from '../request/format.ts'
import type { Limits } from '../request/limits.ts'
import { type Exclusions, type Location, checkExclusions } from '../request/location.ts'
import { type DateTime, type Format, parse, readMembers } from '../request/parts.ts'
import { RouteProblem, type Warning } from '../request/problems.ts'
import { countOf, flagOf, textOf } from '../request/read.ts'
import { readOptions } from '../request/unheeded.ts'
import type { Geometry } from '../respond/geometry.ts'

/** A request for times and distances from each source to each target. */
export interface MatrixRequest extends Exclusions {
  readonly sources: readonly Location[]
  readonly targets: readonly Location[]
  readonly mode: Mode
  readonly options: CostOptions
  readonly dateTime: DateTime | null
  readonly units: Units
  readonly verbose: boolean
  readonly format: Format
  readonly shapeFormat: Geometry
  /** Members of tables in the form of OSRM. */
  readonly tables: { readonly durations: boolean; readonly distances: boolean }
  /** Maximum number of returned cells for a single source or target, the cheapest ones; null for all. */
  readonly nearest: number | null
  readonly id: string | null
  readonly warnings: readonly Warning[]
}

const MEMBERS = { formats: ['json', 'osrm'], lists: { sources: 131, targets: 132 }, shape: 'no_shape' } as const

/**
 * Reads a request for `sources_to_targets`. Its limits are checked before any search.
 *
 * @throws RouteProblem
 */
export function readMatrixRequest(text: string, limits: Limits): MatrixRequest {
  const request = parse(text)
  const members = readMembers(request, MEMBERS, limits)
  const { format, mode, transit, dateTime, shapeFormat, exclusions, warnings } = members
  const { sources, targets } = members.places
  if (sources.length === 0 || targets.length === 0) throw new RouteProblem(112)
  if (mode === null) throw new RouteProblem(124)
  if (transit) throw new RouteProblem(140, 'sources_to_targets')
  const options = readOptions(request, { mode, given: members.given }, { limits, warnings })
  checkExclusions(exclusions, limits)
  const { pairs } = limits.matrix
  if (sources.length * targets.length > pairs) throw new RouteProblem(150, String(pairs))
  checkDistances(sources, targets, limits.matrix.meters[mode])
  return {
    sources,
    targets,
    mode,
    options,
    ...exclusions,
    dateTime,
    units: readUnits(request),
    verbose: flagOf(request.verbose) ?? true,
    format,
    shapeFormat,
    tables: readTables(request.annotations),
    nearest: readNearest(request.matrix_locations, sources, targets, warnings),
    id: textOf(request.id),
    warnings,
  }
}

/** Both tables by default: Valhalla has no such member. */
function readTables(value: unknown): { durations: boolean; distances: boolean } {
  const named = textOf(value)?.split(',') ?? []
  const durations = named.includes('duration')
  const distances = named.includes('distance')
  return durations || distances ? { durations, distances } : { durations: true, distances: true }
}

function readNearest(
  value: unknown,
  sources: readonly Location[],
  targets: readonly Location[],
  warnings: Warning[],
): number | null {
  const count = countOf(value)
  if (count === null || count >= Math.max(sources.length, targets.length)) return null
  if (sources.length === 1 || targets.length === 1) return count
  const text = '"matrix_locations" counts where there is one source or one target: all cells are told'
  warnings.push({ code: 900, text })
  return null
}

/** @throws RouteProblem 154 when a source and a target are too far apart */
export function checkDistances(sources: readonly Location[], targets: readonly Location[], most: number): void {
  for (const { lon, lat } of sources) {
    for (const target of targets) {
      if (distanceMeters(lon, lat, target.lon, target.lat) > most) throw new RouteProblem(154, `${most} meters`)
    }
  }
}
