import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { migrate } from '@terrane/database'
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveTurn, takeTurn } from '../src/queue/fair-queue.ts'
import { fakeTask } from './fake-tasks.ts'
import { openWorker } from './harness.ts'

interface Waiting {
  readonly project: string
  readonly turn: number
  /** Its place among all jobs in the order in which they came. */
  readonly at: number
}

const scopeOf = (projectRef: string) => ({ projectRef, organizationId: null, projectId: null })

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  await migrate(db.database, ['control'])
})
afterAll(() => db[Symbol.asyncDispose]())

describe(`turns (${testLane()})`, () => {
  test('a project is served in the order of its jobs, and two that wait take turns, whatever comes and when', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const next = seededRandom(seed)
      const line = new Line(`task-${seed}`)
      /** Served since the shortest line of the three became busy: none gets more than one ahead of another. */
      let since = new Map<string, number>()
      for (let step = 0; step < 120; step++) {
        if (next() < 0.55) {
          const project = ['ash', 'birch', 'cedar'][Math.floor(next() ** 2 * 3)]!
          await line.add(project)
          continue
        }
        const idle = line.idle()
        const served = await line.serve()
        if (!served) continue
        if (idle.length > 0) since = new Map()
        since.set(served.project, (since.get(served.project) ?? 0) + 1)
        if (idle.length > 0) continue
        const counts = ['ash', 'birch', 'cedar'].map((project) => since.get(project) ?? 0)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2)
      }
      for (const project of ['ash', 'birch', 'cedar']) {
        const order = line.served.filter((one) => one.project === project).map(({ at }) => at)
        expect(order).toEqual(order.toSorted((a, b) => a - b))
      }
    }
  })

  test('a job in a long line is served, though one more of its project comes for each that ends', async () => {
    const line = new Line('steady')
    for (let n = 0; n < 10; n++) await line.add('ash')
    for (let n = 0; n < 10; n++) {
      await line.serve()
      await line.add('ash')
    }
    expect(line.served.map(({ at }) => at)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('many jobs at once get the same turns as one by one', async () => {
    const one = new Line('one')
    const many = new Line('many')
    for (const line of [one, many]) await line.add('ash')
    for (let n = 0; n < 5; n++) await one.add('birch')
    await many.add('birch', 5)
    for (const line of [one, many]) await line.add('birch')
    for (const line of [one, many]) while (await line.serve());
    expect(many.served).toEqual(one.served)
    expect(many.served.map(({ turn }) => turn)).toEqual([1, 1, 2, 3, 4, 5, 6])
  })

  test('a project that comes later waits for one job of another at most, and saves up nothing while it rests', async () => {
    const line = new Line('later')
    for (let n = 0; n < 8; n++) await line.add('ash')
    for (let n = 0; n < 4; n++) await line.serve()
    for (let n = 0; n < 3; n++) await line.add('birch')
    while (await line.serve());
    const after = line.served.slice(4).map(({ project }) => project)
    expect(after).toEqual(['ash', 'birch', 'ash', 'birch', 'ash', 'birch', 'ash'])
  })
})

test('a worker takes jobs of projects in turns', async () => {
  await using idle = await openWorker({ tasks: [fakeTask()], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  const task = idle.deps.tasks[0]!
  for (const [project, count] of [
    ['ash', 4],
    ['birch', 2],
  ] as const) {
    for (let n = 0; n < count; n++) {
      const input = { tableName: `${project}_${n}`, steps: 0 }
      const scope = scopeOf(project)
      await idle.deps.submitter.submit({ task, scope, input, idempotencyKey: undefined, requestId: null })
    }
  }
  await using _busy = await openWorker({
    tasks: [fakeTask()],
    beside: idle,
    env: { TERRANE_WORKER_CONCURRENCY: '1' },
  })
  const jobs = () =>
    idle.db.database.query<{ name: string }>(
      `select input->>'tableName' as name from terrane.jobs where status = 'success' order by started_at`,
    )
  await expect.poll(async () => (await jobs()).rows.length, { timeout: 30_000 }).toBe(6)
  const names = (await jobs()).rows.map(({ name }) => name)
  expect(names).toEqual(['ash_0', 'birch_0', 'ash_1', 'birch_1', 'ash_2', 'ash_3'])
})

/** Jobs of one task that wait, served as the queue does: the smallest turn first, of equal ones the oldest. */
class Line {
  readonly served: Waiting[] = []
  readonly #task: string
  #waiting: Waiting[] = []
  #at = 0

  constructor(task: string) {
    this.#task = task
  }

  async add(project: string, count = 1): Promise<void> {
    const first = await db.database.transaction((session) => takeTurn(session, scopeOf(project), this.#task, count))
    for (let i = 0; i < count; i++) this.#waiting.push({ project, turn: first + i, at: this.#at++ })
  }

  async serve(): Promise<Waiting | null> {
    const [first] = this.#waiting.toSorted((a, b) => a.turn - b.turn || a.at - b.at)
    if (!first) return null
    this.#waiting = this.#waiting.filter((one) => one !== first)
    await db.database.transaction((session) => serveTurn(session, this.#task, first.turn))
    this.served.push(first)
    return first
  }

  /** Those of the three for whom nothing waits. */
  idle(): string[] {
    return ['ash', 'birch', 'cedar'].filter((project) => !this.#waiting.some((one) => one.project === project))
  }
}
