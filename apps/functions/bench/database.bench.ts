// Compares a query of the project's database in a function, under the caller's role and claims, with the same program
// in bare Deno, which connects to the server and sets role and claims itself. Needs DATABASE_URL of a PostgreSQL
// server.
import assert from 'node:assert/strict'
import { migrate } from '@terrane/database'
import { openTestDatabase } from '@terrane/database/testing'
import { PACKAGES, program, runBare } from './support/bare-deno.ts'
import { ANON_KEY, median, quantile, startHost } from './support/host.ts'

const QUERIES = 400
const ROUNDS = 9
assert(process.env['DATABASE_URL'], 'set DATABASE_URL: the embedded database has no sockets for functions')

/** `measure(url, identify)` → milliseconds of each query, and of each session with one query. */
const MEASURE = `import pg from 'pg'
const QUERY = "select current_setting('request.jwt.claims')::json->>'role' as role, current_user as me"
async function measure(url, identify) {
  const open = async () => { const c = new pg.Client(url); await c.connect(); await identify(c); return c }
  const ask = async (c) => { const { rows } = await c.query(QUERY); if (rows[0].role !== 'anon' || rows[0].me !== 'anon') throw new Error(JSON.stringify(rows)) }
  const timed = async (work) => { const begun = performance.now(); await work(); return performance.now() - begun }
  const client = await open()
  const queries = []; for (let i = 0; i < ${QUERIES}; i++) queries.push(await timed(() => ask(client)))
  await client.end()
  const sessions = []; for (let i = 0; i < ${QUERIES / 10}; i++) sessions.push(await timed(async () => { const c = await open(); await ask(c); await c.end() }))
  return { queries, sessions }
}
`
const FUNCTION = `${MEASURE}
export default async (req, ctx) => Response.json(await measure(ctx.databaseUrl, async () => {}))`
const BARE = `${MEASURE}
const identify = (c) => c.query("select set_config('role', 'anon', false), set_config('request.jwt.claims', $1, false)", ['{"role":"anon"}'])
const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(port) },
  async () => Response.json(await measure(Deno.env.get('BENCH_URL'), identify)))
await server.finished
`
interface Times {
  readonly queries: readonly number[]
  readonly sessions: readonly number[]
}

await using database = await openTestDatabase()
await migrate(database.database, ['project'])
await using bare = await program(BARE)
await using peer = await runBare(bare.file, { BENCH_URL: database.url })
await using host = await startHost(
  { asker: { source: FUNCTION, policy: { max: 1, timeout_ms: 60_000 } } },
  { TERRANE_FUNCTIONS_DATABASE_URL: database.url },
  { packages: PACKAGES },
)
const sides = [
  { name: 'function', url: host.url('asker'), queries: [] as number[], sessions: [] as number[] },
  { name: 'bare', url: `http://127.0.0.1:${await peer.firstLine}/`, queries: [] as number[], sessions: [] as number[] },
]
for (let round = 0; round <= ROUNDS; round++)
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    const answer = await fetch(side.url, { headers: { apikey: ANON_KEY } })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    const { queries, sessions } = JSON.parse(text) as Times
    if (round === 0) continue
    side.queries.push(...queries)
    side.sessions.push(...sessions)
  }
for (const [what, goal] of [
  ['queries', '   (goal ≤ 0.4)'],
  ['sessions', ''],
] as const) {
  console.log(what === 'queries' ? 'a query with claims' : 'a session of its own with one query')
  for (const { name, [what]: times } of sides)
    console.log(
      `  ${name.padEnd(8)} p50 ${median(times).toFixed(3)} ms   p99 ${quantile(times, 0.99).toFixed(3)} ms   of ${times.length}`,
    )
  const [ours, theirs] = sides as [(typeof sides)[0], (typeof sides)[0]]
  console.log(`  ADDED p50 ${(median(ours[what]) - median(theirs[what])).toFixed(3)} ms${goal}`)
}
