import { readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { temporaryFolder } from '../../test/fixtures/models.ts'
import { withLock } from './file-lock.ts'

test('bodies under one name run one at a time, under two names together', async () => {
  const directory = temporaryFolder()
  const running = new Map<string, number>()
  let most = 0
  let together = 0
  const body = (name: string) => async (): Promise<void> => {
    running.set(name, (running.get(name) ?? 0) + 1)
    most = Math.max(most, running.get(name)!)
    together = Math.max(
      together,
      [...running.values()].reduce((sum, count) => sum + count, 0),
    )
    await sleep(5)
    running.set(name, running.get(name)! - 1)
  }
  const names = Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? 'a' : 'b'))
  await Promise.all(names.map((name) => withLock(directory, name, { pollMs: 1 }, body(name))))
  expect(most).toBe(1)
  expect(together).toBe(2)
  expect(readdirSync(directory).toSorted()).toEqual(['a.12', 'b.12'])
})

test('a body that throws releases the lock and passes its error on', async () => {
  const directory = temporaryFolder()
  const failure = new Error('no')
  await expect(withLock(directory, 'a', {}, () => Promise.reject(failure))).rejects.toBe(failure)
  expect(await withLock(directory, 'a', {}, async () => 'yes')).toBe('yes')
})

test('a lock left by a process that no longer runs is free at once', async () => {
  const directory = temporaryFolder()
  const path = join(directory, 'a.1')
  const mine = await withLock(directory, 'a', {}, async () => readFileSync(path, 'utf8'))
  writeFileSync(path, mine.replace(/"pid":\d+/, `"pid":${2 ** 30}`))
  expect(await withLock(directory, 'a', { staleMs: 60_000 }, async () => readdirSync(directory))).toEqual(['a.2'])
})

test('a lock of another machine is respected while it is renewed, and free when it is not', async () => {
  const directory = temporaryFolder()
  const path = join(directory, 'a.1')
  writeFileSync(path, JSON.stringify({ machine: 'elsewhere', pid: 1 }))
  let entered = false
  const waits: number[] = []
  const pending = withLock(directory, 'a', { pollMs: 5, staleMs: 3000, onWait: () => waits.push(1) }, async () => {
    entered = true
  })
  for (let i = 1; i <= 8; i++) {
    await sleep(500)
    utimesSync(path, i, i)
    expect(entered).toBe(false)
  }
  await pending
  expect(entered).toBe(true)
  expect(waits).toEqual([1])
})

test('waiting ends with the reason of the signal', async () => {
  const directory = temporaryFolder()
  const controller = new AbortController()
  const reason = new Error('enough')
  await withLock(directory, 'a', {}, async () => {
    const pending = withLock(directory, 'a', { signal: controller.signal }, async () => 1)
    setTimeout(() => controller.abort(reason), 20)
    await expect(pending).rejects.toBe(reason)
  })
})
