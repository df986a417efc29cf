import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from '../harness.ts'
import { Runners } from '../runners.ts'

/** Runs no jobs itself: whole workers do, to be killed. */
let api: TestWorker
let runners: Runners
beforeAll(async () => {
  api = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0', TERRANE_MODEL_DOWNLOAD: 'false' } })
  const one = { TERRANE_WORKER_CONCURRENCY: '1', TERRANE_INFERENCE_THREADS: '1' }
  runners = new Runners(new URL('../../src/main.ts', import.meta.url), { ...api.env, ...one })
  const files = join(api.folder, 'data')
  await mkdir(files)
  const image = textureImage({ width: 1536, height: 1536, bands: 3, seed: 3, type: 'uint8', noise: 8 })
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  await writeFile(
    join(files, 'scene.tif'),
    await writeGeoTiff(image, { type: 'uint8', compression: 'deflate', georeference }),
  )
})
afterAll(async () => {
  runners[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

const body = (tableName: string) => ({
  geotiffPath: 'scene.tif',
  tableName,
  modelName: BUILT_IN_MODEL,
  stride: 24,
  uploadArtifactsToStorage: true,
})

test('an embedding job whose worker is killed twice leaves the rows of an undisturbed run and nothing else', async () => {
  let worker = await runners.start()
  const calm = await submit(api, 'createGeoEmbeddings', body('calm'))
  const expected = await until(api, calm.body.links.self, (job) => job.terminal, 300_000)
  expect(expected.status).toBe('success')

  const { body: job } = await submit(api, 'createGeoEmbeddings', body('disturbed'))
  for (const attempt of [1, 2]) {
    await until(
      api,
      job.links.self,
      (record) => record.attempt === attempt && record.progress?.phase === 'embed' && record.progress.done > 200,
      120_000,
    )
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    worker = await runners.start()
  }
  const done = await until(api, job.links.self, (record) => record.terminal, 300_000)
  expect(done).toMatchObject({ status: 'success', attempt: 3, result: { rows: expected.result?.['rows'] } })

  const { database } = api.db
  const difference = await database.query(
    `select count(*)::int as n from geoembeddings.calm a full join geoembeddings.disturbed b using (id, tile_x, tile_y, px, py, valid_fraction)
     where a.geom is distinct from b.geom or a.embedding is distinct from b.embedding`,
  )
  expect(difference.rows).toEqual([{ n: 0 }])
  const staging = await database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  expect(staging.rows).toEqual([])
  const catalogue = await database.query(`select table_name from geoembeddings.embeddings_catalogue order by 1`)
  expect(catalogue.rows).toEqual([{ table_name: 'calm' }, { table_name: 'disturbed' }])
  expect(await readdir(join(api.folder, 'work'))).toEqual([])
  const objects = (await readdir(join(api.folder, 'storage', 'entries', 'geoembeddings'), { recursive: true })).filter(
    (path) => path.endsWith('.json'),
  )
  expect(objects).toHaveLength(4)
})
