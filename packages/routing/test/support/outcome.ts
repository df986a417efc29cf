import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { RouteResponse } from '../../src/respond/response.ts'
import type { Places } from './ascii-map.ts'
import { decodeShape } from './compare.ts'

/** Result of a request: the letters on the way, the instructions, seconds and cost; or an error. */
export interface Outcome {
  readonly path: string
  readonly says: readonly string[]
  readonly seconds: number
  readonly cost: number
}

/** Reads an outcome from the text of a response or an error. */
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

/** Members that differ between two outcomes, apart from the last digits of sums. */
export function differences(mine: Outcome, theirs: Outcome): (keyof Outcome)[] {
  return [
    ...(['path', 'says'] as const).filter((key) => JSON.stringify(mine[key]) !== JSON.stringify(theirs[key])),
    ...(['seconds', 'cost'] as const).filter((key) => !alike(mine[key], theirs[key])),
  ]
}

function alike(a: number, b: number): boolean {
  return Math.abs(a - b) <= 0.1 + 0.0005 * Math.abs(b)
}

/** Answers of Valhalla 3.6.1 on the same maps, as `node bench/scenarios.bench.ts --record` wrote it down. */
export function recordedOutcomes(): ReadonlyMap<string, Outcome> {
  const text = readFileSync(join(import.meta.dirname, '../scenarios/answers.ndjson'), 'utf8')
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, Outcome]),
  )
}
