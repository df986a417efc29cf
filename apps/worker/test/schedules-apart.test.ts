import { uuidv7 } from '@terrane/core'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenProject } from '../src/projects/project-directory.ts'
import { Scheduler } from '../src/schedules/scheduler.ts'
import { fakeTask } from './fake-tasks.ts'
import { openWorker, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const NIGHTLY = '0 3 * * *'

/** Takes no jobs and looks for no schedules: the tests do. */
let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker({ tasks: [fakeTask()], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
})
afterAll(() => worker[Symbol.asyncDispose]())

/** A schedule of a project whose time came some hours ago. */
async function due(projectRef: string, hoursAgo: number): Promise<string> {
  const { schedules, sealer } = worker.deps
  const id = uuidv7()
  const nextAt = new Date(Math.floor(Date.now() / 1000) * 1000 - hoursAgo * 3_600_000)
  const input = { tableName: `t_${projectRef}_${hoursAgo}`, steps: 1 }
  const made = await schedules.insert({ projectRef, organizationId: null, projectId: null }, 100, {
    id,
    task: TASK,
    name: '',
    cron: NIGHTLY,
    time_zone: 'UTC',
    input,
    sealed_input: sealer.seal(input, id),
    next_at: nextAt,
    paused: false,
  })
  expect(made).not.toBeNull()
  return id
}

/** A scheduler to which one project does not answer until it is told to. */
function schedulerWith(projectRef: string, answer: Promise<void>) {
  const opened: string[] = []
  const { deps, db } = worker
  const project = { database: db.database, store: { withSignal: () => null }, [Symbol.asyncDispose]: async () => {} }
  const scheduler = new Scheduler({
    ...deps,
    database: db.database,
    projects: {
      ...deps.projects,
      openForSubmit: async (scope) => {
        opened.push(scope.projectRef)
        if (scope.projectRef === projectRef) await answer
        return project as unknown as OpenProject
      },
    },
  })
  return { scheduler, opened }
}

async function jobsOf(projectRef: string): Promise<number> {
  const { rows } = await worker.db.database.query<{ jobs: number }>(
    'select count(*)::int as jobs from terrane.jobs where project_ref = $1',
    [projectRef],
  )
  return rows[0]!.jobs
}

async function nextOf(id: string): Promise<Date | null> {
  const { rows } = await worker.db.database.query<{ next_at: Date }>(
    'select next_at from terrane.schedules where id = $1',
    [id],
  )
  return rows[0]?.next_at ?? null
}

describe(`projects (${testLane()})`, () => {
  test('one that hangs delays its own schedules only, however many are due, and is asked once', async () => {
    const { promise: answer, resolve: goOn } = Promise.withResolvers<void>()
    const { scheduler, opened } = schedulerWith('hangs', answer)
    const hanging = await due('hangs', 50)
    // More than one look takes.
    for (let hour = 20; hour < 45; hour++) await due('hangs', hour)
    await due('well', 2)
    await due('well', 1)
    await scheduler.tick()
    await expect.poll(() => jobsOf('well')).toBe(2)
    await due('later', 1)
    await scheduler.tick()
    await expect.poll(() => jobsOf('later')).toBe(1)
    expect(opened.filter((ref) => ref === 'hangs')).toHaveLength(1)
    expect(await jobsOf('hangs')).toBe(0)
    goOn()
    await expect.poll(() => jobsOf('hangs')).toBe(26)
    expect((await nextOf(hanging))!.getTime()).toBeGreaterThan(Date.now())
  })

  test('the next time is that after the submission, however long the project took', async () => {
    const { promise: answer, resolve: goOn } = Promise.withResolvers<void>()
    const { scheduler, opened } = schedulerWith('slow', answer)
    const id = await due('slow', 1)
    const { schedules } = worker.deps
    const now = schedules.now.bind(schedules)
    const asked: Date[] = []
    schedules.now = async (session) => {
      asked.push(await now(session))
      return new Date(asked.at(-1)!.getTime() + 10 * 86_400_000)
    }
    try {
      await scheduler.tick()
      await expect.poll(() => opened).toEqual(['slow'])
      expect(asked).toEqual([])
      goOn()
      await expect.poll(() => jobsOf('slow')).toBe(1)
    } finally {
      schedules.now = now
    }
    expect((await nextOf(id))!.getTime()).toBeGreaterThan(Date.now() + 9 * 86_400_000)
  })
})
