import { expect, test } from 'vitest'
import { JobFeed } from './job-feed.ts'
import type { Job } from './jobs.ts'

function job(task: string, minute: number): Job {
  const created = `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`
  return { job_id: `${task}-${minute}`, taskName: task, created_at: created } as Job
}

/** Jobs of two tasks, every third minute and every second minute, in pages of four. */
const ALL: Readonly<Record<string, readonly Job[]>> = {
  a: Array.from({ length: 15 }, (_, i) => job('a', 58 - i * 3)),
  b: Array.from({ length: 20 }, (_, i) => job('b', 59 - i * 2)),
}

test('lists of several tasks become one, newest first, without a gap or a repeat', async () => {
  let reads = 0
  const feed = new JobFeed(['a', 'b'], async (task, cursor) => {
    reads++
    const from = Number(cursor ?? 0)
    const all = ALL[task] ?? []
    return { data: all.slice(from, from + 4), next_cursor: from + 4 < all.length ? String(from + 4) : null }
  })
  const shown: Job[] = []
  while (feed.hasMore) shown.push(...(await feed.next(7)))
  const wanted = [...(ALL['a'] ?? []), ...(ALL['b'] ?? [])].toSorted((x, y) => (x.created_at > y.created_at ? -1 : 1))
  expect(shown.map(({ created_at: at }) => at)).toEqual(wanted.map(({ created_at: at }) => at))
  expect(new Set(shown.map(({ job_id: id }) => id)).size).toBe(35)
  expect(reads).toBe(9)
})

test('the first page needs one read of each task', async () => {
  const asked: string[] = []
  const feed = new JobFeed(['a', 'b'], async (task) => {
    asked.push(task)
    return { data: ALL[task] ?? [], next_cursor: null }
  })
  expect((await feed.next(5)).map(({ job_id: id }) => id)).toEqual(
    ['b-59', 'a-58', 'b-57', 'a-55', 'b-55'].toSorted(byTime),
  )
  expect(asked).toEqual(['a', 'b'])
})

/** The order of the feed: by time, then by id, newest first. */
function byTime(x: string, y: string): number {
  const minute = (id: string) => Number(id.split('-')[1])
  return minute(y) - minute(x) || (x > y ? -1 : 1)
}
