import { describe, expect, it } from 'vitest'

import { differences, recordedOutcomes } from './support/outcome.ts'
import { openScenarios } from './support/scenario-town.ts'

const recorded = recordedOutcomes()
const { asks, answer } = await openScenarios()

describe('as Valhalla does it', () => {
  it.each(asks.map((ask) => [ask.name, ask] as const))('%s', (name, ask) => {
    const theirs = recorded.get(name)!
    const mine = answer(ask)
    // Whole outcomes where they differ, so that a failure shows both.
    expect(differences(mine, theirs).length === 0 ? theirs : mine).toEqual(theirs)
  })
})
