import { randomUUID } from 'node:crypto'
import { hashKey } from '@terrane/auth'
import type { Database } from '@terrane/database'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer, readSecretsKey } from '@terrane/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Keys, Projects, mergeCredentials } from '../src/index.ts'

const sealerOf = (secret: string) =>
  createSealer(readSecretsKey({ TERRANE_MODE: 'local', TERRANE_JWT_SECRET: secret })!)
const sealer = sealerOf('of the migration test')
const acme = randomUUID()
const ids = { map: randomUUID(), lone: randomUUID() }
const fail = (error: unknown) => {
  throw error
}

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  await fill(db.database)
  await mergeCredentials(db.database, sealer, fail)
})
afterAll(() => db[Symbol.asyncDispose]())

/** Parts that each app had sealed, one project with a single part, and a registered key. */
async function fill(database: Database): Promise<void> {
  const insert = (table: string, columns: string, ...values: unknown[]) =>
    database.query(
      `insert into terrane.${table} (${columns}) values (${values.map((_, i) => `$${i + 1}`).join(', ')})`,
      values,
    )
  await insert(
    'organizations',
    'id, name, sealed_services_key',
    acme,
    'Acme',
    sealer.seal('the key of acme', `console organization ${acme}`),
  )
  await insert(
    'keys',
    'id, sha256, prefix, organization_id, role',
    randomUUID(),
    hashKey('the key of acme'),
    'the',
    acme,
    'services',
  )
  for (const [ref, id] of Object.entries(ids))
    await insert('projects', 'id, ref, organization_id, host_label, folder', id, ref, acme, ref, ref)
  const part = (ref: keyof typeof ids, name: string, value: object, context: string) =>
    insert('unmerged_credentials', 'project_id, part, sealed', ids[ref], name, sealer.seal(value, context))
  const target = {
    databaseUrl: 'postgres://acme',
    serviceRoleKey: 'service-of-acme',
    storageUrl: 'https://acme/storage/v1',
  }
  await part('map', 'worker', target, 'map')
  const connection = { originUrl: 'https://acme', anonKey: 'anon-of-acme', serviceRoleKey: 'service-of-acme' }
  await part('map', 'console', connection, 'console project map')
  const settings = (ref: string) => ({
    apiUrl: `http://${ref}.inside`,
    anonKey: `anon-of-${ref}-16`,
    serviceKey: `service-of-${ref}-fn`,
    jwtSecret: 's'.repeat(32),
  })
  for (const ref of ['map', 'lone'] as const) await part(ref, 'functions', settings(ref), `functions project ${ref}`)
}

describe(`credentials that the apps had sealed each for itself (${testLane()})`, () => {
  test('become those of their project, in one place', async () => {
    const projects = new Projects(db.database, sealer)
    const map = await projects.named('map')
    expect(map).toMatchObject({ organizationId: acme, folder: 'map', hostLabel: 'map' })
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
    expect(lone).toMatchObject({ organizationId: acme, folder: 'lone' })
    expect(await projects.credentials(lone.id)).toMatchObject({ originUrl: 'http://lone.inside' })
    const { rowCount } = await db.database.query('select 1 from terrane.unmerged_credentials')
    expect(rowCount).toBe(0)
  })

  test('bring their keys, beside the registered ones', async () => {
    const keys = new Keys(db.database, sealer)
    expect(await keys.servicesKeyOf(acme)).toBe('the key of acme')
    // Keys that the functions host accepted, and keys that the others sent.
    for (const key of ['anon-of-map-16', 'service-of-map-fn', 'service-of-acme'])
      expect(await keys.find(key)).toMatchObject({ projectRef: 'map', revokedAt: null, expiresAt: null })
  })

  test('stay as they are for a process with another key, which reports it', async () => {
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
