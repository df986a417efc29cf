// Kill -9 at random moments of a region job, in each of its phases: one whole table in the end, nothing beside it.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@terrane/core'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'

const KILLS = 4

let api: TestWorker
const children = new Set<ChildProcess>()
const random = seededRandom(Date.now() % 2 ** 31)

beforeAll(async () => {
  api = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  await mkdir(join(api.folder, 'data'), { recursive: true })
  await writeFile(join(api.folder, 'data', 'city.osm.pbf'), Buffer.concat([...writePbf(buildCity().elements)]))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await api[Symbol.asyncDispose]()
})

async function startRunner(): Promise<ChildProcess> {
  const child = fork(new URL('osm-runner.ts', import.meta.url), {
    env: { ...api.env, TERRANE_WORKER_CONCURRENCY: '1', PORT: '45997' },
    stdio: 'inherit',
  })
  children.add(child)
  await once(child, 'message')
  return child
}

test('killed at any moment, a job makes its table once or not at all', async () => {
  for (let kill = 0; kill < KILLS; kill++) {
    const tableName = `killed_${kill}`
    const body = {
      tableName,
      h3Resolution: 9,
      aoiGeoJson: boxOf(11.5, 48.05, 11.7, 48.15),
      osmTags: { building: true, highway: true, shop: true },
      embedder: kill % 2 === 0 ? 'count' : { kind: 'hex2vec', layers: [16, 8], epochs: 2 },
      source: { kind: 'file', path: 'city.osm.pbf' },
      uploadArtifactsToStorage: true,
    }
    const { body: record } = await submit(api, 'createSraiEmbeddings', body)
    const first = await startRunner()
    await until(api, record.links.self, (job) => job.attempt === 1, 120_000)
    await sleep(random() * 3000)
    first.kill('SIGKILL')
    await once(first, 'exit')
    const second = await startRunner()
    const done = await until(api, record.links.self, (job) => job.terminal, 240_000)
    second.kill('SIGTERM')
    await once(second, 'exit')
    expect(done).toMatchObject({ status: 'success', error: null })
    const { rows } = await api.db.database.query(
      `select (select count(*)::int from geoembeddings.${tableName}) as rows,
         (select rows::int from geoembeddings.embeddings_catalogue where table_name = $1) as catalogued,
         (select count(*)::int from pg_tables where schemaname = 'terrane_staging') as staged`,
      [tableName],
    )
    const cells = Number(done.result?.['rows'])
    expect(cells).toBeGreaterThan(0)
    expect(rows).toEqual([{ rows: cells, catalogued: cells, staged: 0 }])
  }
})
