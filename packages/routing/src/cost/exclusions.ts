import { RoadClass, Surface, Use } from '../graph/attributes.ts'
import { EdgeField, get, TrafficField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { paysToll } from '../graph/toll.ts'
import type { CostOptions } from './option-table.ts'
import type { Profile } from './profile.ts'
import type { Vehicle } from './vehicle.ts'

/**
 * Penalty in seconds for entering or leaving an excluded street: more than the duration of any route, so that the
 * cheapest path does so as rarely as possible.
 */
const BORDER_PENALTY = 432_000

interface ExclusionInputs {
  readonly profile: Profile
  /** Bit of the mode in the access masks. */
  readonly access: number
  readonly options: CostOptions
  /** The vehicle with its limits, or null to ignore limits. */
  readonly vehicle: Vehicle | null
}

/**
 * Kinds of streets that the options of a costing exclude, and kinds that a vehicle may use for local access only. A
 * trip may begin or end on such a street, as in Valhalla 3.6 (`sif/dynamiccost.h`), whose searches from both ends never
 * enter one from another street. Edge weights cannot depend on the start of a path, so they only discourage such
 * streets, and `arePassed` checks the path found.
 */
export class Exclusions {
  readonly #kinds: readonly ((edge: number) => boolean)[]

  constructor(graph: Graph, { profile, access, options, vehicle }: ExclusionInputs) {
    const { edgeInfo, edgeTraffic } = graph
    const carries = (field: 'bridge' | 'tunnel') => (edge: number) => get(edgeTraffic[edge]!, TrafficField[field]) === 1
    const kinds: Readonly<Record<string, (edge: number) => boolean>> = {
      exclude_bridges: carries('bridge'),
      exclude_tunnels: carries('tunnel'),
      exclude_tolls: (edge) => paysToll(graph, edge, access),
      exclude_highways: (edge) => get(edgeInfo[edge]!, EdgeField.roadClass) === RoadClass.motorway,
      exclude_ferries: (edge) => FERRIES.has(get(edgeInfo[edge]!, EdgeField.use)),
      ...(profile.excludesUnpaved === true && {
        exclude_unpaved: (edge: number) => get(edgeInfo[edge]!, EdgeField.surface) >= Surface.compacted,
      }),
    }
    const tolerated = vehicle === null ? [] : [(edge: number) => vehicle.isTolerated(edge)]
    this.#kinds = [
      ...Object.keys(kinds).flatMap((name) => (options[name] === true ? [kinds[name]!] : [])),
      ...tolerated,
    ]
  }

  /** Seconds of cost on top of a turn from one edge onto another. */
  penalty(from: number, to: number): number {
    let borders = 0
    for (const is of this.#kinds) if (is(from) !== is(to)) borders++
    return BORDER_PENALTY * borders
  }

  /** Whether a path enters and leaves excluded streets. */
  arePassed(edges: readonly number[]): boolean {
    return this.#kinds.some((is) => {
      const first = edges.findIndex((edge) => !is(edge))
      const last = edges.findLastIndex((edge) => !is(edge))
      return edges.some((edge, i) => i > first && i < last && is(edge))
    })
  }
}

const FERRIES = new Set<number>([Use.ferry, Use.railFerry])
