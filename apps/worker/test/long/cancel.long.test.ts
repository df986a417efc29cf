import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { makeTasks, openModels } from '../../src/jobs/tasks.ts'
import { Geocoder } from '../../src/places/geocoder.ts'
import { cancelAtStep, type StepWatch } from '../cancel-at-step.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from '../harness.ts'
import { ALL_FAULTS, expectNothingLeft, openTaskCases, tasksOfRun, type TaskCases } from './task-cases.ts'

const POINTS = ALL_FAULTS ? 10 : 3

let sources: TaskCases
let runner: TestWorker
const watch: StepWatch = { count: 0, cancelAt: 0 }
const random = seededRandom(7)

beforeAll(async () => {
  sources = await openTaskCases()
  const { api } = sources
  const env = { ...api.env, TERRANE_WORKER_CONCURRENCY: '1' }
  const unused = () => Promise.reject(new Error('no task fetches outside of its jobs here'))
  const geocoder = new Geocoder({ url: '', cacheFolder: '' })
  const config = readConfig(env)
  const models = await openModels(config, unused, () => undefined)
  const tasks = makeTasks(config, { fetch: unused, geocoder, models })
  const cancel = async (jobId: string) => {
    const { rows } = await api.db.database.query<{ task: string }>('select task from terrane.jobs where id = $1', [
      jobId,
    ])
    const response = await api.app.inject({
      method: 'DELETE',
      url: `/jobs/${rows[0]!.task}/${jobId}`,
      headers: HEADERS,
    })
    expect(response.statusCode).toBe(202)
  }
  runner = await openWorker({ beside: api, env, tasks: tasks.map((task) => cancelAtStep(task, watch, cancel)) })
})
afterAll(async () => {
  await runner[Symbol.asyncDispose]()
  await sources[Symbol.asyncDispose]()
})

test.each(tasksOfRun('cancel'))(`%s, cancelled at ${POINTS} points of its run, leaves nothing behind`, async (task) => {
  const { api, cases } = sources
  const { body, found, remove } = cases.find((one) => one.task === task)!
  const run = async (name: string) => {
    const { body: job } = await submit(api, task, body(name))
    return until(api, job.links.self, ({ terminal }) => terminal, 120_000)
  }
  watch.cancelAt = 0
  expect(await run('whole')).toMatchObject({ status: 'success' })
  expect(await found('whole')).toBe('whole')
  await remove('whole')
  let steps = watch.count
  let cancelled = 0
  while (cancelled < POINTS) {
    const name = `c${cancelled}`
    watch.cancelAt = 1 + Math.floor(((cancelled + random()) / POINTS) * (steps - 1))
    const job = await run(name)
    if (watch.count < watch.cancelAt) {
      // How many steps there are differs from run to run: this one had ended before.
      steps = watch.count
      await remove(name)
      continue
    }
    expect(job).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect(await found(name)).toBe('nothing')
    await expectNothingLeft(sources)
    cancelled++
  }
})
