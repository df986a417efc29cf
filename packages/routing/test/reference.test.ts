// Whole answers beside those of a router that finds its paths with ngraph.path.
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { MODES, type Network, RouteProblem, Router } from '../src/index.ts'
import { openTown, placeAt } from './support/town.ts'

const PAIRS = 25
let network: Network
let router: Router
let reference: Router

beforeAll(async () => {
  network = await openTown()
  router = new Router(network)
  reference = new Router(network, { search: 'ngraph.path' })
})
afterAll(async () => {
  await router.close()
  await reference.close()
})

/** Cost and ends of a path, or the error; two paths may cost the same, so shapes may differ. */
function outcome(engine: Router, request: Record<string, unknown>): object {
  try {
    const { summary } = engine.route(request).trip
    return { time: summary.time, length: summary.length }
  } catch (error) {
    if (error instanceof RouteProblem) return error.body
    throw error
  }
}

describe.each(MODES)('by %s', (costing) => {
  it.each([
    ['', () => ({})],
    [', with a place to avoid', () => ({ exclude_locations: [placeAt(network, 0.5, 0.5)] })],
  ])('the routes equal those of ngraph.path%s', (_, more) => {
    const random = seededRandom(MODES.indexOf(costing) + 1)
    const place = () => placeAt(network, random(), random())
    let routes = 0
    for (let i = 0; i < PAIRS; i++) {
      const request = { locations: [place(), place()], costing, ...more() }
      const expected = outcome(reference, request)
      expect(outcome(router, request), JSON.stringify(request)).toEqual(expected)
      if ('time' in expected) routes++
    }
    expect(routes).toBeGreaterThan(PAIRS / 3)
  })
})
