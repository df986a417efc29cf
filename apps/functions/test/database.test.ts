// Functions that dial their project's database: as themselves and as their callers, with the clients that people use.
import { migrate, openDatabase } from '@terrane/database'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEPTH_HEADER, Depths } from '../src/gateway/depth.ts'
import { ASKED_AS_BOTH, NOTES, askAsBoth, type ClientCode } from './support/database-clients.ts'
import { PACKAGES, startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const isPostgres = testLane() === 'postgres'

/** Drizzle and Kysely: long/packages.long.test.ts. */
const CLIENTS = {
  pg: [
    `import pg from 'pg'`,
    `const pool = new pg.Pool({ connectionString: url, max: 2 })
     const ask = async (text, values) => (await pool.query(text, values)).rows
     const named = async () => (await pool.query({ name: 'n', text: 'select $1::int + 1 as n', values: [1] })).rows[0].n
     const end = () => pool.end()`,
  ],
  'postgres.js': [
    `import postgres from 'postgres'`,
    `const sql = postgres(url, { max: 2 })
     const ask = (text, values) => sql.unsafe(text, values)
     const named = async () => (await sql\`select \${1}::int + 1 as n\`)[0].n
     const end = () => sql.end()`,
  ],
} as const satisfies Record<string, ClientCode>

for (const profile of ['standard', 'hardened'] as const) {
  const { probed, title } = await tryRuntime('deno', profile)
  describe.skipIf(!probed)(`the database of functions (${testLane()}): ${title}`, () => {
    let database: TestDatabase
    let host: TestHost
    beforeAll(async () => {
      database = await openTestDatabase()
      await migrate(database.database, ['project'])
      await database.database.query(NOTES)
      host = await startHost({ ...probed!, databaseUrl: database.url, sessions: 3 })
    })
    afterAll(async () => {
      await host[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    })

    async function run(source: string, headers: Record<string, string> = {}, policy: object = {}) {
      await host.deploy('asker', source, { packages: PACKAGES, policy })
      const response = await fetch(host.url('asker'), { headers })
      const text = await response.text()
      expect([response.status, text], JSON.stringify(host.lines.slice(-3))).toEqual([200, expect.anything()])
      return JSON.parse(text) as unknown
    }

    test.skipIf(isPostgres)(
      'on the embedded database it is refused, and the error names the way that is open',
      async () => {
        const said = await run(
          `import pg from 'pg'
         export default async () => { const c = new pg.Client(process.env.TERRANE_DB_URL); c.on('error', () => {})
           return Response.json(await c.connect().then(() => 'connected', (e) => [e.code, e.message, e.hint])) }`,
        )
        expect(said).toEqual([
          '0A000',
          expect.stringContaining('project API'),
          expect.stringContaining('one superuser'),
        ])
      },
    )

    const USER = { authorization: 'Bearer user' }

    describe.skipIf(!isPostgres)('on a server', () => {
      test.each(Object.entries(CLIENTS))(
        '%s asks as the caller of the call, and as the function itself',
        async (_, client) => {
          expect(await run(askAsBoth(client), USER)).toEqual(ASKED_AS_BOTH)
        },
      )

      test('a privileged function is the service role; a call without credentials is anon', async () => {
        const said = await run(
          `import postgres from 'postgres'
           const as = async (url) => { const sql = postgres(url, { max: 1 }); const [row] = await sql\`select current_user as role\`; await sql.end(); return row.role }
           export default async (req, ctx) => Response.json([await as(ctx.databaseUrl), await as(process.env.TERRANE_DB_URL)])`,
          {},
          { privileged: true },
        )
        expect(said).toEqual(['anon', 'service_role'])
      })

      test('no statement leads out of the role, and none to what the role may not see', async () => {
        const statements = [
          'select * from vault',
          'reset role; select * from vault',
          'reset all; select * from vault',
          'discard all; select * from vault',
          'set role none; select * from vault',
          'set role service_role; select * from vault',
          `select set_config('role', 'service_role', false); select * from vault`,
          'reset session authorization; select * from vault',
          'set session authorization postgres; select * from vault',
          'set local role postgres; select * from vault',
          'alter table vault disable row level security',
          'grant service_role to current_user',
          `alter role session_user superuser`,
          'create role mine superuser',
          'create table mine (a int)',
          'create extension dblink',
          'select * from pg_authid',
          'select rolpassword from pg_authid',
          `copy (select 1) to program 'true'`,
          `copy vault to stdout`,
          `select pg_read_file('/etc/passwd')`,
          `select lo_import('/etc/passwd')`,
          `select pg_terminate_backend(pid) from pg_stat_activity where usename <> session_user and pid <> pg_backend_pid() having bool_or(pg_terminate_backend(pid))`,
          `do $$ begin perform set_config('role', 'postgres', false); end $$; select * from vault`,
          `create function f() returns text language sql security definer as 'select secret from vault'; select f()`,
        ]
        const said = await run(
          `import pg from 'pg'
           const statements = ${JSON.stringify(statements)}
           export default async (req, ctx) => {
             const gained = []
             for (const url of [ctx.databaseUrl, process.env.TERRANE_DB_URL]) for (const text of statements) {
               const c = new pg.Client(url); c.on('error', () => {})
               await c.connect()
               try { const all = [].concat(await c.query(text)); gained.push(text + ': ' + JSON.stringify(all.at(-1).rows)) } catch {}
               await c.end().catch(() => {})
             }
             return Response.json(gained)
           }`,
          USER,
        )
        expect(said).toEqual([])
      })

      test('what one leaves in a session is not there for the next: settings, tables, statements, transactions', async () => {
        const said = await run(
          `import pg from 'pg'
           const with_ = async (url, work) => { const c = new pg.Client(url); await c.connect(); try { return await work(c) } finally { await c.end() } }
           export default async (req, ctx) => {
             const pids = new Set()
             for (let i = 0; i < 3; i++) await with_(ctx.databaseUrl, async (c) => {
               pids.add((await c.query('select pg_backend_pid() as pid')).rows[0].pid)
               await c.query("set search_path = 'x'; set role anon; set my.word = 'left'; create temp table left_over (a int)").catch(() => {})
               await c.query({ name: 'left', text: 'select 1' })
               await c.query('begin')
             })
             const look = async (c) => [
               (await c.query('select pg_backend_pid() as pid')).rows[0].pid,
               (await c.query("select current_user, current_setting('search_path') as path, current_setting('my.word', true) as word, now() = statement_timestamp() as alone")).rows[0],
               (await c.query('select count(*)::int as n from pg_prepared_statements')).rows[0].n,
               (await c.query("select to_regclass('left_over') as t")).rows[0].t,
             ]
             // A session that was given back is cleaned first: until then clients get others.
             for (;;) {
               const seen = await Promise.all(Array.from({ length: 4 }, () => with_(ctx.databaseUrl, look)))
               const again = seen.find(([pid]) => pids.has(pid))
               if (again) return Response.json(again.slice(1))
             }
           }`,
          USER,
        )
        const state = { current_user: 'authenticated', path: 'public, extensions', alone: true }
        expect(said).toEqual([{ ...state, word: expect.toSatisfy((word) => !word) as unknown }, 0, null])
      })

      test('only the function and its calls that are under way are users; others, and raw words, are refused', async () => {
        const said = await run(
          `import pg from 'pg'
           const why = (user) => { const c = new pg.Client({ host: 'project.internal', port: 5432, user, database: 'postgres' }); c.on('error', () => {}); return c.connect().then(() => c.end().then(() => 'in'), (e) => e.code) }
           export default async () => Response.json(await Promise.all(['postgres', 'call-1000000', 'call-0', 'call-', '', 'function', "a'b"].map(why)))`,
        )
        expect(said).toEqual(['28000', '28000', '28000', '28000', expect.anything(), 'in', '28000'])
      })

      test('a session ends with the call that it was made for', async () => {
        await host.deploy(
          'keeper',
          `import pg from 'pg'
           let kept
           export default async (req, ctx) => {
             if (!kept) { kept = new pg.Client(ctx.databaseUrl); kept.on('error', () => {}); await kept.connect(); return Response.json((await kept.query('select 1 as one')).rows[0].one) }
             return Response.json(await kept.query('select 1').then(() => 'still', () => 'ended'))
           }`,
          { packages: PACKAGES, policy: { max: 1 } },
        )
        const call = async () => (await fetch(host.url('keeper'), { headers: USER })).json()
        expect([await call(), await call()]).toEqual([1, 'ended'])
      })

      test('the session of a client that closes its connection without a termination message is free again', async () => {
        const said = await run(
          `import pg from 'pg'
           export default async (req, ctx) => {
             const answers = []
             for (let i = 0; i < 6; i++) {
               const c = new pg.Client(ctx.databaseUrl); c.on('error', () => {})
               await c.connect()
               answers.push((await c.query('select 1 as one')).rows[0].one)
               c.connection.stream.destroy()
             }
             return Response.json(answers)
           }`,
          USER,
        )
        expect(said).toEqual([1, 1, 1, 1, 1, 1])
      })

      test('a session that a function keeps has the depth of the call that uses it, and keeps its unnamed statement', async () => {
        await host.deploy(
          'deep',
          `import pg from 'pg'
           const kept = new pg.Client(process.env.TERRANE_DB_URL)
           const send = (submit) => new Promise((resolve, reject) => {
             const rows = []
             kept.query({ submit, handleRowDescription() {}, handleDataRow: (m) => rows.push(m.fields.map(String)), handleCommandComplete() {},
               handleReadyForQuery: () => resolve(rows), handleError: reject })
           })
           const text = "select pg_backend_pid() || ' ' || current_setting('terrane.depth')"
           let ready
           export default async (req) => {
             ready ??= kept.connect().then(() => send((c) => { c.parse({ text, types: [] }); c.sync() }))
             await ready
             const [[said]] = await send((c) => { c.bind({}); c.execute({}); c.sync() })
             if (req.url.endsWith('?last')) await kept.end()
             return new Response(said)
           }`,
          { packages: PACKAGES, policy: { max: 1 } },
        )
        const depths = new Depths('secret of the test')
        const call = async (headers = {}, query = '') => (await fetch(host.url('deep') + query, { headers })).text()
        const said = [
          await call(),
          await call({ [DEPTH_HEADER]: depths.next('test', { calls: 2, steps: 0 }) }),
          await call({}, '?last'),
        ]
        const [session] = said[0]!.split(' ')
        expect(said).toEqual([0, 3, 0].map((calls) => `${session} ${depths.next('test', { calls, steps: 0 })}`))
      })

      test('a function leaves sessions for others, and loses those of a call that is over', async () => {
        await host.deploy(
          'hog',
          `import pg from 'pg'
           const kept = []
           export default async (req, ctx) => {
             const open = () => { const c = new pg.Client(ctx.databaseUrl); c.on('error', () => {}); kept.push(c); return c.connect() }
             await Promise.all([open(), open()]); open().catch(() => {})
             const r = await fetch('http://project.internal/functions/v1/other'); return new Response(await r.text())
           }`,
          { packages: PACKAGES },
        )
        const other = `import pg from 'pg'
           export default async (req, ctx) => { const c = new pg.Client(ctx.databaseUrl); await c.connect(); const { rows } = await c.query('select 1 as one'); await c.end(); return Response.json(rows) }`
        await host.deploy('other', other, { packages: PACKAGES })
        const call = async (name: string) => (await fetch(host.url(name), { headers: USER })).json()
        // Three sessions: two for the one that keeps them, and one for the other.
        expect(await call('hog')).toEqual([{ one: 1 }])
        // Its clients are still connected and silent; two calls at once need the places that they had.
        await host.deploy('third', other, { packages: PACKAGES })
        expect(await Promise.all([call('other'), call('third'), call('other')])).toEqual([
          [{ one: 1 }],
          [{ one: 1 }],
          [{ one: 1 }],
        ])
      })

      test('a statement has the time of the call, one that runs is cancelled, and clients wait for their turn', async () => {
        const quick = await run(
          `import pg from 'pg'; import postgres from 'postgres'
           const url = process.env.TERRANE_DB_URL
           export default async () => {
             const c = new pg.Client(url); await c.connect()
             const timeout = (await c.query('show statement_timeout')).rows[0].statement_timeout
             await c.query("set statement_timeout = '200ms'")
             const slow = await c.query('select pg_sleep(60)').catch((e) => e.code)
             await c.end()
             const sql = postgres(url, { max: 1 })
             await sql\`select 1\`
             const query = sql\`select pg_sleep(60)\`
             query.catch(() => {})
             setTimeout(() => query.cancel(), 300)
             const cancelled = await query.catch((e) => e.code)
             await sql.end()
             const turns = await Promise.all(Array.from({ length: 8 }, async () => { const d = new pg.Client(url); await d.connect(); const { rows } = await d.query('select 1 as n'); await d.end(); return rows[0].n }))
             return Response.json([timeout, slow, cancelled, turns.length])
           }`,
        )
        expect(quick).toEqual(['30s', '57014', '57014', 8])
      })

      test('the logins have no rights of their own', async () => {
        await using admin = await openDatabase({ url: database.url, max: 1 })
        const { rows } = await admin.query<{ any_right: boolean }>(
          `select rolinherit or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as any_right from pg_roles
           where rolname like 'terrane_function_%'`,
        )
        expect(rows.length).toBeGreaterThan(0)
        expect(rows.filter((row) => row.any_right)).toEqual([])
      })
    })
  })
}
