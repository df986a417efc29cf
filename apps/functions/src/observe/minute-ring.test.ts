import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MinuteRing } from './minute-ring.ts'

const BEGIN = Date.parse('2026-11-22T14:00:00Z')
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: BEGIN }))
afterEach(() => void vi.useRealTimers())

test('a minute has its calls, errors, percentile, CPU and memory, and is forgotten after an hour', () => {
  const ring = new MinuteRing([0.01, 0.05, 0.1, 30])
  for (let call = 1; call <= 100; call++) ring.call(call <= 90 ? 0 : 2, call === 7)
  ring.use(0.5, 80)
  ring.use(0.25, 60)
  const first = { calls: 100, errors: 1, cpu_s: 0.75, memory_mb: 80, time: '2026-11-22T14:00:00.000Z' }
  expect(ring.read().at(-1)).toMatchObject(first)
  // The 95th of 100 is the fifth of ten between 50 and 100 ms.
  expect(ring.read().at(-1)!.p95_ms).toBeCloseTo(75)
  vi.setSystemTime(BEGIN + 59 * 60_000)
  ring.call(4, false)
  const later = ring.read()
  expect(later).toHaveLength(60)
  expect(later[0]).toMatchObject(first)
  expect(later[1]).toMatchObject({ calls: 0, errors: 0, p95_ms: null, cpu_s: 0, memory_mb: 0 })
  expect(later.at(-1)).toMatchObject({ calls: 1, p95_ms: 30_000 })
  vi.setSystemTime(BEGIN + 60 * 60_000)
  expect(
    ring
      .read()
      .map(({ calls }) => calls)
      .reduce((a, b) => a + b),
  ).toBe(1)
})
