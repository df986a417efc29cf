// Compares osmImportArea with osm2pgsql's flex output: the same tables and indexes from the same whole file.
// DATABASE_URL names a server on which a database may be made. The peer is found through OSM2PGSQL (the command, by
// default osm2pgsql) and PEER_FOLDER (a folder that both can see, as `ours` or `ours=theirs`); without the peer only
// osmImportArea is timed. OSM_MEMORY_MB bounds the memory of osmImportArea, as TERRANE_OSM_MEMORY_MB does.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { migrate, openDatabase, quoteIdentifier, type Database } from '@terrane/database'
import { beginRun } from '@terrane/database/staging'
import { TOPIC_TABLES, topicTables } from '@terrane/osm'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { NO_CHECKPOINT } from '../src/jobs/task.ts'
import { osmImportArea } from '../src/jobs/osm-import-area.ts'
import { flexStyle } from './osm2pgsql-style.ts'

const server = process.env['DATABASE_URL']
if (!server) throw new Error('set DATABASE_URL to a PostgreSQL server with PostGIS')
const [input, rounds = '3', ...topics] = process.argv.slice(2)
if (!input) throw new Error('usage: osm-import.bench.ts extract.osm.pbf [rounds] [topic ...]')
const [folder, theirFolder = folder] = (process.env['PEER_FOLDER'] ?? '').split('=')
const peer = (process.env['OSM2PGSQL'] ?? 'osm2pgsql').split(' ')

const name = `terrane_bench_${process.pid}`
const admin = await openDatabase({ url: server, max: 1 })
await admin.query(`create database ${quoteIdentifier(name)}`)
const url = new URL(server)
url.pathname = `/${name}`
const database = await openDatabase({ url: url.href })
try {
  await migrate(database, ['project'])
  await bench(database, url.href)
} finally {
  await database.close()
  await admin.query(`drop database ${quoteIdentifier(name)} with (force)`)
  await admin.close()
}

async function bench(target: Database, peerUrl: string): Promise<void> {
  const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] }
  const tables = topicTables(topics)
  let rows: number[] = []
  let theirRows: number[] = []
  for (let round = 0; round < Number(rounds); round++) {
    await dropTables(target)
    const start = performance.now()
    rows = await importHere(target)
    times.ours.push((performance.now() - start) / 1000)
    if (!folder) continue
    const began = performance.now()
    importThere(peerUrl)
    times.theirs.push((performance.now() - began) / 1000)
    theirRows = await Promise.all(tables.map(async ({ suffix }) => count(target, `theirs_${suffix}`)))
  }
  const megabytes = statSync(input!).size / 1e6
  console.log(`import ${basename(input!)}, ${megabytes.toFixed(1)} MB, ${tables.length} tables, ${rounds} rounds`)
  const rss = (process.resourceUsage().maxRSS / 1024).toFixed(0)
  console.log(`  ours       ${times.ours.map((seconds) => seconds.toFixed(1)).join(' ')} s, ${rss} MB RSS at most`)
  if (!folder) return
  console.log(`  osm2pgsql  ${times.theirs.map((seconds) => seconds.toFixed(1)).join(' ')} s`)
  for (const [i, { suffix }] of tables.entries()) {
    const [ours, theirs] = [rows[i]!, theirRows[i]!]
    const share = theirs === 0 ? Number(ours > 0) : Math.abs(ours - theirs) / theirs
    console.log(
      `  ${suffix.padEnd(16)} ${String(ours).padStart(8)} ${String(theirs).padStart(8)}  ${(share * 100).toFixed(3)} %`,
    )
  }
  console.log(`RATIO ours / osm2pgsql = ${(median(times.ours) / median(times.theirs)).toFixed(2)}`)
}

async function importHere(target: Database): Promise<number[]> {
  const workdir = mkdtempSync(join(tmpdir(), 'terrane-bench-'))
  const task = osmImportArea({
    defaultSource: input!,
    geofabrikUrl: '',
    overpassUrl: '',
    dataRoots: [],
    cacheFolder: workdir,
    maxCacheBytes: 0,
    maxBytes: Infinity,
    maxNodes: Infinity,
    memoryBytes: Number(process.env['OSM_MEMORY_MB'] ?? 0) * 2 ** 20 || null,
    maxAreaKm2: Infinity,
    maxVertices: 100,
  })
  const world = [[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]] // prettier-ignore
  const body = {
    areaName: 'Bench',
    tablePrefix: 'ours',
    aoiGeoJson: { type: 'Polygon', coordinates: [world] },
    ...(topics.length > 0 && { topics }),
  }
  const result = await task.run(body, {
    run: await beginRun(database, crypto.randomUUID()),
    attempt: 1,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an import touches no storage
    project: { ref: 'bench', database: target, store: null as never },
    signal: new AbortController().signal,
    logger: createLogger({ name: 'bench', level: 'silent' }),
    fetch: createGuardedFetch(),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  })
  rmSync(workdir, { recursive: true })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the public result of the task
  return (result['tables'] as { rows: number }[]).map((table) => table.rows)
}

function importThere(peerUrl: string): void {
  const shared = join(folder!, basename(input!))
  mkdirSync(dirname(shared), { recursive: true })
  copyFileSync(input!, shared)
  const wanted = new Set(topicTables(topics).map(({ suffix }) => suffix))
  writeFileSync(
    join(folder!, 'style.lua'),
    flexStyle(
      TOPIC_TABLES.filter((table) => wanted.has(table.name)),
      'theirs',
    ),
  )
  const [command = '', ...before] = peer
  const style = join(theirFolder!, 'style.lua')
  execFileSync(command, [...before, '-d', peerUrl, '-O', 'flex', '-S', style, join(theirFolder!, basename(input!))], {
    stdio: 'pipe',
  })
}

async function dropTables(target: Database): Promise<void> {
  for (const { suffix } of topicTables(topics))
    await target.query(`drop table if exists ${quoteIdentifier(`ours_${suffix}`)}`)
}

async function count(target: Database, table: string): Promise<number> {
  const { rows } = await target.query<{ count: number }>(`select count(*) as count from ${quoteIdentifier(table)}`)
  return rows[0]?.count ?? 0
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
