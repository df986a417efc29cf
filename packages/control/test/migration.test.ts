import { randomUUID } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { hashKey } from '@terrane/auth'
import { migrate, type Database } from '@terrane/database'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer, readSecretsKey } from '@terrane/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_ORGANIZATION, Keys, Projects, mergeCredentials } from '../src/index.ts'

const sealerOf = (secret: string) =>
  createSealer(readSecretsKey({ TERRANE_MODE: 'local', TERRANE_JWT_SECRET: secret })!)
const sealer = sealerOf('of the migration test')
const acme = randomUUID()
const fail = (error: unknown) => {
  throw error
}

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  await asBefore(db.database)
  await fill(db.database)
  await migrate(db.database, ['control'])
  await mergeCredentials(db.database, sealer, fail)
})
afterAll(() => db[Symbol.asyncDispose]())

/** Takes schema terrane back to where it was before there was a control plane. */
async function asBefore(database: Database): Promise<void> {
  const folder = new URL('../../database/migrations/control/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name < '0020').toSorted()
  await database.query('drop schema terrane cascade; create schema terrane')
  await database.query(
    'create table terrane.migrations (id text primary key, sha256 text not null, applied_at timestamptz default now())',
  )
  for (const name of names) {
    const sql = await readFile(new URL(name, folder), 'utf8')
    await database.query(sql)
    await database.query('insert into terrane.migrations values ($1, $2)', [
      `control/${name.slice(0, -4)}`,
      hashKey(sql),
    ])
  }
}

/** What three apps had kept: a project that all know, one that only the functions host knows, a key and a revoked one. */
async function fill(database: Database): Promise<void> {
  const insert = (table: string, columns: string, ...values: unknown[]) =>
    database.query(
      `insert into terrane.${table} (${columns}) values (${values.map((_, i) => `$${i + 1}`).join(', ')})`,
      values,
    )
  await insert('organizations', 'id, name', acme, 'Acme')
  await insert('services_keys', 'sha256, organization_id, label', hashKey('the key of acme'), acme, 'ci')
  await insert('services_keys', 'sha256, organization_id, revoked_at', hashKey('an old key'), acme, new Date())
  const target = {
    databaseUrl: 'postgres://acme',
    serviceRoleKey: 'service-of-acme',
    storageUrl: 'https://acme/storage/v1',
  }
  await insert('projects', 'ref, organization_id, sealed_target', 'map', acme, sealer.seal(target, 'map'))
  const connection = { originUrl: 'https://acme', anonKey: 'anon-of-acme', serviceRoleKey: 'service-of-acme' }
  await insert(
    'console_projects',
    'ref, name, sealed_connection',
    'map',
    'The map',
    sealer.seal(connection, 'console project map'),
  )
  const sent = sealer.seal('the key of acme', `console organization ${acme}`)
  await insert('console_organizations', 'organization_id, sealed_services_key', acme, sent)
  const settings = (ref: string) => ({
    apiUrl: `http://${ref}.inside`,
    anonKey: `anon-of-${ref}-16`,
    serviceKey: `service-of-${ref}-fn`,
    jwtSecret: 's'.repeat(32),
  })
  for (const ref of ['map', 'lone'])
    await insert(
      'function_projects',
      'ref, sealed_settings',
      ref,
      sealer.seal(settings(ref), `functions project ${ref}`),
    )
  for (const ref of ['map', 'only-deployed']) {
    const version = ['hello', 1, 'ab'.repeat(32), 10, '{}', 'x']
    await insert('function_versions', 'project_ref, name, version, digest, bytes, policy, created_by', ref, ...version)
    await insert('function_live', 'project_ref, name, version', ref, 'hello', 1)
    await insert(
      'function_secrets',
      'project_ref, key, sealed',
      ref,
      'TOKEN',
      sealer.seal('t', `function secret ${ref}//TOKEN`),
    )
  }
  const job = ['osmImportArea', 'map', acme, '{}', Buffer.alloc(1), 3]
  await insert(
    'jobs',
    'id, task, project_ref, organization_id, input, sealed_input, max_attempts',
    randomUUID(),
    ...job,
  )
}

describe(`a database of the time before the control plane (${testLane()})`, () => {
  test('keeps its projects, with everything that the apps knew of each in one place', async () => {
    const projects = new Projects(db.database, sealer)
    const map = await projects.named('map')
    expect(map).toMatchObject({ organizationId: acme, name: 'The map', folder: 'map', hostLabel: 'map' })
    expect(await projects.credentials(map.id)).toEqual({
      databaseUrl: 'postgres://acme',
      serviceRoleKey: 'service-of-acme',
      storageUrl: 'https://acme/storage/v1',
      originUrl: 'https://acme',
      apiUrl: 'http://map.inside',
      anonKey: 'anon-of-map-16',
      jwtSecret: 's'.repeat(32),
    })
    const lone = await projects.named('lone')
    expect(lone).toMatchObject({ organizationId: DEFAULT_ORGANIZATION, folder: 'lone' })
    expect(await projects.credentials(lone.id)).toMatchObject({ originUrl: 'http://lone.inside' })
    expect((await projects.list()).map(({ ref }) => ref)).toEqual(['map', 'lone', 'only-deployed'])
  })

  test('keeps its keys: good ones stay good, revoked ones revoked', async () => {
    const keys = new Keys(db.database, sealer)
    expect(await keys.find('the key of acme')).toMatchObject({
      role: 'services',
      label: 'ci',
      organizationId: acme,
      revokedAt: null,
    })
    expect((await keys.find('an old key')).revokedAt).toBeInstanceOf(Date)
    expect(await keys.servicesKeyOf(acme)).toBe('the key of acme')
    // What the functions host accepted, and what the others sent.
    for (const key of ['anon-of-map-16', 'service-of-map-fn', 'service-of-acme'])
      expect(await keys.find(key)).toMatchObject({ projectRef: 'map', revokedAt: null, expiresAt: null })
  })

  test('keeps functions, secrets and jobs under the id of their project, and the tables of before are gone', async () => {
    const { id } = await new Projects(db.database, sealer).named('map')
    for (const table of ['function_versions', 'function_live', 'function_secrets', 'jobs']) {
      const { rowCount } = await db.database.query(`select 1 from terrane.${table} where project_id = $1`, [id])
      expect([table, rowCount]).toEqual([table, 1])
    }
    const gone = ['services_keys', 'function_projects', 'console_projects', 'console_organizations']
    const { rows } = await db.database.query(
      `select t from unnest($1::text[]) t where to_regclass('terrane.' || t) is not null`,
      [gone],
    )
    expect(rows).toEqual([])
    const { rowCount } = await db.database.query('select 1 from terrane.unmerged_credentials')
    expect(rowCount).toBe(0)
  })

  test('loses nothing to a process with another key: it says so and leaves the data for the right one', async () => {
    const { id } = await new Projects(db.database, sealer).named('lone')
    const sealed = sealer.seal({ originUrl: 'https://later' }, 'console project lone')
    await db.database.query(`insert into terrane.unmerged_credentials values ($1, 'console', $2)`, [id, sealed])
    const told: unknown[] = []
    const stranger = sealerOf('another')
    await mergeCredentials(db.database, stranger, (error) => told.push(error))
    expect(told).toMatchObject([{ code: 'CREDENTIALS_UNREADABLE' }])
    const projects = new Projects(db.database, sealer)
    await expect(projects.credentials(id)).rejects.toMatchObject({ code: 'CREDENTIALS_UNREADABLE' })
    await mergeCredentials(db.database, sealer, fail)
    expect(await projects.credentials(id)).toEqual({ originUrl: 'https://later' })
  })
})
