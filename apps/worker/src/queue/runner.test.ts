import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '@terrane/database'
import { createLogger } from '@terrane/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Task } from '../jobs/task.ts'
import type { JobStore } from './job-store.ts'
import { Runner, type RunnerOptions } from './runner.ts'

let workdir: string
beforeEach(async () => {
  workdir = await mkdtemp(join(tmpdir(), 'runner-'))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(workdir, { recursive: true })
})

/** A runner with two slots on a database without NOTIFY and without jobs, which counts the looks of the slots. */
function idleRunner() {
  const seen = { looks: 0, polls: 0, due: [] as string[] }
  const query = async (text: string) => {
    if (!text.includes('unnest')) return { rows: [], rowCount: 0 }
    seen.polls++
    return { rows: seen.due.map((task) => ({ task })) }
  }
  const transaction = async () => {
    seen.looks++
    return null
  }
  const capabilities = { locks: true, notify: false }
  const database = { capabilities, query, transaction, listen: async () => null } as unknown as Database
  const store = { prune: async () => {} } as unknown as JobStore
  const tasks = ['exportTable', 'osmImportArea'].map((name) => ({ name }) as Task)
  const logger = createLogger({ name: 'test', level: 'silent' })
  const options = { database, store, tasks, logger, workdir, concurrency: 1, retentionDays: 1, schedulers: [] }
  return { runner: new Runner(options as unknown as RunnerOptions), seen }
}

test('an idle slot looks when the poll finds a due job of its task, and seldom without', async () => {
  const { runner, seen } = idleRunner()
  await runner.start()
  await vi.advanceTimersByTimeAsync(5000)
  expect(seen).toMatchObject({ looks: 2, polls: 5 })
  seen.due = ['exportTable']
  await vi.advanceTimersByTimeAsync(1000)
  expect(seen.looks).toBe(3)
  seen.due = []
  await vi.advanceTimersByTimeAsync(11_000)
  expect(seen.looks).toBe(5)
  await runner.stop(0)
  expect(vi.getTimerCount()).toBe(0)
})
