// ogr2ogrImport with the built-in engine beside native ogr2ogr, file to table, on six formats of the same lines.
//
//   DATABASE_URL   a PostgreSQL server with PostGIS, on which a database is made and dropped
//   OGR2OGR        command of the peer, default `ogr2ogr`; PEER_DATABASE its PG: connection, default from DATABASE_URL
//   ROUNDS         rounds of each, interleaved; 3 when absent
//   BENCH_DIR      where files go, default a temporary directory; PEER_DIR is that directory as the peer sees it. An
//                  existing file there, such as lines.gpkg, is used as it is
//   LINES          number of lines; 100,000 when absent
//   ENDINGS        file extensions of the formats to compare, such as geojson,gpkg; all when absent
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom, uuidv7 } from '@terrane/core'
import { migrate, openDatabase } from '@terrane/database'
import { beginRun } from '@terrane/database/staging'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { openStore } from '@terrane/storage'
import { NO_CHECKPOINT } from '../src/jobs/task.ts'
import { wasmEngine } from '@terrane/files'
import { ogr2ogrImport } from '../src/jobs/ogr2ogr-import.ts'
import type { JobContext } from '../src/jobs/task.ts'
import { convertTo } from '@terrane/testing/files'

const LINES = Number(process.env['LINES'] ?? 100_000)
const endings = process.env['ENDINGS']?.split(',')
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
/** Unit of CPU times in /proc: Linux reports hundredths of a second. */
const TICKS_PER_SECOND = 100
const url = process.env['DATABASE_URL']
if (!url) throw new Error('set DATABASE_URL to a PostgreSQL server with PostGIS')
const directory = process.env['BENCH_DIR'] ?? mkdtempSync(join(tmpdir(), 'ogr-bench-'))
const peerDirectory = process.env['PEER_DIR'] ?? directory
const [peer, ...peerArguments] = (process.env['OGR2OGR'] ?? 'ogr2ogr').split(' ') as [string, ...string[]]
const hasPeer = canRun()
if (!hasPeer) console.log(`SKIPPED the comparison: '${peer}' cannot be run (set OGR2OGR)`)

const name = `ogr_bench_${process.pid}`
await using server = await openDatabase({ url, max: 1 })
await server.query(`create database ${name}`)
const own = new URL(url)
own.pathname = `/${name}`
const database = await openDatabase({ url: own.href })
await migrate(database, ['control', 'project'])
const store = openStore(`file:${join(directory, 'storage')}`)
if (!(await store.getBucket('bench'))) {
  await store.createBucket('bench', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
}
try {
  const formats: [format: string, ending: string, driver: string | null, options?: string[]][] = [
    ['GeoJSON', 'geojson', null],
    ['GeoJSONSeq', 'geojsonl', 'GeoJSONSeq'],
    ['GPKG', 'gpkg', 'GPKG'],
    ['FlatGeobuf', 'fgb', 'FlatGeobuf'],
    ['Shapefile', 'zip', 'ESRI Shapefile'],
    ['CSV with WKT', 'csv', 'CSV', ['-lco', 'GEOMETRY=AS_WKT']],
  ]
  for (const [format, ending, driver, options] of formats) {
    if (endings?.includes(ending) === false) continue
    const file = `lines.${ending}`
    const path = join(directory, file)
    const bytes = existsSync(path)
      ? readFileSync(path)
      : driver === null
        ? Buffer.from(lines(LINES))
        : await convertTo(driver, lines(LINES), options)
    await compare(format, file, bytes)
  }
} finally {
  await database.close()
  await server.query(`drop database ${name} with (force)`)
}

async function compare(format: string, file: string, bytes: Buffer): Promise<void> {
  await writeFile(join(directory, file), bytes)
  await store.put('bench', file, [bytes] as never, { upsert: true })
  const ours: Cost[] = []
  const theirs: Cost[] = []
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await timed(() => runOurs(file)))
    await database.query('drop table ours')
    if (!hasPeer) continue
    theirs.push(await timed(async () => runPeer(file)))
    const { rows } = await database.query('select count(*) as rows from theirs')
    if (rows[0]?.['rows'] !== LINES) throw new Error(`the peer imported ${rows[0]?.['rows']} rows`)
    await database.query('drop table theirs')
  }
  console.log(`${format} (${(bytes.length / 1e6).toFixed(1)} MB)`)
  for (const unit of ['clock', 'cpu'] as const) {
    const [here, there] = [ours, theirs].map((costs) => costs.map((cost) => cost[unit])) as [number[], number[]]
    const ratio = hasPeer ? `; native ${show(there)} s; RATIO ${(median(here) / median(there)).toFixed(2)}` : ''
    console.log(`  ${unit}: ours ${show(here)} s${ratio}`)
  }
}

async function runOurs(file: string): Promise<void> {
  const workdir = join(directory, 'work')
  mkdirSync(workdir)
  const context: JobContext = {
    run: await beginRun(database, uuidv7()),
    attempt: 1,
    project: { ref: 'bench', database, store },
    signal: new AbortController().signal,
    logger: createLogger({ name: 'bench', level: 'silent' }),
    fetch: createGuardedFetch(),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  }
  const task = ogr2ogrImport({ engine: wasmEngine, maxBytes: 1e9 })
  const result = await task.run({ storagePath: { bucket: 'bench', path: file }, tableName: 'ours' }, context)
  if (result['rows'] !== LINES || result['rejected'] !== 0) throw new Error(JSON.stringify(result))
  rmSync(workdir, { recursive: true })
}

function runPeer(file: string): void {
  const { hostname, port, username, password } = own
  const target =
    process.env['PEER_DATABASE'] ??
    `PG:host=${hostname} port=${port || 5432} user=${username} dbname=${name}${password ? ` password=${password}` : ''}`
  const source = file.endsWith('.zip') ? `/vsizip/${join(peerDirectory, file)}` : join(peerDirectory, file)
  const options = ['-nln', 'theirs', '-nlt', 'PROMOTE_TO_MULTI', '-lco', 'GEOMETRY_NAME=geom', '-t_srs', 'EPSG:4326']
  const csv = file.endsWith('.csv')
    ? ['-oo', 'GEOM_POSSIBLE_NAMES=WKT', '-oo', 'KEEP_GEOM_COLUMNS=NO', '-s_srs', 'EPSG:4326']
    : []
  const all = [
    ...peerArguments,
    '--config',
    'PG_USE_COPY',
    'YES',
    '-f',
    'PostgreSQL',
    target,
    source,
    ...options,
    ...csv,
  ]
  execFileSync(peer, all, { stdio: ['ignore', 'ignore', 'inherit'] })
}

function show(seconds: readonly number[]): string {
  return seconds.map((s) => s.toFixed(2)).join(', ')
}

/** Winding lines with four attributes. */
function lines(count: number): string {
  const random = seededRandom(1)
  const features = Array.from({ length: count }, (_, id) => {
    let [lng, lat] = [random() * 10, 45 + random() * 5]
    const coordinates = Array.from({ length: 3 + Math.floor(random() * 12) }, () => [
      Number((lng += (random() - 0.5) / 500).toFixed(7)),
      Number((lat += (random() - 0.5) / 500).toFixed(7)),
    ])
    const properties = {
      osm: 1_000_000 + id,
      name: `Street ${Math.floor(random() * 5000)}`,
      lanes: id % 4,
      width: random() * 9,
    }
    return JSON.stringify({ type: 'Feature', properties, geometry: { type: 'LineString', coordinates } })
  })
  return `{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}`
}

/** Wall-clock seconds, and CPU seconds of this process and its children. CPU of the database server is not included. */
interface Cost {
  readonly clock: number
  readonly cpu: number
}

async function timed(work: () => Promise<void>): Promise<Cost> {
  const [start, before] = [performance.now(), cpuSeconds()]
  await work()
  return { clock: (performance.now() - start) / 1000, cpu: cpuSeconds() - before }
}

/** proc(5): utime, stime, cutime and cstime are fields 14 to 17; the second may contain spaces and ends with `)`. */
function cpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}

function canRun(): boolean {
  try {
    execFileSync(peer, [...peerArguments, '--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
