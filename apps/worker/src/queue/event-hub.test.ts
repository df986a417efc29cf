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
  hub.look()
  const end = hub.watch('a', 1, (row) => seen.push(row.revision))
  hub.look()
  revision = 3
  hub.look()
  asked.resolve()
  await vi.waitFor(() => expect(seen).toEqual([2, 3]))
  end()
})
