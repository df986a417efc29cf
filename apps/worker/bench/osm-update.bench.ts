// Compares osmUpdateArea with osm2pgsql --append: the same change files on the same tables. The extract is copied
// several times, side by side. DATABASE_URL, OSM2PGSQL and PEER_FOLDER are those of osm-import.bench.ts.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { migrate, openDatabase, quoteIdentifier, type Database } from '@terrane/database'
import { beginRun } from '@terrane/database/staging'
import { TOPIC_TABLES, blockElements, fileSource, openOsm, topicTables, writePbf, type OsmElement } from '@terrane/osm'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { NO_CHECKPOINT, type Task } from '../src/jobs/task.ts'
import { osmImportArea } from '../src/jobs/osm-import-area.ts'
import { osmUpdateArea } from '../src/jobs/osm-update-area.ts'
import { flexStyle } from './osm2pgsql-style.ts'

const server = process.env['DATABASE_URL']
if (!server) throw new Error('set DATABASE_URL to a PostgreSQL server with PostGIS')
const [input, copies = '9', edits = '300', rounds = '3'] = process.argv.slice(2)
if (!input) throw new Error('usage: osm-update.bench.ts extract.osm.pbf [copies] [edits per file] [files]')
const work = mkdtempSync(join(tmpdir(), 'terrane-bench-'))
const [folder = work, theirFolder = folder] = (process.env['PEER_FOLDER'] ?? work).split('=')
const peer = process.env['PEER_FOLDER'] ? (process.env['OSM2PGSQL'] ?? 'osm2pgsql').split(' ') : null
const settings = {
  defaultSource: join(folder, 'extract.osm.pbf'),
  geofabrikUrl: '',
  overpassUrl: '',
  dataRoots: [folder],
  cacheFolder: work,
  maxCacheBytes: 0,
  maxBytes: Infinity,
  maxNodes: Infinity,
  memoryBytes: null,
  maxAreaKm2: Infinity,
  maxVertices: 100,
}
const world = [[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]] // prettier-ignore

const name = `terrane_bench_${process.pid}`
const admin = await openDatabase({ url: server, max: 1 })
await admin.query(`create database ${quoteIdentifier(name)}`)
const url = new URL(server)
url.pathname = `/${name}`
const database = await openDatabase({ url: url.href })
try {
  await migrate(database, ['project'])
  await bench(database)
} finally {
  await database.close()
  await admin.query(`drop database ${quoteIdentifier(name)} with (force)`)
  await admin.close()
  rmSync(work, { recursive: true, force: true })
}

async function bench(target: Database): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const elements = await laidOut(Number(copies))
  writeFileSync(
    settings.defaultSource,
    Buffer.concat([...writePbf(elements, { optionalFeatures: ['Sort.Type_then_ID'] })]),
  )
  console.log(`${elements.length} elements, ${edits} edits in each of ${rounds} files`)
  const area = { areaName: 'Bench', tablePrefix: 'ours', aoiGeoJson: { type: 'Polygon', coordinates: [world] } }
  const plain = await timed(() => run(osmImportArea(settings), { ...area, tablePrefix: 'plain' }))
  const kept = await timed(() => run(osmImportArea(settings), { ...area, updatable: true }))
  const { rows } = await target.query<{ bytes: number }>(
    `select pg_total_relation_size(('terrane.' || pages_table)::regclass) as bytes from terrane.osm_imports`,
  )
  console.log(
    `  import ${plain.toFixed(1)} s, updatable ${kept.toFixed(1)} s, pages ${(rows[0]!.bytes / 1e6).toFixed(0)} MB`,
  )
  writeFileSync(
    join(folder, 'style.lua'),
    flexStyle(
      TOPIC_TABLES.filter(({ topic }) => topic !== 'all'),
      'theirs',
    ),
  )
  if (peer)
    console.log(`  osm2pgsql --slim ${(await timed(() => there(['-c', '--slim'], 'extract.osm.pbf'))).toFixed(1)} s`)
  for (let round = 0; round < Number(rounds); round++) {
    const path = `${round}.osc`
    writeFileSync(join(folder, path), changeOf(elements, Number(edits), round))
    const body = { tablePrefix: 'ours', source: { kind: 'files', files: [{ kind: 'file', path }] } }
    const ours = await timed(() => run(osmUpdateArea(settings), body))
    const theirs = peer && (await timed(() => there(['-a', '--slim'], path)))
    console.log(
      `  file ${round}: ours ${ours.toFixed(2)} s${theirs === null ? '' : `, osm2pgsql --append ${theirs.toFixed(2)} s`}`,
    )
  }
  if (!peer) return
  for (const { suffix } of topicTables()) {
    const counted = ['ours', 'theirs'].map((prefix) => target.query(`select count(*) from ${prefix}_${suffix}`))
    const [ours, theirs] = (await Promise.all(counted)).map((answer) => Number(answer.rows[0]!['count']))
    if (ours !== theirs) console.log(`  ${suffix}: ${ours} rows, osm2pgsql ${theirs}`)
  }
}

/** Copies of the extract, each at its own place and with its own ids. */
async function laidOut(times: number): Promise<OsmElement[]> {
  const once: OsmElement[] = []
  await (await openOsm(await fileSource(input!))).read((block) => void once.push(...blockElements(block)))
  return (['node', 'way', 'relation'] as const).flatMap((kind) =>
    Array.from({ length: times }, (_, copy) =>
      once.filter(({ type }) => type === kind).map((one) => moved(one, copy)),
    ).flat(),
  )
}

function moved(one: OsmElement, copy: number): OsmElement {
  const shift = copy * 1e10
  const id = one.id + shift
  if (one.type === 'node') return { ...one, id, lon: one.lon + (copy % 10), lat: one.lat + Math.floor(copy / 10) }
  if (one.type === 'way') return { ...one, id, refs: one.refs.map((ref) => ref + shift) }
  return { ...one, id, members: one.members.map((member) => ({ ...member, ref: member.ref + shift })) }
}

/** Typical edits: mostly moved nodes, then new buildings, changed tags and deletions. */
function changeOf(elements: readonly OsmElement[], count: number, seed: number): string {
  const random = seededRandom(seed)
  const any = <T extends OsmElement['type']>(type: T): Extract<OsmElement, { type: T }> => {
    for (;;) {
      const one = elements[Math.floor(random() * elements.length)]!
      if (one.type === type) return one as Extract<OsmElement, { type: T }>
    }
  }
  // osm2pgsql requires sorted elements without duplicates.
  const changes = { node: new Map<number, string>(), way: new Map<number, string>() }
  const way = (action: string, id: number, refs: readonly number[], tag: string): void => {
    const parts = refs.map((ref) => `<nd ref="${ref}"/>`).join('')
    changes.way.set(id, `<${action}><way id="${id}" version="2">${parts}${tag}</way></${action}>`)
  }
  for (let i = 0; i < count; i++) {
    const node = any('node')
    const set = (action: string, id: number, x: number, y: number): void => {
      const at = `lon="${(node.lon + x).toFixed(7)}" lat="${(node.lat + y).toFixed(7)}"`
      changes.node.set(id, `<${action}><node id="${id}" version="2" ${at}/></${action}>`)
    }
    if (i % 10 < 6) set('modify', node.id, 1e-5, 0)
    else if (i % 10 < 8) {
      const ids = [1, 2, 3, 4].map((corner) => 1e12 + seed * 1e6 + i * 10 + corner)
      for (const [c, id] of ids.entries()) set('create', id, c === 1 || c === 2 ? 1e-4 : 0, c > 1 ? 1e-4 : 0)
      way('create', ids[0]!, [...ids, ids[0]!], '<tag k="building" v="yes"/>')
    } else if (i % 10 < 9) {
      const { id, refs } = any('way')
      way('modify', id, refs, '<tag k="highway" v="service"/>')
    } else way('delete', any('way').id, [], '')
  }
  const sorted = [changes.node, changes.way].flatMap((kind) => [...kind].toSorted(([a], [b]) => a - b))
  return `<osmChange version="0.6">${sorted.map(([, text]) => text).join('')}</osmChange>`
}

async function run(task: Task, body: object): Promise<void> {
  const workdir = mkdtempSync(join(work, 'job-'))
  await task.run(body, {
    run: await beginRun(database, crypto.randomUUID()),
    attempt: 1,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files are all that is read
    project: { ref: 'bench', database, store: null as never },
    signal: new AbortController().signal,
    logger: createLogger({ name: 'bench', level: 'silent' }),
    fetch: createGuardedFetch(),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  })
}

function there(mode: readonly string[], file: string): void {
  const [command = '', ...before] = peer!
  const style = join(theirFolder, 'style.lua')
  const options = ['-d', url.href, '-O', 'flex', '-S', style, ...mode, join(theirFolder, file)]
  execFileSync(command, [...before, ...options], {
    stdio: ['ignore', 'ignore', process.env['BENCH_DEBUG'] ? 'inherit' : 'ignore'],
  })
}

async function timed(step: () => unknown): Promise<number> {
  const start = performance.now()
  await step()
  return (performance.now() - start) / 1000
}
