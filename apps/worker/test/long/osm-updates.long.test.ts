// Slow: a hundred change files, each followed by an import of the newer extract, and workers that are killed meanwhile.
// With OSMIUM (the command) and PEER_FOLDER (a folder both can see, as `ours` or `ours=theirs`) osmium derives the change files
// from the two extracts; otherwise the map writes them itself.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@terrane/core'
import { testLane } from '@terrane/database/testing'
import { ChangingMap, MAP_BOX } from '@terrane/testing/changing-map'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { Runners } from '../runners.ts'

// oxlint-disable node/no-process-env -- where a peer is, is said by the machine
const osmium = process.env['OSMIUM']?.split(' ')
const [folder, theirFolder = folder] = (process.env['PEER_FOLDER'] ?? '').split('=')
// oxlint-enable node/no-process-env
const isServer = testLane() === 'postgres'
/** The embedded database is much slower. */
const FILES = isServer ? 100 : 20
const KILLS = isServer ? 10 : 3
/** Points, lines, areas and routes, of nodes, ways and relations. */
const TOPICS = ['buildings', 'streets', 'water', 'places', 'boundaries', 'transit', 'addresses', 'routes']

let api: TestWorker
let runners: Runners
beforeAll(async () => {
  api = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  mkdirSync(join(api.folder, 'data'), { recursive: true })
  if (folder) mkdirSync(folder, { recursive: true })
  runners = new Runners(new URL('../task-runner.ts', import.meta.url), api.env)
})
afterAll(async () => {
  runners[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

async function start(task: string, body: object): Promise<string> {
  const { status, body: record } = await submit(api, task, body)
  expect(record.message ?? status).toBe(202)
  return record.links.self
}

const ended = (self: string): Promise<JobRecord> => until(api, self, (job) => job.terminal, 300_000)

async function importMap(prefix: string, document: string, body: object): Promise<void> {
  writeFileSync(join(api.folder, 'data', `${prefix}.osm`), document)
  const source = { kind: 'file', path: `${prefix}.osm` }
  const area = boxOf(MAP_BOX[0] + 0.02, MAP_BOX[1] + 0.02, MAP_BOX[2] - 0.03, MAP_BOX[3] - 0.01)
  const request = { areaName: 'Map', aoiGeoJson: area, topics: TOPICS, tablePrefix: prefix, source, ...body }
  expect(await ended(await start('osmImportArea', request))).toMatchObject({ status: 'success' })
}

/** The change from one extract to the next. */
function changeFile(before: string, after: string, own: string): string | Uint8Array {
  if (!osmium || !folder) return own
  const [command = '', ...options] = osmium
  writeFileSync(join(folder, 'before.osm'), before)
  writeFileSync(join(folder, 'after.osm'), after)
  const paths = ['before.osm', 'after.osm'].map((name) => join(theirFolder!, name))
  const result = join(theirFolder!, 'change.osc.gz')
  execFileSync(command, [...options, 'derive-changes', ...paths, '-o', result, '--overwrite'], { stdio: 'ignore' })
  return readFileSync(join(folder, 'change.osc.gz'))
}

/** Tables that differ: rows of one that the other lacks. */
async function differences(one: string, other: string): Promise<string[]> {
  const { rows } = await api.db.database.query<{ name: string }>(
    `select substr(table_name, length($1) + 2) as name from terrane.imports where starts_with(table_name, $1 || '_')`,
    [one],
  )
  const found: string[] = []
  for (const { name } of rows) {
    const of = (prefix: string) =>
      `select to_jsonb(t) - 'id' - 'geom' as row, st_asewkb(geom) as geom from ${prefix}_${name} t`
    const { rows: counts } = await api.db.database.query<{ count: number }>(
      `select count(*) as count from ((${of(one)} except all ${of(other)}) union all (${of(other)} except all ${of(one)})) d`,
    )
    if (counts[0]!.count > 0) found.push(`${name}: ${counts[0]!.count}`)
  }
  return found
}

test(`tables equal a fresh import after each of ${FILES} change files, with ${KILLS} kills in between`, async () => {
  const random = seededRandom(36)
  const map = new ChangingMap(36, 60)
  let runner = await runners.start()
  let document = map.document()
  await importMap('kept', document, { updatable: true })
  const killed = new Set(Array.from({ length: KILLS }, (_, i) => Math.floor(((i + random()) * FILES) / KILLS)))
  let milliseconds = 0
  for (let file = 0; file < FILES; file++) {
    const own = map.change(5 + Math.floor(random() * 40))
    const next = map.document()
    writeFileSync(join(api.folder, 'data', 'change.osc'), changeFile(document, next, own))
    document = next
    const source = { kind: 'files', files: [{ kind: 'file', path: 'change.osc' }] }
    const began = performance.now()
    const self = await start('osmUpdateArea', { tablePrefix: 'kept', source })
    if (killed.has(file)) {
      await until(api, self, ({ status }) => status !== 'pending')
      await sleep(random() * 400)
      await runners.end(runner, 'SIGKILL')
      runner = await runners.start()
    }
    expect(await ended(self)).toMatchObject({ status: 'success', result: { files: 1 } })
    if (!killed.has(file)) milliseconds += performance.now() - began
    await importMap('fresh', document, { mode: 'replace' })
    expect([file, await differences('kept', 'fresh')]).toEqual([file, []])
  }
  const { rows } = await api.db.database.query('select version from terrane.osm_imports')
  expect(rows).toEqual([{ version: FILES }])
  // oxlint-disable-next-line no-console -- what a run took
  console.log(`${FILES} files${osmium ? ' of osmium' : ''}, ${(milliseconds / (FILES - KILLS)).toFixed(0)} ms each`)
  await runners.end(runner, 'SIGKILL')
}, 1_800_000)
