import { TerraneError } from '@terrane/core'
import { expect, test } from 'vitest'
import { shuttingDown, timedOut } from '../errors.ts'
import { endingOf, queueSettings, timeoutSeconds } from './job-life.ts'

const of = (kind: TerraneError['kind'], code = 'X') => new TerraneError(code, kind, 'x')

test.each([
  ['a fault of an upstream', of('upstream'), 1, 'another attempt'],
  ['an upstream that says nothing', of('timeout'), 2, 'another attempt'],
  ['an upstream that has had enough', of('rate_limited'), 1, 'another attempt'],
  ['a database that cannot be reached', of('unavailable', 'DATABASE_UNAVAILABLE'), 1, 'another attempt'],
  ['a fault of an upstream at the third attempt', of('upstream'), 3, 'failed'],
  ['bad input', of('invalid'), 1, 'failed'],
  ['a bug', of('internal'), 1, 'failed'],
  ['its own timeout', timedOut({ seconds: 1 }), 1, 'failed'],
  ['the stop of its worker', shuttingDown(), 1, 'handed over'],
  ['the stop of its worker at the third attempt', shuttingDown(), 3, 'handed over'],
] as const)('a run that ends in %s', (_, error, attempt, ending) => {
  expect(endingOf(error, attempt)).toBe(ending)
})

test('the queue counts attempts as the runner does, and its timeout is minutes behind the run’s own', () => {
  expect(queueSettings(3600)).toMatchObject({ retryLimit: 2, expireInSeconds: 3900, heartbeatSeconds: 15 })
  // pg-boss lets no job run longer than a day.
  expect(queueSettings(86_400).expireInSeconds).toBe(86_400)
  expect(timeoutSeconds(86_400)).toBe(86_100)
})
