import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { bytesSource, openOsm, type OsmElement, writePbf } from '@terrane/osm'

import { buildNetwork, Router, type RouteResponse } from '../../src/index.ts'
import { ACCESS_SCENARIOS } from '../scenarios/access.ts'
import { COST_SCENARIOS } from '../scenarios/costs.ts'
import { GUIDANCE_SCENARIOS } from '../scenarios/guidance.ts'
import { LIMIT_SCENARIOS } from '../scenarios/limits.ts'
import type { Ask, Scenario } from '../scenarios/scenario.ts'
import { TURN_SCENARIOS } from '../scenarios/turns.ts'
import { drawnElements, type Places } from './ascii-map.ts'
import { decodeShape } from './compare.ts'

const SCENARIOS: readonly Scenario[] = [
  ...ACCESS_SCENARIOS,
  ...LIMIT_SCENARIOS,
  ...TURN_SCENARIOS,
  ...GUIDANCE_SCENARIOS,
  ...COST_SCENARIOS,
]

/** An ask of a scenario on the map of all scenarios. */
export interface PlacedAsk {
  readonly behaviour: string
  /** Tells the ask from all others. */
  readonly name: string
  readonly request: string
  readonly places: Places
}

/** What came of an ask: the letters on the way, what was said, seconds and cost; or an error. */
export interface Outcome {
  readonly path: string
  readonly says: readonly string[]
  readonly seconds: number
  readonly cost: number
}

/** All scenarios on one map, each far from the others, and what is asked of them. */
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

/** What an answer, the text of a response or an error, says of an ask. */
export function outcomeOf(answer: string, places: Places): Outcome {
  const { trip } = JSON.parse(answer) as Partial<RouteResponse>
  if (trip === undefined)
    return { path: (JSON.parse(answer) as { error: string }).error, says: [], seconds: 0, cost: 0 }
  const letterAt = (lon: number, lat: number): string => {
    for (const [letter, place] of places) {
      if (Math.abs(place.lon - lon) < 3e-6 && Math.abs(place.lat - lat) < 3e-6) return letter
    }
    return ''
  }
  const paths = trip.legs.map(({ shape }) => {
    const letters = decodeShape(shape).map(([lon, lat]) => letterAt(lon, lat))
    return letters.filter((letter, i) => letter !== '' && letter !== letters[i - 1]).join('')
  })
  const says = trip.legs.flatMap(({ maneuvers = [] }) =>
    maneuvers.map(({ instruction, verbal_pre_transition_instruction: cue = '' }) =>
      cue === instruction || cue === '' ? instruction : `${instruction} | ${cue}`,
    ),
  )
  const { time, cost } = trip.summary
  return { path: paths.join(' '), says, seconds: Math.round(time * 100) / 100, cost: Math.round(cost * 100) / 100 }
}

/** A router on the map of all scenarios, which drives on the left like Valhalla without boundaries of countries. */
export async function openScenarios(): Promise<{ asks: PlacedAsk[]; answer: (ask: PlacedAsk) => Outcome }> {
  const { pbf, asks } = placeScenarios()
  const network = await buildNetwork([await openOsm(bytesSource(pbf))], { drivingSide: 'left' })
  const router = new Router(network)
  return { asks, answer: ({ request, places }) => outcomeOf(router.answer(request).body, places) }
}

/** What of an answer differs from another, apart from the last digits of sums. */
export function differences(mine: Outcome, theirs: Outcome): (keyof Outcome)[] {
  return [
    ...(['path', 'says'] as const).filter((key) => JSON.stringify(mine[key]) !== JSON.stringify(theirs[key])),
    ...(['seconds', 'cost'] as const).filter((key) => !alike(mine[key], theirs[key])),
  ]
}

function alike(a: number, b: number): boolean {
  return Math.abs(a - b) <= 0.1 + 0.0005 * Math.abs(b)
}

/** What Valhalla 3.6.1 answers on the same maps, as `node bench/scenarios.bench.ts --record` wrote it down. */
export function recordedOutcomes(): ReadonlyMap<string, Outcome> {
  const text = readFileSync(join(import.meta.dirname, '../scenarios/answers.ndjson'), 'utf8')
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, Outcome]),
  )
}
