import { type CostOptions, costOptions, type Mode } from '../cost/options.ts'
import type { Limits } from '../request/limits.ts'
import { type Location, readLocations } from '../request/location.ts'
import { parse, readCosting } from '../request/parts.ts'
import { RouteProblem, type Warning } from '../request/problems.ts'
import { flagOf, integerOf, textOf } from '../request/read.ts'

/** A request for the streets at some locations. */
export interface LocateRequest {
  readonly locations: readonly Location[]
  /** Null without a costing; then every street counts. */
  readonly mode: Mode | null
  readonly options: CostOptions
  readonly verbose: boolean
  /** Form of the answer; OSRM's has the `number` nearest streets. */
  readonly form: 'json' | 'osrm'
  readonly number: number
}

/**
 * Reads a request for `locate`.
 *
 * @throws RouteProblem
 */
export function readLocateRequest(text: string, limits: Limits): LocateRequest {
  const request = parse(text)
  // The answer is a list without members for warnings.
  const unheard: Warning[] = []
  const { mode, given } = readCosting(request, unheard)
  const locations = readLocations(request.locations, 130, limits)
  if (locations.length === 0) throw new RouteProblem(110)
  if (locations.length > limits.locate) throw new RouteProblem(150, String(limits.locate))
  return {
    locations,
    mode,
    options: mode === null ? {} : costOptions(mode, given),
    verbose: flagOf(request.verbose) ?? false,
    form: textOf(request.format) === 'osrm' ? 'osrm' : 'json',
    number: readNumber(request.number, limits.locate),
  }
}

/** @throws RouteProblem 150 when the value is not a number or exceeds the maximum */
function readNumber(value: unknown, most: number): number {
  const number = value === undefined ? 1 : integerOf(value)
  if (number === null || number < 1 || number > most) throw new RouteProblem(150, `number is 1 to ${most}`)
  return number
}
