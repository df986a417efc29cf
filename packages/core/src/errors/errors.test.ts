import { expect, test } from 'vitest'
import { TerraneError, defineError } from './errors.ts'

const tooManyRows = defineError(
  'TOO_MANY_ROWS',
  'invalid',
  (f: { rows: number; limit: number }) => `${f.rows} rows exceed the limit of ${f.limit}`,
  (f) => ({ hint: `Send at most ${f.limit} rows.` }),
)

test('a catalogue entry carries its code, kind, text and remedy', () => {
  const error = tooManyRows({ rows: 12, limit: 10 })
  expect(error).toBeInstanceOf(TerraneError)
  expect(error).toMatchObject({ code: 'TOO_MANY_ROWS', kind: 'invalid', hint: 'Send at most 10 rows.', details: null })
  expect(error.message).toBe('12 rows exceed the limit of 10')
})

test('a thrower can add field errors and a cause', () => {
  const cause = new Error('below')
  const error = tooManyRows({ rows: 2, limit: 1 }, { errors: [{ path: '/rows', message: 'too many' }], cause })
  expect(error.errors).toEqual([{ path: '/rows', message: 'too many' }])
  expect(error.cause).toBe(cause)
  expect(error.hint).toBe('Send at most 1 rows.')
})

test('only faults that may pass are retryable', () => {
  expect(tooManyRows({ rows: 2, limit: 1 }).retryable).toBe(false)
  expect(defineError('GONE', 'unavailable', () => 'down')().retryable).toBe(true)
})
