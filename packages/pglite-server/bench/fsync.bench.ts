// Measures the cost of waiting for the disk: the same work in turns on three servers; one of them does not wait.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { seededRandom } from '@terrane/core'
import copyStreams from 'pg-copy-streams'
import { connect, type TestClient } from '../test/clients.ts'
import { startProcess } from '../test/long/server-process.ts'

const ROUNDS = Number(process.argv[2] ?? 41)
const DIMS = 1024
const random = seededRandom(1)
const rows = Array.from({ length: 200 }, (_, id) => {
  const embedding = Array.from({ length: DIMS }, () => Math.fround(random() - 0.5))
  return `${id}\t[${embedding.join(',')}]\n`
})

const WORK: Readonly<Record<string, (client: TestClient) => Promise<void>>> = {
  'COPY of 200 rows of 1,024 dimensions': async (client) => {
    await client.query(`drop table if exists t; create table t (id bigint, embedding vector(${DIMS}))`)
    await pipeline(Readable.from(rows), client.query(copyStreams.from('copy t from stdin')))
  },
  '4 statements of 1,000 updates': async (client) => {
    for (let i = 0; i < 4; i++) await client.query('update u set n = n + 1 where id % 20 = $1', [i])
  },
  '50 commits of one row': async (client) => {
    for (let i = 0; i < 50; i++) await client.query('update u set n = n + 1 where id = $1', [i])
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
const lanes: TestClient[] = []
for (const [name, options] of Object.entries(LANES)) {
  const server = await startProcess(join(folder, name), options)
  opened.defer(() => server.kill())
  const client = opened.use(await connect(server.url))
  await client.query(
    `create extension vector; create table u (id int primary key, n int not null, padding text);
     insert into u select i, 0, repeat('x', 300) from generate_series(0, 19999) i`,
  )
  lanes.push(client)
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
const sums = await Promise.all(lanes.map((client) => client.query('select sum(n) as n from u')))
if (new Set(sums.map(({ rows: [row] }) => row?.['n'] as number)).size !== 1) throw new Error('they hold different rows')
