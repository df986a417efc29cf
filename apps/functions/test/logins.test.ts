// Changes that a function can make to the logins of functions' sessions.
import { hashKey } from '@terrane/auth'
import { Keys, Organizations, Projects, openKeyring } from '@terrane/control'
import { migrate, type LentSession } from '@terrane/database'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer } from '@terrane/service'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Logins } from '../src/database/logins.ts'
import { Sessions, type Identity } from '../src/database/sessions.ts'

const isPostgres = testLane() === 'postgres'
const ANON: Identity = { role: 'anon', claims: null, timeoutMs: 30_000 }

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
  await migrate(database.database, ['project'])
})
afterAll(() => database[Symbol.asyncDispose]())

test.skipIf(isPostgres)('the embedded database has no logins for functions', async () => {
  expect(await Logins.open(database.url)).toBeNull()
})

/** Everything that a login may try without a privilege, as `anon` or, after `set role none`, as itself. */
const ATTEMPTS = [
  'alter role session_user set default_transaction_read_only = on',
  `alter role session_user set search_path = 'pg_temp'`,
  `alter role session_user set role = 'anon'`,
  `alter role session_user set "request.jwt.claims" = '{"role":"service_role"}'`,
  `alter role session_user set statement_timeout = 1`,
  'alter role session_user set default_transaction_isolation = serializable',
  'alter role session_user reset all',
  `do $$ begin execute format('alter role %I in database %I set work_mem = 64', session_user, current_database()); end $$`,
  `alter role session_user password 'mine'`,
  'alter role session_user password null',
  'alter role session_user connection limit 0',
  'alter role session_user connection limit -1',
  `alter role session_user valid until 'infinity'`,
  `alter role session_user valid until '2000-01-01'`,
  'alter role session_user nologin',
  'alter role session_user inherit',
  'alter role session_user rename to mine',
  `do $$ begin execute format('revoke anon from %I', session_user); end $$`,
  `do $$ begin execute format('grant service_role to %I', session_user); end $$`,
  `do $$ begin execute format('grant %I to anon', session_user); end $$`,
  `do $$ begin execute format('drop role %I', session_user); end $$`,
  `do $$ declare other name; begin
     for other in select rolname from pg_roles where rolname like 'terrane%' and rolname <> session_user loop
       begin execute format('alter role %I password %L', other, 'mine'); exception when others then null; end;
       begin execute format('alter role %I set default_transaction_read_only = on', other); exception when others then null; end;
     end loop; end $$`,
  'alter default privileges revoke all on functions from public',
  'alter default privileges grant all on tables to public',
  `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
  `alter system set default_transaction_read_only = on`,
  `set session characteristics as transaction read only`,
  `set default_transaction_read_only = on`,
  `set statement_timeout = 1; set idle_in_transaction_session_timeout = 0; set lock_timeout = 1`,
  `set search_path = 'pg_temp'`,
  `set "request.jwt.claims" = '{"role":"service_role"}'; set my.own = 'kept'`,
  `do $$ begin execute format('comment on role %I is %L', session_user, 'mine'); end $$`,
  `do $$ begin execute format('comment on database %I is %L', current_database(), 'mine'); end $$`,
  `comment on schema public is 'mine'`,
  `do $$ begin execute format('security label on role %I is %L', session_user, 'mine'); end $$`,
  `select lo_from_bytea(4711, 'mine')`,
  `comment on large object 4711 is 'mine'`,
  `security label on large object 4711 is 'mine'`,
  'grant all on large object 4711 to public',
  `select pg_advisory_lock(n) from generate_series(0, 99) as n`,
  `select pg_advisory_lock(hashtext('terrane_function_logins'))`,
  'create temporary table notes (text text)',
  `prepare mine as select 1`,
  'declare mine cursor with hold for select 1',
  'listen mine',
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()',
]

/** State of a session that must not depend on what another function has done. */
const STATE = `select
  (select json_object_agg(name, setting order by name) from pg_settings
   where context = 'user' and name not like 'plpgsql.%' and name not in ('application_name', 'transaction_isolation', 'transaction_read_only', 'transaction_deferrable', 'seed')) as settings,
  current_user as role, current_setting('request.jwt.claims', true) as claims, nullif(current_setting('my.own', true), '') as own,
  (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
  (select count(*) from pg_class where pg_table_is_visible(oid) and relname = 'notes') as notes,
  (select count(*) from pg_prepared_statements where name = 'mine') as prepared, (select count(*) from pg_cursors where name = 'mine') as cursors,
  (select count(*) from pg_listening_channels()) as channels,
  (select count(*) from pg_db_role_setting join pg_roles on pg_roles.oid = setrole where rolname = session_user) as stored,
  (select count(*) from pg_default_acl join pg_roles on pg_roles.oid = defaclrole where rolname = session_user) as defaults,
  (select count(*) from pg_largeobject_metadata join pg_roles on pg_roles.oid = lomowner where rolname = session_user) as objects,
  (select count(*) from pg_shdescription join pg_roles on pg_roles.oid = objoid where rolname = session_user) as comments,
  (select array_agg(groups.rolname::text order by 1) from pg_auth_members join pg_roles as groups on groups.oid = roleid
   join pg_roles as members on members.oid = member where members.rolname = session_user) as member_of,
  (select array_agg(members.rolname::text) from pg_auth_members join pg_roles as groups on groups.oid = roleid
   join pg_roles as members on members.oid = member where groups.rolname = session_user and not members.rolcreaterole) as members,
  (select json_build_array(rolcanlogin, rolinherit, rolconnlimit, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication)
   from pg_roles where rolname = session_user) as rights`

const stateOf = async (session: LentSession) => (await session.query(STATE)).rows[0] as unknown
const userOf = async (session: LentSession) =>
  ((await session.query('select session_user as name')).rows[0] as { name: string }).name

describe.skipIf(!isPostgres)('logins of functions on a server', () => {
  let logins: Logins
  let sessions: Sessions
  beforeEach(async () => {
    logins = (await Logins.open(database.url))!
    sessions = new Sessions(database.url, 'plain', logins, 6)
  })
  afterEach(async () => {
    sessions[Symbol.dispose]()
    await logins[Symbol.asyncDispose]()
  })

  async function tryAll(session: LentSession): Promise<void> {
    for (const attempt of ATTEMPTS)
      for (const role of ['none', 'anon']) {
        // Settings of the session itself may make the next statements fail.
        await session.query('discard all').catch(() => {})
        await session.query(`set role ${role}`)
        await session.query(attempt).catch(() => {})
      }
    await session.query('set role none')
    for (const attempt of ATTEMPTS) await session.query(attempt).catch(() => {})
  }

  test('nothing that one function does to its login reaches another one, in a new session or in its own when it is used again', async () => {
    const before = await sessions.lease(ANON, 'before')
    const expected = await stateOf(before)
    expect(expected).toMatchObject({ role: 'anon', stored: '0', objects: '0', member_of: ['anon', 'authenticated'] })

    const attacker = await sessions.lease(ANON, 'attacker')
    await tryAll(attacker)
    const opened = await sessions.lease(ANON, 'other')
    expect(await stateOf(opened)).toEqual(expected)
    expect(await stateOf(before)).toEqual(expected)
    const [first, second] = [await userOf(before), await userOf(opened)]
    expect(first).not.toBe(second)

    // Settings stored for a login are read when it opens a session, and this one opens none.
    // The attack leaves a timeout of a millisecond. If it ends the cleaning, the session is dropped and not used again.
    await expect.poll(() => attacker.query('set statement_timeout = 0').then(() => true, () => false)).toBe(true) // prettier-ignore
    const user = await userOf(attacker)
    await sessions.giveBack(attacker, false)
    const again = await sessions.lease(ANON, 'again')
    expect(await userOf(again)).toBe(user)
    expect({ ...((await stateOf(again)) as object), stored: '0' }).toEqual(expected)
  })

  test('a host opens logins while a function holds every advisory lock that hosts have used', async () => {
    const holder = await sessions.lease(ANON, 'holder')
    await holder.query(`select pg_advisory_lock(hashtext('terrane_function_logins'))`)
    await using others = (await Logins.open(database.url))!
    using more = new Sessions(database.url, 'privileged', others, 1)
    const session = await more.lease({ ...ANON, role: 'service_role' }, 'other')
    expect((await session.query('select current_user as role')).rows).toEqual([{ role: 'service_role' }])
  })

  test('what a function hears and says in the channels of the platform opens no key and ends none', async () => {
    const { database: control } = database
    const sealer = createSealer(Buffer.alloc(32, 3))
    const [projects, keys] = [new Projects(control, sealer), new Keys(control, sealer)]
    const organizationId = (await new Organizations(control).create('heard')).id
    const { id: projectId } = await projects.create({ organizationId, ref: 'heard' })
    const [kept, ended] = [
      await keys.issue({ organizationId, projectId, role: 'anon' }),
      await keys.issue({ organizationId, projectId, role: 'anon' }),
    ]
    const settings = { cacheMs: 600_000, graceMs: 0 }
    await using opened = openKeyring({ connect: async () => control, settings, log: { warn: () => {} } })
    const accepted = (key: string) => opened.keyring.find(hashKey(key)).then(
      (principal) => principal !== null,
      () => false,
    ) // prettier-ignore
    expect([await accepted(kept.key), await accepted(ended.key)]).toEqual([true, true])

    const session = await sessions.lease(ANON, 'listener')
    const heard: (string | undefined)[] = []
    session.client.on('notification', ({ payload }) => heard.push(payload))
    await session.query('set role none')
    await session.query('listen terrane_keys')
    await keys.revoke(ended.record.id)
    await expect.poll(async () => (await session.query('select'), heard)).toEqual([hashKey(ended.key)])
    await expect.poll(() => accepted(ended.key)).toBe(false)
    for (const key of [kept.key, ended.key, 'unknown key'])
      await session.query(`notify terrane_keys, '${hashKey(key)}'`)
    await session.query('notify terrane_keys')
    // When a later notification was handled, the former one was, too.
    const marker = `marker ${crypto.randomUUID()}`
    await expect.poll(async () => {
      await session.query(`notify terrane_keys, '${marker}'`)
      return heard.at(-1)
    }).toBe(marker) // prettier-ignore
    for (const [key, isGood] of [
      [kept.key, true],
      [ended.key, false],
      ['unknown key', false],
    ] as const)
      // prettier-ignore
      expect(await accepted(key)).toBe(isGood)
  })

  test('a login signs in once, and one session sees neither the statements of another nor ends it', async () => {
    const [one, two] = [await sessions.lease(ANON, 'one'), await sessions.lease(ANON, 'two')]
    await two.query(`select 'a secret of two'`)
    await one.query('set role none')
    const seen = `select query from pg_stat_activity where query like '%secret of two%' and pid <> pg_backend_pid()`
    expect((await one.query(seen)).rows).toEqual([])
    await expect(one.query(`select pg_terminate_backend(${two.key.processId})`)).rejects.toMatchObject({
      code: '42501',
    })
    await one.query(`alter role session_user password 'mine'`)
    const url = new URL(database.url)
    url.username = await userOf(one)
    url.password = 'mine'
    await expect(Logins.open(url.href)).rejects.toMatchObject({ cause: { code: '53300' } })
  })

  test('a login ends with its session, and one of a host that was killed with the next host', async () => {
    const list = async () => {
      const { rows } = await database.database.query<{ name: string }>(
        `select rolname as name from pg_roles where rolname like 'terrane_function_%'`,
      )
      return rows.map(({ name }) => name)
    }
    const session = await sessions.lease(ANON, 'one')
    const user = await userOf(session)
    expect(await list()).toContain(user)
    sessions.drop(session)
    await expect.poll(list).not.toContain(user)

    const { user: left } = await logins.create('plain')
    await database.database.query(`alter role ${left} valid until '2000-01-01'`)
    await using next = (await Logins.open(database.url))!
    await next.create('plain')
    expect(await list()).not.toContain(left)
  })

  test('a user who is no superuser but may create roles and grant those of callers makes logins, and drops them', async () => {
    const admin = `admin_${crypto.randomUUID().slice(0, 8)}`
    const { database: owner } = database
    await owner.query(`create role ${admin} login createrole password 'admin'`)
    try {
      await owner.query(`grant anon, authenticated, service_role to ${admin} with admin option`)
      const url = new URL(database.url)
      url.username = admin
      url.password = 'admin'
      await using others = (await Logins.open(url.href))!
      using own = new Sessions(url.href, 'plain', others, 1)
      const session = await own.lease(ANON, 'one')
      const user = await userOf(session)
      await session.query('set role none')
      await session.query(`select lo_create(0)`)
      own.drop(session)
      await expect
        .poll(async () => (await owner.query('select from pg_roles where rolname = $1', [user])).rowCount)
        .toBe(0)
    } finally {
      await owner.query(`drop owned by ${admin}`)
      await owner.query(`drop role ${admin}`)
    }
  })
})
