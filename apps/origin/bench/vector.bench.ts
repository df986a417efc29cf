// Tiles of a table over HTTP beside a bare pool of `pg` that runs the same ST_AsMVT with the role and claims set in one
// round trip; then cached tiles of the same caller. The client has a separate thread. DATABASE_URL names the server.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Principal } from '@terrane/auth'
import { openDatabase } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import { beginAs } from '../src/rest/execute.ts'
import { findLayer } from '../src/vector/layer.ts'
import { tileSql } from '../src/vector/tile-sql.ts'
import { openOrigin, USER, settingsOf } from '../test/harness.ts'
import type { Answered, Asked } from './tile-client.worker.ts'

type Tile = readonly [z: number, x: number, y: number]

const AT_ONCE = 4
const ROUNDS = 7
const ROWS = 60_000
const GOALS = { ratio: 0.9, cached: 5000 }

if (!process.env['DATABASE_URL']) {
  console.log('SKIPPED: tiles by ST_AsMVT need a PostgreSQL at DATABASE_URL')
  process.exit()
}

const client = new Worker(new URL('./tile-client.worker.ts', import.meta.url))
const fresh = await openOrigin(settingsOf({ tileMs: 0 }))
await fresh.db.database.query(`
  create table public.houses (id int primary key, name text, height float8, owner uuid, geom geometry(Polygon, 4326));
  insert into public.houses select i, 'house ' || i, (i % 37) / 2.0, case when i % 2 = 0 then '${USER}'::uuid end,
    st_makeenvelope(11.4 + (i % 250) * 0.0012, 48 + (i / 250) * 0.0012, 11.4 + (i % 250) * 0.0012 + 0.0008, 48 + (i / 250) * 0.0012 + 0.0007, 4326)
    from generate_series(0, ${ROWS - 1}) i;
  create index on public.houses using gist (geom);
  alter table public.houses enable row level security;
  create policy own on public.houses for select to authenticated using (owner is null or owner = (current_setting('request.jwt.claims')::jsonb ->> 'sub')::uuid);
  grant select on public.houses to authenticated; analyze public.houses`)

async function ask(asked: Asked): Promise<Answered> {
  client.postMessage(asked)
  const [answered] = (await once(client, 'message')) as [Answered]
  if (answered.error !== undefined) throw new Error(answered.error)
  return answered
}

function total(bytes: readonly number[]): number {
  return bytes.reduce((sum, some) => sum + some, 0)
}

/** Tiles of a zoom over the houses. */
function tilesAt(z: number): readonly Tile[] {
  const n = 2 ** z
  const column = (lng: number) => Math.floor(((lng + 180) / 360) * n)
  const row = (lat: number) =>
    Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n)
  const tiles: Tile[] = []
  for (let x = column(11.41); x <= column(11.69); x++)
    for (let y = row(48.27); y <= row(48.01); y++) tiles.push([z, x, y])
  return tiles
}

const bare = await openDatabase({ url: fresh.db.url, max: AT_ONCE })
// All claims of the key, because a policy reads them for each row, and more of them take more time.
const claims = JSON.parse(Buffer.from(fresh.keys.user.split('.')[1] as string, 'base64url').toString()) as object
const principal = { role: 'authenticated', claims } as unknown as Principal
const begin = beginAs({ principal, schema: 'public', readOnly: true, timeoutMs: 10_000 })
const layer = await fresh.db.database.transaction((session) => findLayer(session, 'public', 'houses', null), begin)

/** The same tiles by the bare pool, with the result of `ask`. */
async function askBare(tiles: readonly Tile[], count: number): Promise<Answered> {
  const bytes = tiles.map(() => 0)
  let next = 0
  const lane = async () => {
    while (next < count) {
      const i = next++ % tiles.length
      bytes[i] = await bareTile(tiles[i] as Tile)
    }
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return { seconds: (performance.now() - begun) / 1000, bytes }
}

function bareTile([z, x, y]: Tile): Promise<number> {
  const parameters = new Parameters()
  const text = tileSql(
    layer,
    { z, x, y, buffer: 64, limit: 50_000, cluster: null, hasLabelPoints: false, conditions: [] },
    parameters,
  )
  return bare.session(async ({ client: connection }) => {
    await connection.query(begin)
    const { rows } = await connection.query<{ tile: Buffer }>(text, parameters.values)
    await connection.query('commit')
    return rows[0]?.tile.length ?? 0
  })
}

console.log(`${ROWS} polygons in public.houses, row-level security on, ${AT_ONCE} at once`)
for (const z of [12, 14, 15]) {
  const tiles = tilesAt(z)
  const count = Math.max(60, Math.min(400, tiles.length * 2))
  const urls = tiles.map((tile) => `${fresh.url}/vector/v1/public.houses/${tile.join('/')}`)
  const ratios: number[] = []
  let [ms, bareMs] = [0, 0]
  for (let round = -1; round < ROUNDS; round++) {
    const peer = await askBare(tiles, count)
    const ours = await ask({ urls, count, atOnce: AT_ONCE, key: fresh.keys.user })
    if (total(ours.bytes) !== total(peer.bytes))
      throw new Error(`zoom ${z}: ${total(ours.bytes)} bytes, the bare pool has ${total(peer.bytes)}`)
    if (round < 0) continue
    ratios.push(peer.seconds / ours.seconds)
    ms += (1000 * ours.seconds) / count / ROUNDS
    bareMs += (1000 * peer.seconds) / count / ROUNDS
  }
  ratios.sort((a, b) => a - b)
  const ratio = ratios[ROUNDS >> 1] ?? Number.NaN
  const word = ratio >= GOALS.ratio ? 'reached' : 'missed'
  console.log(
    `zoom ${z}: ${ms.toFixed(2)} ms a tile, bare ${bareMs.toFixed(2)}; ratio ${ratio.toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}; goal ${GOALS.ratio}: ${word})`,
  )
}
await bare.close()

const kept = await openOrigin(settingsOf({ tileMs: 60_000 }))
await kept.db.database.query(`
  create table public.houses (id int primary key, geom geometry(Point, 4326));
  insert into public.houses select i, st_setsrid(st_point(11.4 + (i % 250) * 0.0012, 48 + (i / 250) * 0.0012), 4326) from generate_series(0, 9999) i;
  grant select on public.houses to authenticated`)
const all = tilesAt(13).map((tile) => `${kept.url}/vector/v1/public.houses/${tile.join('/')}`)
const { bytes } = await ask({ urls: all, count: all.length, atOnce: 4, key: kept.keys.user })
// Tiles at the edge of the box may be empty, because the points cover less of it than the houses.
const urls = all.filter((_, i) => (bytes[i] ?? 0) > 0).slice(0, 4)
if (urls.length < 4) throw new Error('four tiles with points are wanted')
const rates: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const count = 8000
  const { seconds } = await ask({ urls, count, atOnce: 16, key: kept.keys.user })
  rates.push(count / seconds)
}
rates.sort((a, b) => a - b)
const rate = rates[ROUNDS >> 1] ?? Number.NaN
console.log(
  `kept: ${Math.round(rate)} requests a second (${Math.round(rates[0] ?? 0)} to ${Math.round(rates.at(-1) ?? 0)}; goal ${GOALS.cached}: ${rate >= GOALS.cached ? 'reached' : 'missed'})`,
)
await client.terminate()
await kept[Symbol.asyncDispose]()
await fresh[Symbol.asyncDispose]()
