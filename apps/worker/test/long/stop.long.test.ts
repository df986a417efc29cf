import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { read, submit, until } from '../harness.ts'
import { expectNothingLeft, openTaskCases, TASKS, type TaskCases } from './task-cases.ts'

const STOPS = 10

let sources: TaskCases
const children = new Set<ChildProcess>()

beforeAll(async () => {
  sources = await openTaskCases()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await sources[Symbol.asyncDispose]()
})

async function startRunner(): Promise<ChildProcess> {
  const child = fork(new URL('../task-runner.ts', import.meta.url), {
    env: { ...sources.api.env, PORT: '45997' },
    stdio: 'inherit',
  })
  children.add(child)
  await once(child, 'message')
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  children.delete(child)
}

test.each(TASKS)(`%s outlives ${STOPS} stops of its worker in its first attempt`, async (task) => {
  const { api, cases } = sources
  const { body, found, remove } = cases.find((one) => one.task === task)!
  let runner = await startRunner()
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
    runner = await startRunner()
  }
  expect(handedOver).toBeGreaterThan(0)
  const done = await until(api, job.links.self, ({ terminal }) => terminal, 120_000)
  expect(done).toMatchObject({ status: 'success', attempt: 1 })
  expect(await found('stopped')).toBe('whole')
  await expectNothingLeft(sources)
  await remove('stopped')
  if (children.has(runner)) await stop(runner)
})
