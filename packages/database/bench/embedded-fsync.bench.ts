// What waiting for the disk costs the embedded database: the same work in turns on three of them, one of which does not wait.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { bulkLoad, openDatabase, type Column, type Database, type Row } from '../src/index.ts'
import { startProcess } from '../test/long/embedded-process.ts'

const ROUNDS = Number(process.argv[2] ?? 41)
const DIMS = 1024
const columns: Column[] = [
  { name: 'id', type: 'int8' },
  { name: 'embedding', type: 'vector' },
]
const random = seededRandom(1)
const rows: Row[] = Array.from({ length: 200 }, (_, id) => [
  id,
  Float32Array.from({ length: DIMS }, () => random() - 0.5),
])

const WORK: Readonly<Record<string, (database: Database) => Promise<void>>> = {
  'bulk load of 200 rows of 1,024 dimensions': async (database) => {
    await database.query(`drop table if exists t; create table t (id bigint, embedding vector(${DIMS}))`)
    await bulkLoad(database, { schema: 'public', table: 't', columns }, [rows])
  },
  '4 statements of 1,000 updates': async (database) => {
    for (let i = 0; i < 4; i++) await database.query('update u set n = n + 1 where id % 20 = $1', [i])
  },
  '50 commits of one row': async (database) => {
    for (let i = 0; i < 50; i++) await database.query('update u set n = n + 1 where id = $1', [i])
  },
}

const NO_SYNC =
  'data:text/javascript,' +
  encodeURIComponent(`import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    fs.fsyncSync = fs.fdatasyncSync = () => {}; syncBuiltinESMExports()`)
const LANES = { never: { preload: NO_SYNC }, soon: { sync: 'soon' }, commit: { sync: 'commit' } } as const
const folder = await mkdtemp(join(tmpdir(), 'terrane-fsync-'))
await using opened = new AsyncDisposableStack()
opened.defer(() => rm(folder, { recursive: true }))
const lanes: Database[] = []
for (const [name, options] of Object.entries(LANES)) {
  const embedded = await startProcess(join(folder, name), options)
  opened.defer(() => embedded.kill())
  const database = opened.use(await openDatabase({ url: embedded.url, applicationName: 'bench' }))
  await database.query(
    `create extension vector; create table u (id int primary key, n int not null, padding text);
     insert into u select i, 0, repeat('x', 300) from generate_series(0, 19999) i`,
  )
  lanes.push(database)
}
for (const [name, work] of Object.entries(WORK)) {
  const times: number[][] = lanes.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < lanes.length; i++) {
      const at = (round + i) % lanes.length
      const began = performance.now()
      await work(lanes[at]!)
      times[at]!.push((performance.now() - began) / 1000)
    }
  }
  const medians = times.map((all) => all.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!)
  const figures = Object.keys(LANES).map(
    (lane, at) => `${lane} ${medians[at]!.toFixed(3)} s (${(medians[at]! / medians[0]!).toFixed(2)} ×)`,
  )
  console.log(`${name.padEnd(50)} ${figures.join(', ')}`)
}
const sums = await Promise.all(lanes.map((database) => database.query('select sum(n) as n from u')))
if (new Set(sums.map(({ rows: [row] }) => row?.['n'] as number)).size !== 1) throw new Error('they hold different rows')
