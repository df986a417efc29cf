import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FixedWindow } from './fixed-window.ts'

beforeEach(() => vi.useFakeTimers({ now: 0 }))
afterEach(() => vi.useRealTimers())

test('a subject has its number of events in a window, which begins with the first', () => {
  const window = new FixedWindow(2, 1000)
  expect([window.consume('a'), window.consume('a')]).toEqual([0, 0])
  vi.advanceTimersByTime(400)
  expect(window.consume('a')).toBe(600)
  expect(window.consume('b')).toBe(0)
  vi.advanceTimersByTime(600)
  expect(window.consume('a')).toBe(0)
})

test('whether the limit is reached can be asked without counting', () => {
  const window = new FixedWindow(1, 1000)
  expect(window.wait('a')).toBe(0)
  expect(window.wait('a')).toBe(0)
  window.consume('a')
  expect(window.wait('a')).toBe(1000)
  vi.advanceTimersByTime(1000)
  expect(window.wait('a')).toBe(0)
})
