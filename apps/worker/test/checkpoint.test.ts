// Slow: each task is stopped at its checkpoints and runs again to its end.
import { createHash } from 'node:crypto'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  CASES,
  ask,
  checkpoints,
  content,
  expectSame,
  finish,
  messages,
  open,
  openCheckpointCases,
  scene,
  staging,
  stopOnce,
} from './checkpoint-cases.ts'
import { HEADERS, read, until, type TestWorker } from './harness.ts'

vi.setConfig({ testTimeout: 120_000 })

/**
 * What versions of tasks make of the sources here, on the embedded database; what a model makes differs between
 * processors. A change that makes other rows is another version of its task.
 */
const MADE: Readonly<Record<string, { readonly version: number; readonly hash: string }>> = {
  osmImportArea: { version: 2, hash: '914411d1ea5e410b08e1c8ea698c2c15' },
  overtureImportArea: { version: 1, hash: '123d8f3e2d73922b88be54b0b614defc' },
  ogr2ogrImport: { version: 2, hash: '68ddcc834bc19952e74618125bb4dec8' },
}

let api: TestWorker
let close: AsyncDisposable
beforeAll(async () => {
  const opened = await openCheckpointCases()
  close = opened
  ;({ api } = opened)
})
afterAll(() => close[Symbol.asyncDispose]())

describe(`checkpoints (${testLane()})`, () => {
  let count = 0
  /** Stops a job once, compares what it makes with what its version has always made; returns the prefix of its tables. */
  async function expectAlwaysSame(title: keyof typeof CASES): Promise<string> {
    const { task } = CASES[title]
    const name = `c${++count}`
    const made = await expectSame(CASES[title], name, 1)
    const { version } = api.deps.tasks.find((one) => one.name === task)!
    const hash = createHash('md5').update(JSON.stringify(made)).digest('hex')
    if (testLane() === 'pglite' && task in MADE) expect({ version, hash }).toEqual(MADE[task])
    return `${name}x`
  }

  // The others: checkpoint.long.test.ts.
  test.each([
    'a job of embeddings with artifacts',
    'an import of Overture data',
    'an import of a file of two layers',
  ] as const)('%s that is stopped makes the same in the end, as its version has always made', async (title) => {
    await expectAlwaysSame(title)
  })

  test('an import of map data that is cut at the border and stopped makes the same, and later rows get keys of their own', async () => {
    const table = `${await expectAlwaysSame('an import of map data that is cut at the border')}_places`
    const { rowCount } = await api.db.database.query(
      `insert into ${table} (osm_type, osm_id, geom) select osm_type, -1, geom from ${table}`,
    )
    expect(rowCount).toBeGreaterThan(0)
  })

  test('what was made of another file begins anew', async () => {
    const one = CASES['a job of embeddings']
    const self = await ask(one, 'changed')
    expect(await stopOnce(self, 2, true)).toBe(true)
    await scene(8)
    await finish(self, await ask(one, 'fresh'))
    expect(await content('changed')).toEqual(await content('fresh'))
    expect([await staging(), await checkpoints()]).toEqual([[], []])
  })

  test('what a worker of another version kept is dropped, and the job begins anew', async () => {
    const one = CASES['an import of a file of two layers']
    const self = await ask(one, 'versions')
    expect(await stopOnce(self, 2, true)).toBe(true)
    {
      await using _younger = await open(api.deps.tasks.map((task) => ({ ...task, version: task.version + 1 })))
      expect(await until(api, self)).toMatchObject({ status: 'success', attempt: 1 })
      await until(api, await ask(one, 'at_once'))
    }
    expect((await messages(self)).filter((text) => one.says.test(text))).toEqual([])
    expect(await content('versions')).toEqual(await content('at_once'))
    expect([await staging(), await checkpoints()]).toEqual([[], []])
  })

  test('what a cancelled job had kept is removed though no run comes', async () => {
    const self = await ask(CASES['a job of embeddings'], 'cancelled')
    expect(await stopOnce(self, 2, true)).toBe(true)
    await api.app.inject({ method: 'DELETE', url: self, headers: HEADERS })
    expect(await read(api, self)).toMatchObject({ body: { status: 'failed', error: { code: 'cancelled' } } })
    await using _worker = await open()
    await expect.poll(staging, { timeout: 60_000, interval: 500 }).toEqual([])
    expect(await checkpoints()).toEqual([])
  })
})
