// overtureImportArea on a generated file in Overture's layout, over HTTP: compares the bytes read with the bytes of the
// row groups that intersect the area, which is the minimum for a reader of whole row groups.
//
//   DATABASE_URL   a PostgreSQL server with PostGIS, on which a database is made and dropped
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { uuidv7 } from '@terrane/core'
import { migrate, openDatabase } from '@terrane/database'
import { beginRun } from '@terrane/database/staging'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { openStore } from '@terrane/storage'
import { NO_CHECKPOINT } from '../src/jobs/task.ts'
import { overtureImportArea } from '../src/jobs/overture-import-area.ts'
import type { JobContext } from '../src/jobs/task.ts'
import { boxOf } from '../test/osm-town.ts'
import { features, indexParquet, overtureParquet, serveFiles } from '@terrane/testing/overture'

const BUILDINGS = 300_000
const GROUP_ROWS = 5000
const RELEASE = '2026-08-19.0'
const GOAL = 1.15
const url = process.env['DATABASE_URL']
if (!url) throw new Error('set DATABASE_URL to a PostgreSQL server with PostGIS')

const name = `overture_bench_${process.pid}`
const workdir = mkdtempSync(join(tmpdir(), 'overture-bench-'))
await using files = await serveFiles()
await using server = await openDatabase({ url, max: 1 })
await server.query(`create database ${name}`)
const own = new URL(url)
own.pathname = `/${name}`
const database = await openDatabase({ url: own.href })
const all = features(BUILDINGS, 'building', 1)
try {
  await migrate(database, ['control', 'project'])
  publish(overtureParquet(all, GROUP_ROWS))
  // The features lie from south to north: the height of an area decides how many row groups it meets.
  for (const height of [0.05, 1, 5, 12]) await importStrip(height)
} finally {
  await database.close()
  await server.query(`drop database ${name} with (force)`)
  rmSync(workdir, { recursive: true })
}

function publish(bytes: Uint8Array): void {
  const path = '/release/part-0.zstd.parquet'
  const links = [{ rel: 'child', href: `./${RELEASE}/catalog.json` }]
  const index = indexParquet([{ type: 'building', href: `${files.base}${path}`, bbox: [0, 0, 11, 11] }])
  files.files.set(path, bytes)
  files.files.set('/catalog.json', Buffer.from(JSON.stringify({ latest: RELEASE, links })))
  files.files.set(`/${RELEASE}/collections.parquet`, index)
  console.log(`${BUILDINGS} buildings, ${(bytes.length / 1e6).toFixed(1)} MB, ${BUILDINGS / GROUP_ROWS} row groups`)
}

async function importStrip(height: number): Promise<void> {
  const limits = { maxAreaKm2: Infinity, maxVertices: 100 }
  const task = overtureImportArea({ catalogueUrl: `${files.base}/catalog.json`, ...limits })
  const context: JobContext = {
    run: await beginRun(database, uuidv7()),
    attempt: 1,
    project: { ref: 'bench', database, store: openStore(`file:${workdir}`) },
    signal: new AbortController().signal,
    logger: createLogger({ name: 'bench', level: 'silent' }),
    fetch: createGuardedFetch({ allowHosts: [files.host] }),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  }
  const area = boxOf(-1, 4 - height / 4, 12, 4 + (height * 3) / 4)
  const body = { areaName: 'strip', aoiGeoJson: area, types: ['building'], tablePrefix: 'strip' }
  const start = performance.now()
  const result = await task.run(body, context)
  const seconds = (performance.now() - start) / 1000
  await database.query('drop table strip_building')
  const source = result['source'] as Record<'row_groups' | 'requests' | 'bytes_read' | 'selected_bytes', number>
  const [{ rows }] = result['tables'] as [{ rows: number }]
  const [south, north] = [4 - height / 4, 4 + (height * 3) / 4]
  const expected = all.filter(({ box }) => box[1] <= north && box[3] >= south).length
  if (rows !== expected) throw new Error(`${rows} of ${expected} rows`)
  const ratio = source.bytes_read / source.selected_bytes
  console.log(
    `${height} degrees: ${rows} rows, ${source.row_groups} row groups, ${source.requests} requests, ` +
      `${source.bytes_read} of ${source.selected_bytes} bytes, ${seconds.toFixed(2)} s; RATIO ${ratio.toFixed(3)} (goal ${GOAL})`,
  )
}
