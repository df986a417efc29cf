import type { Database } from '@terrane/database'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { JobLeases, type JobLeasesOptions } from './job-leases.ts'
import type { Claim } from './queue-tables.ts'

const CLAIM: Claim = { task: 'exportTable', id: '1', attempt: 1, run: 7 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Leases on a database whose transactions and statements end when the test says so. */
function leasesOn(): { leases: JobLeases; begun: PromiseWithResolvers<unknown>[] } {
  const begun: PromiseWithResolvers<unknown>[] = []
  const transaction = () => {
    const made = Promise.withResolvers<unknown>()
    begun.push(made)
    return made.promise
  }
  const database = { capabilities: { locks: true }, transaction, query: transaction } as unknown as Database
  return { leases: new JobLeases({ database } as JobLeasesOptions), begun }
}

test('a look that hangs is left behind, and those after it go on', async () => {
  const { leases, begun } = leasesOn()
  const hanging = leases.take('exportTable').catch((error: Error) => error.message)
  const next = leases.take('exportTable')
  await vi.advanceTimersByTimeAsync(29_000)
  expect(begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2000)
  expect(await hanging).toContain('did not answer')
  expect(begun).toHaveLength(2)
  begun[1]!.resolve(CLAIM)
  expect(await next).toBe(CLAIM)
})

test('a job that comes from a look left behind is put back', async () => {
  const { leases, begun } = leasesOn()
  const hanging = leases.take('exportTable').catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await hanging).toContain('did not answer')
  const handOver = vi.spyOn(leases, 'handOver').mockResolvedValue(true)
  begun[0]!.resolve(CLAIM)
  await vi.advanceTimersByTimeAsync(0)
  expect(handOver).toHaveBeenCalledWith(CLAIM, expect.any(String))
})

test('no more than two looks of a task are left behind at once', async () => {
  const { leases, begun } = leasesOn()
  const looks = [1, 2, 3, 4].map(() => leases.take('exportTable').catch(() => 'left behind'))
  await vi.advanceTimersByTimeAsync(600_000)
  expect(begun).toHaveLength(3)
  begun[2]!.resolve(null)
  await vi.advanceTimersByTimeAsync(0)
  expect(begun).toHaveLength(4)
  begun[3]!.resolve(null)
  expect(await Promise.all(looks)).toEqual(['left behind', 'left behind', null, null])
})

test('a poll of all tasks that hangs is left behind, and keeps no later one waiting', async () => {
  const { leases, begun } = leasesOn()
  const hanging = leases.due(['exportTable']).catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await hanging).toContain('did not answer')
  const next = leases.due(['exportTable'])
  begun[1]!.resolve({ rows: [{ task: 'exportTable' }] })
  expect(await next).toEqual(['exportTable'])
})

test('a lock that another worker holds for long is no job and no error', async () => {
  const { leases, begun } = leasesOn()
  const look = leases.take('exportTable')
  await vi.advanceTimersByTimeAsync(0)
  begun[0]!.reject(Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }))
  expect(await look).toBeNull()
})
