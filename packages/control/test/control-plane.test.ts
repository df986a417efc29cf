import { hashKey, keyPrincipal } from '@terrane/auth'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer } from '@terrane/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  DEFAULT_ORGANIZATION,
  Keys,
  Organizations,
  Projects,
  openKeyring,
  readCredentials,
  registerLocal,
} from '../src/index.ts'
import { hookLane, hookTriggerName } from '../src/hook-triggers.ts'

const sealer = createSealer(Buffer.alloc(32, 3))

describe(`the control plane (${testLane()})`, () => {
  let db: TestDatabase
  let keys: Keys
  let projects: Projects
  let acme: string
  let rival: string
  beforeAll(async () => {
    db = await openTestDatabase()
    keys = new Keys(db.database, sealer)
    projects = new Projects(db.database, sealer)
    const organizations = new Organizations(db.database)
    acme = (await organizations.create('Same name')).id
    rival = (await organizations.create('Same name')).id
  })
  afterAll(() => db[Symbol.asyncDispose]())

  /** Whether each key is accepted by a new keyring. */
  async function accepted(...tried: string[]): Promise<boolean[]> {
    await using opened = openKeyring({
      connect: async () => db.database,
      settings: { cacheMs: 0, graceMs: 0 },
      log: { warn() {} },
    })
    const { keyring } = opened
    return await Promise.all(
      tried.map((key) =>
        keyring.find(hashKey(key)).then(
          (found) => found !== null,
          () => false,
        ),
      ),
    )
  }

  test('credentials that an early version had sealed in parts are refused until the project is described anew', async () => {
    const { id } = await projects.create({ organizationId: acme, ref: 'in-parts', credentials: {} })
    await db.database.query(`insert into terrane.unmerged_credentials values ($1, 'console', 'x')`, [id])
    await expect(projects.credentials(id)).rejects.toMatchObject({ code: 'CREDENTIALS_UNREADABLE' })
    await projects.set(id, { credentials: { originUrl: 'https://anew' } }, 0)
    expect(await projects.credentials(id)).toEqual({ originUrl: 'https://anew' })
  })

  test('a key is shown once and kept as its hash', async () => {
    const { key, record } = await keys.issue({ organizationId: acme, role: 'services', label: 'ci' })
    const { rows } = await db.database.query<{ text: string }>('select k::text as text from terrane.keys k')
    expect(JSON.stringify(rows)).not.toContain(key)
    expect(key.startsWith(record.prefix)).toBe(true)
    expect(key.length - record.prefix.length).toBeGreaterThanOrEqual(38)
    expect(await keys.find(key.slice(0, 20))).toMatchObject({ id: record.id })
    await expect(keys.find('trn_serv')).resolves.toMatchObject({ id: record.id })
    await keys.issue({ organizationId: acme, role: 'services' })
    await expect(keys.find('trn_serv')).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' })
  })

  test('rotation leaves both good until the overlap is over; a shorter end of the old one stays', async () => {
    const { key, record } = await keys.issue({
      organizationId: acme,
      role: 'services',
      scopes: ['routes'],
      label: 'web',
    })
    const next = await keys.rotate(record.id, 3_600_000)
    expect(next.record).toMatchObject({ role: 'services', scopes: ['routes'], label: 'web', expiresAt: null })
    expect(await accepted(key, next.key)).toEqual([true, true])
    const last = await keys.rotate(next.record.id, 0)
    expect(await accepted(key, next.key, last.key)).toEqual([true, false, true])
    await expect(keys.rotate(next.record.id, 0)).rejects.toMatchObject({ code: 'KEY_ENDED' })
    await keys.revoke(record.id)
    await keys.revoke(record.id)
    expect(await accepted(key, last.key)).toEqual([false, true])
  })

  test('the key that is sent for an organization follows its rotation, and is replaced when it has ended', async () => {
    const first = await keys.servicesKeyOf(acme)
    expect(await keys.servicesKeyOf(acme)).toBe(first)
    const { key: second } = await keys.rotate((await keys.find(first)).id, 60_000)
    expect(await keys.servicesKeyOf(acme)).toBe(second)
    await keys.revoke((await keys.find(second)).id)
    const third = await keys.servicesKeyOf(acme)
    expect(await accepted(first, second, third)).toEqual([true, false, true])
    expect(await keys.servicesKeyOf(rival)).not.toBe(third)
  })

  test('equal references of two organizations are two projects, each reachable for its own keys only', async () => {
    const mine = await projects.create({
      organizationId: acme,
      ref: 'map',
      credentials: { serviceRoleKey: 'service of acme' },
    })
    const theirs = await projects.create({ organizationId: rival, ref: 'map' })
    expect(new Set([mine.id, theirs.id, mine.folder, theirs.folder, mine.hostLabel, theirs.hostLabel]).size).toBe(6)
    const services = (organizationId: string) => keyPrincipal('services', { organizationId })
    expect(await projects.reachable(services(acme), 'map')).toMatchObject({ id: mine.id })
    expect(await projects.reachable(services(rival), 'map')).toMatchObject({ id: theirs.id })
    const own = keyPrincipal('service_role', { organizationId: acme, projectId: mine.id, projectRef: 'map' })
    expect(await projects.reachable(own, 'map')).toMatchObject({ id: mine.id })
    await projects.create({ organizationId: acme, ref: 'other' })
    await expect(projects.reachable(own, 'other')).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    await expect(projects.reachable(keyPrincipal('operator'), 'map')).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
    await expect(projects.named('map')).rejects.toMatchObject({ code: 'PROJECT_AMBIGUOUS' })
    expect(await projects.named('map', rival)).toMatchObject({ id: theirs.id })
    await expect(projects.create({ organizationId: acme, ref: 'map' })).rejects.toMatchObject({
      code: 'PROJECT_EXISTS',
    })
    await expect(new Organizations(db.database).find('Same name')).rejects.toMatchObject({
      code: 'ORGANIZATION_AMBIGUOUS',
    })
  })

  test('keys of credentials come and go with them, and cannot be rotated elsewhere', async () => {
    const { id } = await projects.named('map', acme)
    expect(await accepted('service of acme')).toEqual([true])
    await expect(keys.rotate((await keys.find('service of acme')).id, 0)).rejects.toMatchObject({
      code: 'KEY_NOT_ISSUED',
    })
    await projects.set(id, { credentials: { serviceRoleKey: 'next service of acme' } }, 3_600_000)
    expect(await accepted('service of acme', 'next service of acme')).toEqual([true, true])
    await projects.set(id, { credentials: { serviceRoleKey: 'next service of acme' } }, 0)
    expect(await accepted('service of acme', 'next service of acme')).toEqual([false, true])
    // A key of one project is never registered for another.
    const { id: other } = await projects.named('map', rival)
    await projects.set(other, { credentials: { serviceRoleKey: 'next service of acme' } }, 0)
    expect(await keys.find('next service of acme')).toMatchObject({ projectId: id })
  })

  test('sealed credentials do not open in the place of another project', async () => {
    const [a, b] = [await projects.named('map', acme), await projects.named('map', rival)]
    await db.database.query(
      `update terrane.projects set sealed_credentials = (select sealed_credentials from terrane.projects where id = $1) where id = $2`,
      [a.id, b.id],
    )
    await expect(projects.credentials(b.id)).rejects.toMatchObject({ code: 'SEAL_BROKEN' })
    await projects.set(b.id, { credentials: {} }, 0)
  })

  test('a project with jobs that have not ended stays; else its keys and job records go with it', async () => {
    const { id } = await projects.create({ organizationId: acme, ref: 'short-lived' })
    const { key } = await keys.issue({ organizationId: acme, projectId: id, role: 'anon' })
    await db.database.query(
      `insert into terrane.jobs (id, task, project_ref, organization_id, project_id, input, sealed_input, max_attempts)
       values (gen_random_uuid(), 'osmImportArea', 'short-lived', $1, $2, '{}', '', 1)`,
      [acme, id],
    )
    await expect(projects.delete(id)).rejects.toMatchObject({ code: 'PROJECT_BUSY' })
    await db.database.query(`update terrane.jobs set status = 'failed' where project_id = $1`, [id])
    await projects.delete(id)
    expect(await accepted(key)).toEqual([false])
    const { rowCount } = await db.database.query('select 1 from terrane.jobs where project_ref = $1', ['short-lived'])
    expect(rowCount).toBe(0)
  })

  test('a deleted project leaves no trigger of its table hooks behind, or says which stay', async () => {
    const run = (statement: string, values: unknown[] = []) => db.database.query(statement, values)
    await run('create table public.hooked (id int primary key)')
    const make = async (ref: string, databaseUrl: string) => {
      const { id } = await projects.create({ organizationId: acme, ref, credentials: { databaseUrl } })
      const hook = crypto.randomUUID()
      await run(
        `insert into terrane.table_hooks (id, project_ref, organization_id, project_id, table_schema, table_name, events, shown_url, sealed,
           description, attempts, paused) values ($1, $2, $3, $4, 'public', 'hooked', '{INSERT}', '', '', '', 1, false)`,
        [hook, ref, acme, id],
      )
      await run(`create trigger "${hookTriggerName(hook)}" after insert on public.hooked
        for each row execute function terrane.record_change('${hookLane(hook)}', '{id}', '{}', '{}')`)
      return { id, hook }
    }
    const busy = await make('busy', db.url)
    const gone = await make('gone', db.url)
    const kept = await make('kept', db.url)
    const away = await make('away', 'postgres://x@127.0.0.1:1/x')
    await run('insert into public.hooked values (1)')
    await run(
      `insert into terrane.jobs (id, task, project_ref, organization_id, project_id, input, sealed_input, max_attempts)
       values (gen_random_uuid(), 'osmImportArea', 'busy', $1, $2, '{}', '', 1)`,
      [acme, busy.id],
    )
    await expect(projects.delete(busy.id)).rejects.toMatchObject({ code: 'PROJECT_BUSY' })
    const stays = `select paused, (select count(*)::int from pg_trigger where tgname = $2) as triggers,
      (select count(*)::int from terrane.events where lane = $3) as events from terrane.table_hooks where id = $1`
    expect((await run(stays, [busy.hook, hookTriggerName(busy.hook), hookLane(busy.hook)])).rows).toEqual([
      { paused: false, triggers: 1, events: 1 },
    ])
    await run(`update terrane.jobs set status = 'failed' where project_id = $1`, [busy.id])
    expect(await projects.delete(busy.id)).toBeNull()
    expect(await projects.delete(gone.id)).toBeNull()
    expect(await projects.delete(away.id)).toEqual({ ids: [away.hook], reason: expect.stringContaining('reach') })
    const { rows } = await run(`select tgname as name from pg_trigger where tgrelid = 'public.hooked'::regclass`)
    expect(rows.map(({ name }) => name as string).toSorted()).toEqual([away, kept].map(({ hook }) => hookTriggerName(hook)).toSorted()) // prettier-ignore
    await run('insert into public.hooked values (2)')
    const events = await run('select lane, count(*) as n from terrane.events group by lane order by lane')
    expect(events.rows).toEqual([away, kept].map(({ hook }) => ({ lane: hookLane(hook), n: 2 })).toSorted((a, b) => (a.lane < b.lane ? -1 : 1))) // prettier-ignore
    await projects.delete(kept.id)
    await run('drop table public.hooked; delete from terrane.events')
  })

  test('a local stack accepts the keys of its environment: starting with B ends A, of this stack only', async () => {
    const revoked: unknown[] = []
    const log = { warn: (fields: object) => revoked.push(fields) }
    const start = (ref: string, servicesKey?: string, serviceRoleKey?: string) =>
      registerLocal(db.database, { ref, servicesKey, serviceRoleKey }, log)
    const project = await start('local', 'services key A', 'role key A')
    expect(project).toMatchObject({ organizationId: DEFAULT_ORGANIZATION, ref: 'local' })
    await start('another', 'services key of another')
    await start('local', 'services key B')
    expect(await accepted('services key A', 'services key B', 'services key of another', 'role key A')).toEqual([
      false,
      true,
      true,
      true,
    ])
    await start('local', 'services key A')
    expect(await accepted('services key A', 'services key B')).toEqual([true, false])
    // A start does not restore a key that was revoked by hand.
    await keys.revoke((await keys.find('services key A')).id)
    await start('local', 'services key A')
    expect(revoked).toEqual([{ roles: ['services'] }])
    expect(await accepted('services key A')).toEqual([false])
    await start('local', 'k1k1k1k1,k2k2k2k2')
    expect(revoked).toHaveLength(1)
    expect(await accepted('k1k1k1k1', 'k2k2k2k2')).toEqual([false, false])
  })

  test('uses of a key are noted to the minute', async () => {
    const { key, record } = await keys.issue({ organizationId: acme, role: 'services' })
    await accepted(key)
    const { lastUsedAt } = await keys.find(record.id)
    expect(lastUsedAt?.getSeconds()).toBe(0)
  })

  test('credentials are refused by field, without their values', () => {
    expect(readCredentials({ databaseUrl: 'postgres://x', anonKey: null })).toEqual({ databaseUrl: 'postgres://x' })
    for (const given of [
      { databaseUrl: 'mysql://hunter2' },
      { jwtSecret: 'hunter2' },
      { hunter3: 'hunter2' },
      [],
      null,
      'hunter2',
    ]) {
      const read = () => readCredentials(given)
      expect(read).toThrow(expect.objectContaining({ code: 'CREDENTIALS_INVALID' }) as Error)
      expect(read).not.toThrow('hunter2')
    }
  })
})
