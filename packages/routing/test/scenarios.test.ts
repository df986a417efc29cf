import { describe, expect, it } from 'vitest'

import answers from './scenarios/answers.json' with { type: 'json' }
import { type Outcome, openScenarios } from './support/scenario-town.ts'

// What Valhalla 3.6.1 answers on the same maps, as `node bench/scenarios.bench.ts --record` wrote it down.
const recorded = answers as Readonly<Record<string, Outcome>>
const { asks, answer } = await openScenarios()

describe('as Valhalla does it', () => {
  it.each(asks.map((ask) => [ask.name, ask] as const))('%s', (name, ask) => {
    const theirs = recorded[name]!
    const mine = answer(ask)
    expect(mine.path).toBe(theirs.path)
    expect(mine.says).toEqual(theirs.says)
    expect(Math.abs(mine.seconds - theirs.seconds)).toBeLessThanOrEqual(1 + theirs.seconds * 0.02)
  })
})
