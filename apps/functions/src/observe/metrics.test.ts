import { createRegistry } from '@terrane/service'
import { expect, test } from 'vitest'
import type { FunctionVersion } from '../function-version.ts'
import { FunctionMetrics } from './metrics.ts'

test('calls are counted by status and problem, and their durations by bucket', async () => {
  const registry = createRegistry('test')
  const metrics = new FunctionMetrics(registry)
  const version = { project: 'p', name: 'f' } as FunctionVersion
  for (const ms of [0.5, 1, 20_000, 60_000]) metrics.called(version, { status: 200, problem: '', ms })
  metrics.called(version, { status: 504, problem: 'timeout', ms: 30 })
  for (let scrape = 0; scrape < 2; scrape++) {
    const text = await registry.metrics()
    const lines = text.split('\n').filter((line) => line.startsWith('terrane_function_call'))
    const value = (labels: string) =>
      Number(
        lines
          .find((line) => line.includes(labels))
          ?.split(' ')
          .at(-1),
      )
    expect(value('calls_total{project="p",function="f",status="200",code=""')).toBe(4)
    expect(value('calls_total{project="p",function="f",status="504",code="timeout"')).toBe(1)
    const bucket = (le: string) => value(`call_seconds_bucket{le="${le}",project="p",function="f"`)
    expect([bucket('0.001'), bucket('0.05'), bucket('30'), bucket('+Inf')]).toEqual([2, 3, 4, 5])
    expect(value('call_seconds_count')).toBe(5)
    expect(value('call_seconds_sum')).toBeCloseTo(80.0315)
  }
})
