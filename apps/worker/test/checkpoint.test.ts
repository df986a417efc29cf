import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobLog } from '@terrane/contracts'
import { testLane } from '@terrane/database/testing'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../src/jobs/task.ts'
import { TOWN, townPbf } from './osm-town.ts'
import { HEADERS, openWorker, read, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const OSM = 'osmImportArea'

/** Runs no jobs; the workers that do are opened beside it. */
let api: TestWorker
let real: readonly Task[]
beforeAll(async () => {
  api = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  real = api.deps.tasks.filter(({ name }) => name === TASK || name === OSM)
  await mkdir(join(api.folder, 'data'))
  await scene(7)
  await writeFile(join(api.folder, 'data', 'town.osm.pbf'), townPbf())
})
afterAll(() => api[Symbol.asyncDispose]())

async function scene(seed: number, width = 1600): Promise<void> {
  const bytes = await writeGeoTiff(textureImage({ width, height: 1216, bands: 3, seed, noise: 8, type: 'uint8' }), {
    type: 'uint8',
    georeference: { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] },
  })
  await writeFile(join(api.folder, 'data', 'scene.tif'), bytes)
}

const ask = (tableName: string, more: object = {}) =>
  submit(api, TASK, { geotiffPath: 'scene.tif', tileSize: 64, modelName: BUILT_IN_MODEL, tableName, ...more })

const askForTown = (tablePrefix: string) =>
  submit(api, OSM, { areaName: 'Town', aoiGeoJson: TOWN, tablePrefix, source: { kind: 'file', path: 'town.osm.pbf' } })

const open = (tasks: readonly Task[]) => openWorker({ beside: api, tasks, checkpointMs: 0 })

/** Has a worker of its own do the job. */
async function finish(self: string) {
  await using _worker = await open(real)
  return await until(api, self)
}

/** Stops the worker of a job right after so many checkpoints. Returns the job and what was kept last. */
async function interrupt(asked: ReturnType<typeof submit>, after: number): Promise<{ self: string; kept: unknown }> {
  const { promise: reached, resolve: reach } = Promise.withResolvers<unknown>()
  let count = 0
  const halting = real.map((task): Task => {
    const run: Task['run'] = (input, context) => {
      const keep = async (state: unknown) => {
        await context.checkpoint.keep(state)
        if (++count < after) return
        reach(state)
        const stopped = Promise.withResolvers<never>()
        context.signal.addEventListener('abort', () => stopped.reject(context.signal.reason as Error))
        await stopped.promise
      }
      const checkpoint = { take: () => context.checkpoint.take(), isDue: true, keep }
      return task.run(input, { ...context, checkpoint })
    }
    return { ...task, run }
  })
  const { status, body } = await asked
  expect([status, body.message]).toEqual([202, undefined])
  {
    await using worker = await open(halting)
    await Promise.race([reached, until(api, body.links.self)])
    await worker.deps.drain(500)
  }
  const { body: waiting } = await read(api, body.links.self)
  expect(waiting).toMatchObject({ status: 'pending', attempt: 1 })
  return { self: body.links.self, kept: await reached }
}

const messages = async (self: string) =>
  (await api.app.inject({ url: `${self}/log`, headers: HEADERS })).json<JobLog>().data.map(({ message }) => message)

const content = async (table: string) =>
  (
    await api.db.database.query(
      `select count(*) as n, md5(string_agg(t::text, ';' order by id)) as md5 from geoembeddings.${table} t`,
    )
  ).rows
const staging = async () =>
  (await api.db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)).rows
const checkpoints = async () => (await api.db.database.query('select job_id from terrane.job_checkpoints')).rows

describe(`checkpoints (${testLane()})`, () => {
  test(
    'a job of embeddings goes on where its stopped worker was, and makes the same table',
    { timeout: 120_000 },
    async () => {
      const whole = await ask('whole')
      const expected = await finish(whole.body.links.self)
      const { self, kept } = await interrupt(ask('resumed'), 2)
      const { tiles } = kept as { tiles: number }
      expect(tiles).toBeGreaterThan(0)
      expect(await staging()).toHaveLength(1)
      const done = await finish(self)
      expect(done).toMatchObject({ status: 'success', attempt: 1 })
      expect(await content('resumed')).toEqual(await content('whole'))
      const comparable = ({ result }: typeof done) => ({ ...result, table: '', timings: {} })
      expect(comparable(done)).toEqual(comparable(expected))
      expect(await messages(self)).toContain(`going on after ${tiles} tiles of an earlier run`)
      expect([await staging(), await checkpoints()]).toEqual([[], []])
    },
  )

  test(
    'an import of map data goes on with the tables that its stopped worker had filled',
    { timeout: 120_000 },
    async () => {
      const { self } = await interrupt(askForTown('again'), 1)
      const done = await finish(self)
      expect(done).toMatchObject({ status: 'success', attempt: 1 })
      expect(await messages(self)).toContain('going on with the tables of an earlier run')
      const whole = await askForTown('at_once')
      const expected = await finish(whole.body.links.self)
      const comparable = ({ result }: typeof done) =>
        JSON.stringify({ ...result, seconds: 0 }).replaceAll(/again_|at_once_/g, '')
      expect(comparable(done)).toBe(comparable(expected))
      const rows = (prefix: string) =>
        api.db.database.query(`select osm_type, osm_id, geom from ${prefix}_buildings order by osm_type, osm_id`)
      expect((await rows('again')).rows).toEqual((await rows('at_once')).rows)
      // A row that is added later gets a key of its own.
      await api.db.database.query(
        'insert into again_places (osm_type, osm_id, geom) select osm_type, -1, geom from again_places',
      )
      expect([await staging(), await checkpoints()]).toEqual([[], []])
    },
  )

  test('what was made of another file, or has artifacts beside it, begins anew', { timeout: 120_000 }, async () => {
    const { self } = await interrupt(ask('changed'), 2)
    await scene(8, 1536)
    await finish(self)
    const fresh = await ask('fresh')
    await finish(fresh.body.links.self)
    expect(await content('changed')).toEqual(await content('fresh'))
    expect([await staging(), await checkpoints()]).toEqual([[], []])
  })

  test('what a cancelled job had kept is removed though no run comes', { timeout: 120_000 }, async () => {
    const { self } = await interrupt(ask('cancelled'), 2)
    await api.app.inject({ method: 'DELETE', url: self, headers: HEADERS })
    expect(await read(api, self)).toMatchObject({ body: { status: 'failed', error: { code: 'cancelled' } } })
    await using _worker = await open(real)
    await expect.poll(staging, { timeout: 60_000, interval: 500 }).toEqual([])
    expect(await checkpoints()).toEqual([])
  })
})
