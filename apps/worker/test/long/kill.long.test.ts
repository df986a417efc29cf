import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { submit, until } from '../harness.ts'
import { Runners } from '../runners.ts'
import { ALL_FAULTS, expectNothingLeft, openTaskCases, tasksOfRun, type TaskCases } from './task-cases.ts'

const KILLS = ALL_FAULTS ? 10 : 1
const random = seededRandom(3)

let sources: TaskCases
let runners: Runners

beforeAll(async () => {
  sources = await openTaskCases()
  runners = new Runners(new URL('../task-runner.ts', import.meta.url), sources.api.env)
})
afterAll(async () => {
  runners[Symbol.dispose]()
  await sources[Symbol.asyncDispose]()
})

const kill = (child: ChildProcess) => runners.end(child, 'SIGKILL')

test.each(tasksOfRun('kill'))(
  `%s, killed at ${KILLS} random points of its run, leaves no half of anything, and ends well`,
  async (task) => {
    const { api, cases } = sources
    const { body, found, remove } = cases.find((one) => one.task === task)!
    let runner = await runners.start()
    const measured = await submit(api, task, body('whole'))
    await until(api, measured.body.links.self, ({ status }) => status !== 'pending')
    const started = performance.now()
    const first = await until(api, measured.body.links.self, ({ terminal }) => terminal, 120_000)
    const duration = performance.now() - started
    expect(first).toMatchObject({ status: 'success' })
    await remove('whole')
    for (let round = 0; round < KILLS; round++) {
      const name = `k${round}`
      const { body: job } = await submit(api, task, body(name))
      await until(api, job.links.self, ({ status }) => status !== 'pending')
      await sleep((duration * (round + random())) / KILLS)
      await kill(runner)
      expect(await found(name)).not.toBe('part')
      runner = await runners.start()
      const done = await until(api, job.links.self, ({ terminal }) => terminal, 120_000)
      expect(done).toMatchObject({ status: 'success' })
      expect(await found(name)).toBe('whole')
      await expectNothingLeft(sources)
      await remove(name)
    }
    await kill(runner)
  },
)
