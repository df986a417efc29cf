import { TerraneError } from '@terrane/core'
import { expect, test } from 'vitest'
import { toRestError } from './errors.ts'

test('what is away for a moment is 503 with its own code and remedy', () => {
  const away = new TerraneError('KEYS_UNAVAILABLE', 'unavailable', 'Keys cannot be looked up at the moment', {
    hint: 'The same call may succeed later.',
  })
  const error = toRestError(away, true)
  expect([error.status, error.toBody()]).toEqual([
    503,
    {
      code: 'KEYS_UNAVAILABLE',
      details: null,
      hint: 'The same call may succeed later.',
      message: 'Keys cannot be looked up at the moment',
    },
  ])
})

test.each([
  ['54000', 400],
  ['54001', 400],
  ['53100', 503],
  ['XX000', 500],
])('SQLSTATE %s is answered by %i', (code, status) => {
  expect(toRestError(Object.assign(new Error('x'), { code }), false).status).toBe(status)
})
