import { seededRandom } from '@terrane/core'

import { type Mode, RouteProblem, type Router } from '../../src/index.ts'
import type { LegalityChecker, Violation } from './legality/check.ts'
import { decodeShape } from './compare.ts'

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

/** Routes between random places of a map under one mode, and what an independent checker finds of them. */
export function checkRandomRoutes(
  { router, checker }: { router: Router; checker: LegalityChecker },
  { mode, routes, seed }: { mode: Mode; routes: number; seed: number },
): Tally {
  const random = seededRandom(seed)
  const tally: Tally = { routes: 0, unreachable: 0, throughRestricted: 0, violations: [] }
  const place = (): { lon: number; lat: number } => {
    const [lon, lat] = checker.map.place(Math.floor(random() * checker.map.nodeCount))
    return { lon: lon + (random() - 0.5) * 2e-4, lat: lat + (random() - 0.5) * 2e-4 }
  }
  for (let attempt = 0; attempt < 20 * routes && tally.routes < routes; attempt++) {
    // Some have a stop in the middle, where a route may turn around.
    const locations = Array.from({ length: random() < 0.15 ? 3 : 2 }, place)
    const request = { locations, costing: mode, directions_type: 'none' }
    try {
      const { trip } = router.route(request)
      tally.routes++
      for (const { shape } of trip.legs) {
        const findings = checker.check(mode, decodeShape(shape))
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
