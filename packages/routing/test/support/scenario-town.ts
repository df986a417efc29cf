import { bytesSource, openOsm, type OsmElement, writePbf } from '@terrane/osm'

import { buildNetwork, type Network, Router } from '../../src/index.ts'
import { ACCESS_SCENARIOS } from '../scenarios/access.ts'
import { COST_SCENARIOS } from '../scenarios/costs.ts'
import { CROSSING_SCENARIOS } from '../scenarios/crossings.ts'
import { GUIDANCE_SCENARIOS } from '../scenarios/guidance.ts'
import { LIMIT_SCENARIOS } from '../scenarios/limits.ts'
import type { Ask, Scenario } from '../scenarios/scenario.ts'
import { TURN_SCENARIOS } from '../scenarios/turns.ts'
import { drawnElements, type Places } from './ascii-map.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

const SCENARIOS: readonly Scenario[] = [
  ...ACCESS_SCENARIOS,
  ...LIMIT_SCENARIOS,
  ...TURN_SCENARIOS,
  ...GUIDANCE_SCENARIOS,
  ...COST_SCENARIOS,
  ...CROSSING_SCENARIOS,
]

/** An ask of a scenario on the map of all scenarios. */
export interface PlacedAsk {
  readonly behaviour: string
  /** Tells the ask from all others. */
  readonly name: string
  readonly request: string
  readonly places: Places
}

/** All scenarios on one map, each far from the others, and their requests. */
export function placeScenarios(): { pbf: Buffer; asks: PlacedAsk[] } {
  const elements: OsmElement[] = []
  const asks: PlacedAsk[] = []
  SCENARIOS.forEach((scenario, i) => {
    const origin = { lon: 5 + (i % 10) * 0.4, lat: 48 + Math.floor(i / 10) * 0.4 }
    const drawn = drawnElements({ ...scenario, origin, firstId: i * 10_000 })
    elements.push(...drawn.elements, ...gridOf(scenario.grid ?? 0, origin, i * 10_000 + 1000))
    for (const ask of scenario.asks) asks.push(placeAsk(scenario.behaviour, ask, drawn.places))
  })
  const order = ['node', 'way', 'relation']
  elements.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type) || a.id - b.id)
  return { pbf: Buffer.concat([...writePbf(elements)]), asks }
}

const GRID_DEGREES = 0.0006

/** Streets that cross each other, around a place. */
function gridOf(count: number, { lon, lat }: { lon: number; lat: number }, firstId: number): OsmElement[] {
  const range = Array.from({ length: count }, (_, i) => i)
  const id = (x: number, y: number): number => firstId + y * count + x
  const at = (step: number): number => (step - count / 2 + 0.3) * GRID_DEGREES
  const nodes = range.flatMap((y) =>
    range.map((x) => ({
      type: 'node' as const,
      id: id(x, y),
      lon: round7(lon + at(x) * 1.5),
      lat: round7(lat + at(y)),
      tags: {},
    })),
  )
  const way = (number: number, refs: number[]): OsmElement => {
    return { type: 'way', id: firstId + number, refs, tags: { highway: 'residential' } }
  }
  return [
    ...nodes,
    ...range.map((y) =>
      way(
        y,
        range.map((x) => id(x, y)),
      ),
    ),
    ...range.map((x) =>
      way(
        count + x,
        range.map((y) => id(x, y)),
      ),
    ),
  ]
}

function round7(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7
}

function placeAsk(behaviour: string, ask: Ask, places: Places): PlacedAsk {
  const { go, costing = 'auto', options, at, more, stop = 'break' } = ask
  const locations = Array.from(go, (letter, i) => ({
    ...places.get(letter)!,
    type: i > 0 && i < go.length - 1 ? stop : 'break',
    ...at,
  }))
  const said = { ...(stop !== 'break' && { stop }), ...options, ...at, ...more }
  const extra = Object.entries(said).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
  return {
    behaviour,
    name: `${behaviour}: ${go} by ${costing}${extra.join('')}`,
    request: JSON.stringify({
      locations,
      costing,
      ...(options && { costing_options: { [costing]: options } }),
      ...more,
    }),
    places,
  }
}

/** The map of all scenarios, where one drives on the left as in Valhalla without boundaries of countries. */
export async function scenarioNetwork(pbf = placeScenarios().pbf): Promise<Network> {
  return buildNetwork([await openOsm(bytesSource(pbf))], { drivingSide: 'left' })
}

/** Requests on the map of all scenarios, and a router that answers them. */
export async function openScenarios(): Promise<{ asks: PlacedAsk[]; answer: (ask: PlacedAsk) => Outcome }> {
  const { pbf, asks } = placeScenarios()
  const router = new Router(await scenarioNetwork(pbf))
  // Hierarchies are not customized for costing options, because each is used only a few times.
  await router.close()
  return { asks, answer: ({ request, places }) => outcomeOf(router.answer(request).body, places) }
}
