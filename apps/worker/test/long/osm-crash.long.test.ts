// Kill -9 and cancellation at random moments of an import: all tables or none, and nothing in the staging schema.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@terrane/core'
import { writePbf, type OsmElement } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HEADERS, openWorker, submit, until, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'

const POINTS = 10
const TOWNS = 12

let api: TestWorker
const children = new Set<ChildProcess>()
const random = seededRandom(Date.now() % 2 ** 31)

beforeAll(async () => {
  api = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  await mkdir(join(api.folder, 'data'), { recursive: true })
  await writeFile(join(api.folder, 'data', 'towns.osm.pbf'), Buffer.concat([...writePbf(towns())]))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await api[Symbol.asyncDispose]()
})

/** Towns side by side, so that an import takes a while. */
function* towns(): Generator<OsmElement> {
  const { elements } = buildCity()
  for (const type of ['node', 'way', 'relation'] as const) {
    for (let town = 0; town < TOWNS; town++) {
      const shift = town * 100_000
      for (const element of elements) {
        if (element.type !== type) continue
        const id = element.id + shift
        if (element.type === 'node') yield { ...element, id, lon: element.lon + town * 0.05 }
        else if (element.type === 'way') yield { ...element, id, refs: element.refs.map((ref) => ref + shift) }
        else
          yield { ...element, id, members: element.members.map((member) => ({ ...member, ref: member.ref + shift })) }
      }
    }
  }
}

async function startRunner(): Promise<ChildProcess> {
  const child = fork(new URL('osm-runner.ts', import.meta.url), {
    env: { ...api.env, TERRANE_WORKER_CONCURRENCY: '1', PORT: '45998' },
    stdio: 'inherit',
  })
  children.add(child)
  await once(child, 'message')
  return child
}

async function start(prefix: string): Promise<string> {
  const body = {
    areaName: 'Towns',
    tablePrefix: prefix,
    aoiGeoJson: boxOf(11, 48, 13, 48.5),
    source: { kind: 'file', path: 'towns.osm.pbf' },
  }
  return (await submit(api, 'osmImportArea', body)).body.links.self
}

async function tables(schema: string, prefix: string): Promise<number> {
  const { rows } = await api.db.database.query<{ count: number }>(
    `select count(*)::int as count from pg_tables where schemaname = $1 and starts_with(tablename, $2)`,
    [schema, prefix],
  )
  return rows[0]?.count ?? -1
}

/** How long a whole import takes here, in milliseconds. */
async function measure(): Promise<number> {
  const runner = await startRunner()
  const self = await start('whole')
  await until(api, self, (job) => job.status === 'running')
  const began = performance.now()
  expect(await until(api, self, (job) => job.terminal, 120_000)).toMatchObject({ status: 'success' })
  const took = performance.now() - began
  expect(await tables('public', 'whole_')).toBe(15)
  await stop(runner)
  return took
}

async function stop(runner: ChildProcess): Promise<void> {
  const exited = once(runner, 'exit')
  runner.kill('SIGKILL')
  await exited
  children.delete(runner)
}

test(`killed at ${POINTS} random moments it ends as if nothing had happened`, async () => {
  const took = await measure()
  for (let point = 0; point < POINTS; point++) {
    const prefix = `kill_${point}`
    const killed = await startRunner()
    const self = await start(prefix)
    await until(api, self, (job) => job.status === 'running')
    await sleep(random() * took)
    await stop(killed)
    expect([0, 15]).toContain(await tables('public', `${prefix}_`))
    const next = await startRunner()
    expect(await until(api, self, (job) => job.terminal, 120_000)).toMatchObject({ status: 'success' })
    expect(await tables('public', `${prefix}_`)).toBe(15)
    expect(await tables('terrane_staging', '')).toBe(0)
    const { rows } = await api.db.database.query(`select count(*)::int as houses from ${prefix}_buildings`)
    expect(rows).toEqual((await api.db.database.query(`select count(*)::int as houses from whole_buildings`)).rows)
    await stop(next)
    for (const { name } of (
      await api.db.database.query<{ name: string }>(
        `select tablename as name from pg_tables where schemaname = 'public' and starts_with(tablename, '${prefix}_')`,
      )
    ).rows) {
      await api.db.database.query(`drop table public.${name}`)
    }
  }
})

test(`cancelled at ${POINTS} random moments it leaves nothing behind`, async () => {
  const runner = await startRunner()
  let cancelled = 0
  for (let point = 0; point < POINTS; point++) {
    const prefix = `cancel_${point}`
    const self = await start(prefix)
    await until(api, self, (job) => job.status === 'running')
    await sleep(random() * 1500)
    const response = await api.app.inject({ method: 'DELETE', url: self, headers: HEADERS })
    expect([200, 202]).toContain(response.statusCode)
    const job = await until(api, self, (record) => record.terminal)
    const whole = job.status === 'success'
    if (!whole) cancelled++
    expect(job.error?.code ?? 'none').toBe(whole ? 'none' : 'cancelled')
    expect(await tables('public', `${prefix}_`)).toBe(whole ? 15 : 0)
    expect(await tables('terrane_staging', '')).toBe(0)
  }
  expect(cancelled).toBeGreaterThan(POINTS / 2)
  await stop(runner)
})
