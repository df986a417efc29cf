import { seededRandom } from '@terrane/core'

import { type Mode, RouteProblem, type Router } from '../../src/index.ts'
import { brokenTags } from './legality/broken-tags.ts'
import type { LegalityChecker, Violation } from './legality/check.ts'
import type { Vehicle } from './legality/conditions.ts'
import { decodeShape } from './compare.ts'

/** A violation and the request whose route has it. */
export interface FoundViolation extends Violation {
  readonly mode: Mode
  readonly request: string
}

export interface Tally {
  routes: number
  unreachable: number
  /** Routes that pass a way for local traffic only on their way between public ones. */
  throughLocal: number
  /** Violations of tags that a warning of the route names as not read. */
  warned: number
  violations: FoundViolation[]
}

/** Sizes in metres and tonnes that requests say: of lorries four, from a light one to a road train. */
const CAR = { height: 1.9, width: 1.6, length: 4.5, weight: 1.5 }
const VEHICLES: Partial<Record<Mode, readonly Vehicle[]>> = {
  auto: [CAR, { height: 2.9, width: 2.3, length: 7, weight: 3.5 }],
  taxi: [CAR],
  pedestrian: [{}, { type: 'wheelchair' }],
  bus: [{ height: 3.6, width: 2.55, length: 12, weight: 18 }],
  truck: [
    { height: 2.6, width: 2.1, length: 6, weight: 3.5, axle_load: 2, axle_count: 2, hazmat: false },
    { height: 3.4, width: 2.4, length: 8.5, weight: 7.49, axle_load: 5, axle_count: 2, hazmat: true },
    { height: 4, width: 2.55, length: 16.5, weight: 32, axle_load: 10, axle_count: 5, hazmat: false },
    { height: 4.11, width: 2.6, length: 25.25, weight: 60, axle_load: 11.5, axle_count: 7, hazmat: true },
  ],
}

/** Three hours of a week, as local times. */
const HOURS = ['2026-06-01T08:10', '2026-06-03T13:00', '2026-06-06T23:00']

/** Routes between random places of a map under one mode, and what an independent checker finds of them. */
export function checkRandomRoutes(
  { router, checker }: { router: Router; checker: LegalityChecker },
  { mode, routes, seed, country = '' }: { mode: Mode; routes: number; seed: number; country?: string },
): Tally {
  const random = seededRandom(seed)
  const vehicles = VEHICLES[mode] ?? [{}]
  const tally: Tally = { routes: 0, unreachable: 0, throughLocal: 0, warned: 0, violations: [] }
  const place = (): { lon: number; lat: number } => {
    const [lon, lat] = checker.map.place(Math.floor(random() * checker.map.nodeCount))
    return { lon: lon + (random() - 0.5) * 2e-4, lat: lat + (random() - 0.5) * 2e-4 }
  }
  for (let attempt = 0; attempt < 4 * routes && tally.routes < routes; attempt++) {
    // Some have a stop in the middle, where a route may turn around.
    const locations = Array.from({ length: random() < 0.15 ? 3 : 2 }, place)
    const vehicle = vehicles[Math.floor(random() * vehicles.length)]!
    // One route in four has no time; the others leave at one of three hours of a week.
    const departure = HOURS[Math.floor(random() * (HOURS.length + 1))]
    const request = {
      locations,
      costing: mode,
      costing_options: { [mode]: vehicle },
      directions_type: 'none',
      ...(departure !== undefined && { date_time: { type: 1, value: departure } }),
    }
    try {
      const { trip } = router.route(request)
      tally.routes++
      let minutes = 0
      for (const { shape, summary } of trip.legs) {
        const to = minutes + Math.ceil(summary.time / 60)
        const findings = checker.check(
          { mode, vehicle, departure, minutes: [minutes, to], country },
          decodeShape(shape),
        )
        minutes = to
        if (findings.passesLocal.length > 0) tally.throughLocal++
        const said = (trip.warnings ?? []).map(({ text }) => text)
        for (const found of findings.violations) {
          // The answer has a warning for each tag that is not supported.
          if (brokenTags(checker.map, found, mode).some((tag) => said.some((text) => text.includes(tag))))
            tally.warned++
          else tally.violations.push({ ...found, mode, request: JSON.stringify(request) })
        }
      }
    } catch (error) {
      if (!(error instanceof RouteProblem)) throw error
      tally.unreachable++
    }
  }
  return tally
}
