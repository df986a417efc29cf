import { expect, test } from 'vitest'
import { NEW_INSTANCE, checkHealth, stoodStill, type Verdict } from './health.ts'

/** Looks once a second at an instance that uses this share of a core. */
function watch(
  shares: readonly number[],
  facts: { working?: boolean; privateMb?: number; startCpu?: number } = {},
): Verdict[] {
  let health = NEW_INSTANCE
  let cpuSeconds = facts.startCpu ?? 0
  return shares.map((share, i) => {
    cpuSeconds += share
    const usage = { cpuSeconds, privateMb: facts.privateMb ?? 50 }
    const judged = checkHealth(health, usage, { memoryMb: 128, working: facts.working ?? false, now: (i + 1) * 1000 })
    health = judged.health
    return judged.verdict
  })
}

test('one that is busy without work for ten looks in a row is ended at the tenth', () => {
  const verdicts = watch(Array.from({ length: 12 }, () => 0.5))
  // The first check has nothing to compare with.
  expect(verdicts.indexOf('idle_cpu')).toBe(10)
})

test('a pause, little use, or work begins the count again', () => {
  expect(watch(Array.from({ length: 40 }, (_, i) => (i % 9 === 0 ? 0 : 1)))).not.toContain('idle_cpu')
  expect(watch(Array.from({ length: 40 }, () => 0.25))).not.toContain('idle_cpu')
  expect(
    watch(
      Array.from({ length: 40 }, () => 1),
      { working: true },
    ),
  ).not.toContain('idle_cpu')
})

test('memory beyond the budget and the runtime ends it at the first look; half an hour of CPU wears it out', () => {
  expect(watch([0], { privateMb: 168 })).toEqual(['fine'])
  expect(watch([0], { privateMb: 168.1 })).toEqual(['memory'])
  expect(watch([0, 0], { startCpu: 1800 })).toEqual(['fine', 'fine'])
  expect(watch([1], { startCpu: 1800 })).toEqual(['recycle'])
})

test('two looks within a second compare nothing', () => {
  const usage = { cpuSeconds: 5, privateMb: 1 }
  const { health } = checkHealth(NEW_INSTANCE, usage, { memoryMb: 128, working: false, now: 1000 })
  expect(checkHealth(health, { ...usage, cpuSeconds: 6 }, { memoryMb: 128, working: false, now: 1500 }).health).toBe(
    health,
  )
})

test('an event loop stands still while it computes by CPU time, while it waits by all of the time, and not while it is stopped', () => {
  const usage = (state: string | null, cpuSeconds: number) => ({ state, cpuSeconds, privateMb: 1 })
  const before = usage('R', 1)
  expect(stoodStill(before, usage('R', 1.05), 100)).toBeCloseTo(50)
  // Several threads.
  expect(stoodStill(before, usage('R', 1.3), 100)).toBe(100)
  expect(stoodStill(before, usage('S', 1), 100)).toBe(100)
  expect(stoodStill(before, usage('T', 1.01), 100)).toBe(0)
  // The system does not report the state.
  for (const [first, now] of [
    [null, before],
    [before, null],
    [before, usage(null, 1)],
  ] as const)
    expect(stoodStill(first, now, 100)).toBe(100)
})
