import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '@terrane/service'
import { EventHub } from './event-hub.ts'
import type { JobRow } from './job-row.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a look reports a change before the next poll, also one that happened during a query', async () => {
  let revision = 2
  const asked = Promise.withResolvers<void>()
  const store = {
    changedSince: async () => {
      const row = { id: 'a', revision } as JobRow
      if (revision === 2) await asked.promise
      return [row]
    },
  }
  const hub = new EventHub(store as never, createLogger({ name: 'test', level: 'silent' }))
  const seen: number[] = []
  hub.look('a')
  const end = hub.watch('a', 1, (row) => seen.push(row.revision))
  hub.look('a')
  revision = 3
  hub.look('a')
  asked.resolve()
  await vi.waitFor(() => expect(seen).toEqual([2, 3]))
  end()
})

test('the end of a job without a watcher asks the database nothing', () => {
  const changedSince = vi.fn<() => Promise<JobRow[]>>(async () => [])
  const hub = new EventHub({ changedSince } as never, createLogger({ name: 'test', level: 'silent' }))
  const end = hub.watch('a', 1, () => {})
  hub.look('b')
  expect(changedSince).not.toHaveBeenCalled()
  end()
})

test('a watcher that ends twice leaves the next watcher of its job', async () => {
  const row = { id: 'a', revision: 2 } as JobRow
  const hub = new EventHub(
    { changedSince: async () => [row] } as never,
    createLogger({ name: 'test', level: 'silent' }),
  )
  const endFirst = hub.watch('a', 1, () => {})
  endFirst()
  const seen: number[] = []
  const endSecond = hub.watch('a', 1, ({ revision }) => seen.push(revision))
  endFirst()
  hub.look('a')
  await vi.waitFor(() => expect(seen).toEqual([2]))
  endSecond()
})
