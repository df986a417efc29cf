import type { Ground } from '../ground.ts'
import type { LocateRequest } from '../locate/request.ts'
import { RouteProblem } from '../request/problems.ts'
import { degreesOf } from '../respond/numbers.ts'
import type { Candidate } from '../snap/candidate.ts'

/** Successive search radii for streets in metres, until there are enough. */
const RADIUSES = [0, 50, 200, 1000] as const

/** The nearest streets of a location, each at its nearest point, in the form of OSRM's service `nearest`. */
export function nearestOf(ground: Ground, { locations, mode, options, number }: LocateRequest): object {
  const [location] = locations
  if (mode === null) throw new RouteProblem(124)
  const prepared = ground.costings.get(mode, options)
  let found: Candidate[] = []
  for (const radius of RADIUSES) {
    const nodes = location!.minimumReachability
    const snapped = ground.snap(prepared, { ...location!, radius }, { inbound: nodes, outbound: nodes })
    if (snapped === null) throw new RouteProblem(171)
    found = streetsOf(ground, snapped.candidates)
    if (found.length >= number) break
  }
  const waypoints = found.slice(0, number).map(({ edge, lon, lat, meters }) => ({
    name: ground.texts.names(edge)[0]?.text ?? '',
    location: [degreesOf(lon), degreesOf(lat)],
    distance: Math.round(meters * 1000) / 1000,
  }))
  return { code: 'Ok', waypoints }
}

/** One candidate per street, nearest first: both directions count as one. */
function streetsOf({ network: { graph } }: Ground, candidates: readonly Candidate[]): Candidate[] {
  const streets = new Map<number, Candidate>()
  for (const candidate of candidates.toSorted((a, b) => a.meters - b.meters)) {
    const shape = graph.edgeShape[candidate.edge]!
    if (!streets.has(shape)) streets.set(shape, candidate)
  }
  return [...streets.values()]
}
