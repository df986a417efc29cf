import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { read, submit, until } from '../harness.ts'
import { Runners } from '../runners.ts'
import { ALL_FAULTS, expectNothingLeft, openTaskCases, tasksOfRun, type TaskCases } from './task-cases.ts'

const STOPS = ALL_FAULTS ? 10 : 2

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

async function stop(child: ChildProcess): Promise<void> {
  expect(await runners.end(child, 'SIGTERM')).toEqual([0, null])
}

test.each(tasksOfRun('stop'))(`%s outlives ${STOPS} stops of its worker in its first attempt`, async (task) => {
  const { api, cases } = sources
  const { body, found, remove } = cases.find((one) => one.task === task)!
  let runner = await runners.start()
  const measured = await submit(api, task, body('whole'))
  await until(api, measured.body.links.self, ({ status }) => status !== 'pending')
  const started = performance.now()
  await until(api, measured.body.links.self, ({ terminal }) => terminal, 120_000)
  const duration = performance.now() - started
  await remove('whole')

  const { body: job } = await submit(api, task, body('stopped'))
  let handedOver = 0
  for (let round = 0; round < STOPS; round++) {
    await until(api, job.links.self, ({ status }) => status !== 'pending')
    // Not so late that the job has ended: it may do so within the grace of a stop, and then there is nothing left to try.
    await sleep((duration * 0.6 * (round + 0.5)) / STOPS)
    await stop(runner)
    const { body: now } = await read(api, job.links.self)
    expect(now).toMatchObject({ attempt: 1 })
    if (now.terminal) break
    expect(now.status).toBe('pending')
    handedOver++
    expect(await found('stopped')).toBe('nothing')
    runner = await runners.start()
  }
  expect(handedOver).toBeGreaterThan(0)
  const done = await until(api, job.links.self, ({ terminal }) => terminal, 120_000)
  expect(done).toMatchObject({ status: 'success', attempt: 1 })
  expect(await found('stopped')).toBe('whole')
  await expectNothingLeft(sources)
  await remove('stopped')
  if (runners.has(runner)) await stop(runner)
})
