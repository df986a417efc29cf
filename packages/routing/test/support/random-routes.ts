import { seededRandom } from '@terrane/core'

import { type Mode, RouteProblem, type Router } from '../../src/index.ts'
import type { LegalityChecker, Violation } from './legality/check.ts'
import { decodeShape } from './compare.ts'
import type { Vehicle } from './legality/conditions.ts'

/** A violation and the request whose route has it. */
export interface FoundViolation extends Violation {
  readonly mode: Mode
  readonly request: string
}

export interface Tally {
  routes: number
  unreachable: number
  /** Routes that pass a way for residents or customers only on their way between public ones. */
  throughRestricted: number
  violations: FoundViolation[]
}

/** Sizes in metres and tonnes that requests say, larger than the defaults. */
const VEHICLES: Partial<Record<Mode, Vehicle>> = {
  auto: { height: 2.2, width: 1.9 },
  taxi: { height: 2.2, width: 1.9 },
  bus: { height: 3.6, width: 2.55 },
  truck: { height: 4, width: 2.55, length: 16.5, weight: 32, axle_load: 10 },
}

/** Three hours of the week of Monday, 1 June 2026, with their minutes since Monday 00:00. */
const HOURS = [
  { value: '2026-06-01T08:10', minute: 490 },
  { value: '2026-06-03T13:00', minute: 2 * 1440 + 780 },
  { value: '2026-06-06T23:00', minute: 5 * 1440 + 1380 },
]

/** Routes between random places of a map under one mode, and what an independent checker finds of them. */
export function checkRandomRoutes(
  { router, checker }: { router: Router; checker: LegalityChecker },
  { mode, routes, seed }: { mode: Mode; routes: number; seed: number },
): Tally {
  const vehicle = VEHICLES[mode] ?? {}
  const random = seededRandom(seed)
  const tally: Tally = { routes: 0, unreachable: 0, throughRestricted: 0, violations: [] }
  const place = (): { lon: number; lat: number } => {
    const [lon, lat] = checker.map.place(Math.floor(random() * checker.map.nodeCount))
    return { lon: lon + (random() - 0.5) * 2e-4, lat: lat + (random() - 0.5) * 2e-4 }
  }
  for (let attempt = 0; attempt < 20 * routes && tally.routes < routes; attempt++) {
    // Some have a stop in the middle, where a route may turn around.
    const locations = Array.from({ length: random() < 0.15 ? 3 : 2 }, place)
    // One route in four has no time; the others leave at one of three hours of a week.
    const hour = HOURS[Math.floor(random() * 4)]
    const request = {
      locations,
      costing: mode,
      costing_options: { [mode]: vehicle },
      directions_type: 'none',
      ...(hour !== undefined && { date_time: { type: 1, value: hour.value } }),
    }
    try {
      const { trip } = router.route(request)
      tally.routes++
      for (const { shape } of trip.legs) {
        const to = (hour?.minute ?? 0) + Math.ceil(trip.summary.time / 60)
        const when = hour === undefined ? {} : { when: { from: hour.minute, to } }
        const findings = checker.check({ mode, vehicle, ...when }, decodeShape(shape))
        if (findings.passesRestricted.length > 0) tally.throughRestricted++
        tally.violations.push(
          ...findings.violations.map((found) => ({ ...found, mode, request: JSON.stringify(request) })),
        )
      }
    } catch (error) {
      if (!(error instanceof RouteProblem)) throw error
      tally.unreachable++
    }
  }
  return tally
}
