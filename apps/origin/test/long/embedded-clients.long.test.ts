import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { openDatabase } from '@terrane/database'
import { startPgliteServer } from '@terrane/pglite-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from '../harness.ts'

/** Sessions of each of the 20 clients; 2,000 in all when all cases run. */
// oxlint-disable-next-line node/no-process-env -- set for a run of all faults
const SESSIONS = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 100 : 10
const CLIENTS = { driver: 8, psql: 4, supabase: 5, ogr2ogr: 3 }
const STATE = `select current_user || ' ' || current_setting('search_path') || ' ' || current_setting('statement_timeout')
  || ' ' || coalesce(nullif(current_setting('my.claim', true), ''), 'none')`
const LINES = 40

const isThere = (command: string) => spawnSync(command, ['--version']).status === 0
const hasPsql = isThere('psql')
const hasOgr2ogr = isThere('ogr2ogr')
const absent = [!hasPsql && 'psql', !hasOgr2ogr && 'ogr2ogr'].filter(Boolean)

let embedded: Awaited<ReturnType<typeof startPgliteServer>>
let origin: TestOrigin
let fresh: string
beforeAll(async () => {
  embedded = await startPgliteServer()
  origin = await openOrigin({ DATABASE_URL: embedded.url })
  await using database = await openDatabase({ url: embedded.url, max: 1 })
  await database.query(`
    create table public.notes (id int primary key, open boolean); alter table public.notes enable row level security;
    create policy open on public.notes for select to anon using (open);
    insert into public.notes select i, i <= 3 from generate_series(1, 7) i; grant select on public.notes to anon, service_role`)
  fresh = await state(database)
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  await embedded[Symbol.asyncDispose]()
})

async function state(database: { query: (text: string) => Promise<{ rows: object[] }> }): Promise<string> {
  const { rows } = await database.query(STATE)
  return Object.values(rows[0]!)[0] as string
}

/** Runs a program to its end; returns its standard output, and fails with its standard error. */
async function run(command: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin.end(input)
  const [said, complained, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${command} ended with ${code as number}: ${complained}`)
  return said.trim()
}

/** Changes everything that a session can change, checks it twice, and disconnects without closing the session. */
async function driver(client: number, session: number): Promise<void> {
  await using database = await openDatabase({ url: embedded.url, max: 1 })
  await database.session(async (own) => {
    expect(await state(own)).toBe(fresh)
    const claim = `${client}-${session}`
    await own.query(
      `set role anon; set search_path to public; set statement_timeout = '1min'; set my.claim = '${claim}'`,
    )
    for (let look = 0; look < 2; look++) expect(await state(own)).toBe(`anon public 1min ${claim}`)
    const { rows } = await own.query<{ n: number }>('select count(*) as n from notes')
    expect(rows).toEqual([{ n: 3 }])
  })
}

async function psql(client: number, session: number): Promise<void> {
  const claim = `p${client}-${session}`
  const script = `${STATE};\nset role service_role; set search_path to pg_catalog; set my.claim = '${claim}';\n${STATE};
    begin; set local role anon; select count(*) from public.notes; commit;
    create temporary table mine (n int);\n\\copy mine from stdin\n${session}\n\\.\nselect n from mine;\ndrop table mine;\n`
  const said = await run('psql', [embedded.url, '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'], script)
  expect(said.split('\n')).toEqual([fresh, `service_role pg_catalog 0 ${claim}`, '3', String(session)])
}

async function supabase(client: number, session: number): Promise<void> {
  const { anon, service } = origin.keys
  const isAnon = (client + session) % 2 === 0
  const { data, error } = await origin
    .client(isAnon ? anon : service)
    .from('notes')
    .select('id')
  expect([error, data?.length]).toEqual([null, isAnon ? 3 : 7])
}

/** Writes a table by COPY, as users do, and reads it back. */
async function ogr2ogr(client: number, session: number): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(embedded.url)
  const target = `PG:host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`
  const lines = Array.from({ length: LINES }, (_, i) => {
    const geometry = { type: 'Point', coordinates: [client, i % 80] }
    return JSON.stringify({ type: 'Feature', properties: { n: session * LINES + i }, geometry })
  })
  const name = `ogr_${client}`
  const copy = ['--config', 'PG_USE_COPY', 'YES', '-nln', name, '-overwrite']
  await run('ogr2ogr', ['-f', 'PostgreSQL', target, '/vsistdin/', ...copy], lines.join('\n'))
  const back = await run('ogr2ogr', ['-f', 'GeoJSONSeq', '/vsistdout/', target, name], '')
  const numbers = back
    .split('\n')
    .map((line) => (JSON.parse(line.replace('\u001e', '')) as { properties: { n: number } }).properties.n)
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: LINES }, (_, i) => session * LINES + i))
}

test(
  `20 clients of four kinds have ${20 * SESSIONS} sessions that see nothing of each other (${absent.length === 0 ? 'all there' : `SKIPPED without ${absent.join(', ')}`})`,
  { timeout: 900_000 },
  async () => {
    const kinds = { driver, psql: hasPsql ? psql : null, supabase, ogr2ogr: hasOgr2ogr ? ogr2ogr : null }
    const lanes = Object.entries(CLIENTS).flatMap(([kind, count]) => {
      const one = kinds[kind as keyof typeof CLIENTS]
      return one ? Array.from({ length: count }, (_, client) => ({ one, client })) : []
    })
    const done = lanes.map(async ({ one, client }) => {
      for (let session = 0; session < SESSIONS; session++) await one(client, session)
    })
    await expect(Promise.all(done)).resolves.toHaveLength(lanes.length)
  },
)
