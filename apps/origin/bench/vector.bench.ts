// Tiles of a table over HTTP beside a bare pool of `pg` that runs the same ST_AsMVT with the role and claims set in one
// round trip; then tiles that are given again to the same caller. DATABASE_URL names the server.
import { Agent, request } from 'node:http'
import { openDatabase, quoteLiteral } from '@terrane/database'
import { Parameters } from '../src/rest/build-sql.ts'
import { findLayer } from '../src/vector/layer.ts'
import { tileSql } from '../src/vector/tile-sql.ts'
import { openOrigin, USER } from '../test/harness.ts'

const AT_ONCE = 4
const ROUNDS = 7
const ROWS = 60_000
const GOALS = { ratio: 0.9, cached: 5000 }

if (!process.env['DATABASE_URL']) {
  console.log('SKIPPED: tiles by ST_AsMVT need a PostgreSQL at DATABASE_URL')
  process.exit()
}

const fresh = await openOrigin({ TERRANE_TILE_CACHE_MS: '0' })
await fresh.db.database.query(`
  create table public.houses (id int primary key, name text, height float8, owner uuid, geom geometry(Polygon, 4326));
  insert into public.houses select i, 'house ' || i, (i % 37) / 2.0, case when i % 2 = 0 then '${USER}'::uuid end,
    st_makeenvelope(11.4 + (i % 250) * 0.0012, 48 + (i / 250) * 0.0012, 11.4 + (i % 250) * 0.0012 + 0.0008, 48 + (i / 250) * 0.0012 + 0.0007, 4326)
    from generate_series(0, ${ROWS - 1}) i;
  create index on public.houses using gist (geom);
  alter table public.houses enable row level security;
  create policy own on public.houses for select to authenticated using (owner is null or owner = (current_setting('request.jwt.claims')::jsonb ->> 'sub')::uuid);
  grant select on public.houses to authenticated; analyze public.houses`)
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Bytes of a tile over HTTP. */
function ask(url: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { apikey: key, authorization: `Bearer ${key}` }
    const sent = request(url, { agent, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes)
        else reject(new Error(`${url} is answered with ${response.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

/** Seconds for all of them, so many at once; and the bytes that came. */
async function timed(count: number, atOnce: number, one: (i: number) => Promise<number>) {
  const begun = performance.now()
  let [next, bytes] = [0, 0]
  const lane = async () => {
    while (next < count) {
      const got = await one(next++)
      bytes += got
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return { seconds: (performance.now() - begun) / 1000, bytes }
}

/** Tiles of a zoom over the houses. */
function tilesAt(z: number): readonly (readonly [number, number, number])[] {
  const n = 2 ** z
  const column = (lng: number) => Math.floor(((lng + 180) / 360) * n)
  const row = (lat: number) =>
    Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n)
  const tiles: [number, number, number][] = []
  for (let x = column(11.41); x <= column(11.69); x++)
    for (let y = row(48.27); y <= row(48.01); y++) tiles.push([z, x, y])
  return tiles
}

const bare = await openDatabase({ url: fresh.db.url, max: AT_ONCE })
const claims = JSON.stringify({ sub: USER, role: 'authenticated' })
const begin = `begin read only; select set_config('search_path', '"public", public, extensions', true), set_config('request.jwt.claims', ${quoteLiteral(claims)}, true), set_config('statement_timeout', '10000', true), set_config('role', 'authenticated', true)`
const layer = await fresh.db.database.transaction((session) => findLayer(session, 'public', 'houses', null), begin)

async function bareTile([z, x, y]: readonly [number, number, number]): Promise<number> {
  const parameters = new Parameters()
  const text = tileSql(layer, { z, x, y, buffer: 64, limit: 50_000, conditions: [] }, parameters)
  return bare.session(async ({ client }) => {
    await client.query(begin)
    const { rows } = await client.query<{ tile: Buffer }>(text, parameters.values)
    await client.query('commit')
    return rows[0]?.tile.length ?? 0
  })
}

console.log(`${ROWS} polygons in public.houses, row-level security on, ${AT_ONCE} at once`)
for (const z of [12, 14, 15]) {
  const tiles = tilesAt(z)
  const count = Math.max(60, Math.min(400, tiles.length * 2))
  const tileOf = (i: number) => tiles[i % tiles.length] as readonly [number, number, number]
  const urlOf = (base: string, i: number) => `${base}/vector/v1/public.houses/${tileOf(i).join('/')}`
  const ratios: number[] = []
  let [ms, bareMs] = [0, 0]
  for (let round = -1; round < ROUNDS; round++) {
    const peer = await timed(count, AT_ONCE, (i) => bareTile(tileOf(i)))
    const ours = await timed(count, AT_ONCE, (i) => ask(urlOf(fresh.url, i), fresh.keys.user))
    if (ours.bytes !== peer.bytes) throw new Error(`zoom ${z}: ${ours.bytes} bytes, the bare pool has ${peer.bytes}`)
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

const kept = await openOrigin({ TERRANE_TILE_CACHE_MS: '60000' })
await kept.db.database.query(`
  create table public.houses (id int primary key, geom geometry(Point, 4326));
  insert into public.houses select i, st_setsrid(st_point(11.4 + (i % 250) * 0.0012, 48 + (i / 250) * 0.0012), 4326) from generate_series(0, 9999) i;
  grant select on public.houses to authenticated`)
const tiles = tilesAt(13)
const url = (i: number) => `${kept.url}/vector/v1/public.houses/${(tiles[i % 4] as readonly number[]).join('/')}`
const known = await Promise.all([0, 1, 2, 3].map(async (i) => ask(url(i), kept.keys.user).catch(() => 0)))
const shown = [0, 1, 2, 3].filter((i) => (known[i] ?? 0) > 0)
const best: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const COUNT = 8000
  const { seconds } = await timed(COUNT, 16, (i) => ask(url(shown[i % shown.length] ?? 0), kept.keys.user))
  best.push(COUNT / seconds)
}
best.sort((a, b) => a - b)
const rate = best[ROUNDS >> 1] ?? Number.NaN
console.log(
  `kept: ${Math.round(rate)} requests a second with the client in the same process (${Math.round(best[0] ?? 0)} to ${Math.round(best.at(-1) ?? 0)}; goal ${GOALS.cached}: ${rate >= GOALS.cached ? 'reached' : 'missed'})`,
)
agent.destroy()
await kept[Symbol.asyncDispose]()
await fresh[Symbol.asyncDispose]()
