// Real extracts through the job API: as many rows in each table as osm2pgsql makes of them, all of them valid; and the
// multipolygon suite of osmcode/osm-testdata, compared by PostGIS.
import { cpSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { sharedFolder } from './shared.ts'

const extracts = sharedFolder('data/osm')
const suite = sharedFolder('data/osm-testdata')
const absent = ' (SKIPPED: the shared data folder is absent)'

/** Rows by extract and table that osm2pgsql 2.1.1 makes with the flex style of bench/osm2pgsql-style.ts. */
const golden = JSON.parse(readFileSync(new URL('osm2pgsql-rows.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, number>
>
const TOPICS = [
  'buildings',
  'streets',
  'railways',
  'waterways',
  'water',
  'landuse',
  'natural',
  'places',
  'pois',
  'boundaries',
  'transit',
  'addresses',
  'routes',
  'barriers',
  'power',
  'traffic',
  'entrances',
  'man_made',
  'all',
]

let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_SETTINGS: JSON.stringify({ worker: { maxAreaKm2: 0 } }) } })
})
afterAll(() => worker[Symbol.asyncDispose]())

async function run(body: object): Promise<JobRecord> {
  const { status, body: record } = await submit(worker, 'osmImportArea', {
    aoiGeoJson: boxOf(-180, -90, 180, 90),
    ...body,
  })
  expect(record.message ?? status).toBe(202)
  return until(worker, record.links.self, (job) => job.terminal, 600_000)
}

// The embedded database is much slower: one extract there.
const names = Object.keys(golden).filter((name) => testLane() === 'postgres' || name === 'monaco-2023')

describe.skipIf(!extracts)(`real extracts${extracts ? '' : absent}`, () => {
  test.for(names)('%s', async (name) => {
    cpSync(join(extracts ?? '', `${name}.osm.pbf`), join(worker.folder, 'data', `${name}.osm.pbf`))
    const prefix = name.replaceAll('-', '_')
    const job = await run({
      areaName: name,
      tablePrefix: prefix,
      topics: TOPICS,
      source: { kind: 'file', path: `${name}.osm.pbf` },
    })
    const { tables } = job.result as { tables: { name: string; rows: number }[] }
    expect(Object.fromEntries(tables.map((table) => [table.name.slice(prefix.length + 1), table.rows]))).toEqual(
      golden[name],
    )
    for (const table of tables) {
      const { rows } = await worker.db.database.query(
        `select count(*)::int as rows from ${table.name} where st_isvalid(geom)`,
      )
      expect([table.name, rows]).toEqual([table.name, [{ rows: table.rows }]])
      await worker.db.database.query(`drop table ${table.name}`)
    }
  })
})

interface Expected {
  readonly from_id: number
  readonly from_type: 'way' | 'relation'
  readonly wkt: string
}

test.skipIf(!suite)(`osm-testdata multipolygons in PostGIS${suite ? '' : absent}`, async () => {
  const folder = suite ?? ''
  cpSync(join(folder, 'all.osm'), join(worker.folder, 'data', 'all.osm'))
  const job = await run({ areaName: 'Suite', topics: ['all'], source: { kind: 'file', path: 'all.osm' } })
  expect(job).toMatchObject({ status: 'success', error: null })
  const wrong: string[] = []
  const tests = readdirSync(join(folder, '7')).filter((name) => /^\d+$/.test(name))
  let elements = 0
  for (const name of tests) {
    const { areas } = JSON.parse(readFileSync(join(folder, '7', name, 'test.json'), 'utf8')) as {
      areas: Record<string, Expected[]>
    }
    const byElement = Map.groupBy(Object.values(areas).flat(), (area) => `${area.from_type} ${area.from_id}`)
    for (const variants of byElement.values()) {
      elements++
      const [{ from_id: id, from_type: type, wkt } = variants[0]!] = variants
      const { rows } = await worker.db.database.query<{ valid: boolean; equal: boolean }>(
        `select st_isvalid(geom) as valid, exists (select 1 from unnest($3::text[]) as w(wkt) where st_equals(geom, st_geomfromtext(w.wkt, 4326))) as equal
         from suite_multipolygons where osm_type = $1 and osm_id = $2`,
        [type === 'way' ? 'W' : 'R', id, variants.map((variant) => variant.wkt).filter((text) => text !== 'INVALID')],
      )
      const [row] = rows
      const right = row ? row.valid && row.equal : variants.some((variant) => variant.wkt === 'INVALID')
      if (!right) wrong.push(`${name} ${type} ${id}: ${wkt}`)
    }
  }
  expect(elements).toBe(80)
  expect(wrong).toEqual([])
})
