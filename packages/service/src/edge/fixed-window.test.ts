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

test('subjects are let go after their window, and a bounded number is held before', () => {
  const window = new FixedWindow(1, 1000)
  for (let n = 0; n < 150_000; n++) window.consume(`stranger ${n}`)
  expect(window.size).toBe(100_000)
  expect([window.consume('stranger 149999'), window.wait('stranger 0')]).toEqual([1000, 0])
  for (const name of ['a', 'b']) {
    vi.advanceTimersByTime(1000)
    window.consume(name)
  }
  expect(window.size).toBe(2)
})

test('a window is whole when the generation of its subject changes', () => {
  const window = new FixedWindow(1, 1000)
  window.consume('first')
  vi.advanceTimersByTime(900)
  window.consume('late')
  vi.advanceTimersByTime(100)
  window.consume('other')
  expect(window.consume('late')).toBe(900)
  vi.advanceTimersByTime(900)
  expect(window.consume('late')).toBe(0)
})

test('a system clock that is set back lengthens no window', () => {
  const window = new FixedWindow(1, 1000)
  window.consume('a')
  vi.setSystemTime(-3_600_000)
  expect(window.consume('a')).toBe(1000)
  vi.advanceTimersByTime(1000)
  expect(window.consume('a')).toBe(0)
})
