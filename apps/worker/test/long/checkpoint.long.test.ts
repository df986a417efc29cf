import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { CASES, expectSame, openCheckpointCases } from '../checkpoint-cases.ts'
import { ALL_FAULTS } from './task-cases.ts'

const STOPS = ALL_FAULTS ? 10 : 2

let close: AsyncDisposable
beforeAll(async () => {
  close = await openCheckpointCases()
})
afterAll(() => close[Symbol.asyncDispose]())

describe(`checkpoints (${testLane()})`, () => {
  let count = 0
  test.each(Object.entries(CASES))(
    `%s that is stopped ${STOPS} times makes the same in the end`,
    { timeout: 300_000 },
    async (_, one) => void (await expectSame(one, `c${++count}`, STOPS)),
  )
})
