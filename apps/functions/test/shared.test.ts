import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signToken } from '@terrane/auth'
import { Organizations, Projects } from '@terrane/control'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { startApp, type TestApp } from './support/app.ts'
import { tryRuntime } from './support/runtimes.ts'

const { probed, title } = await tryRuntime('deno', 'hardened')
const SECRETS_KEY = 'ab'.repeat(32)
const PROJECTS = {
  alpha: {
    originUrl: 'http://127.0.0.1:9',
    anonKey: 'anon-key-of-alpha',
    serviceRoleKey: 'service-key-of-alpha',
    jwtSecret: 'secret-of-alpha-that-is-long-enough',
  },
  beta: {
    originUrl: 'http://127.0.0.1:9',
    anonKey: 'anon-key-of-beta-1',
    serviceRoleKey: 'service-key-of-beta',
    jwtSecret: 'secret-of-beta-that-is-long-enough-',
  },
}

describe.skipIf(!probed)(`a host for many projects: ${title}`, () => {
  let database: TestDatabase
  let app: TestApp

  beforeAll(async () => {
    database = await openTestDatabase()
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    for (const [ref, credentials] of Object.entries(PROJECTS)) {
      const { id: organizationId } = await new Organizations(database.database).create(ref)
      await new Projects(database.database, sealer).create({ organizationId, ref, credentials })
    }
    app = await startApp({
      DATABASE_URL: database.url,
      TERRANE_MODE: 'shared',
      TERRANE_FUNCTIONS_PROFILE: 'hardened',
      TERRANE_FUNCTIONS_DOMAIN: 'functions.example',
      TERRANE_SECRETS_KEY: SECRETS_KEY,
    })
    const source = (ref: string) =>
      `export default (req, ctx) => Response.json({ of: '${ref}', role: ctx.claims.role, secret: Deno.env.get('OWN') })`
    for (const ref of ['alpha', 'beta'] as const) {
      const key = PROJECTS[ref].serviceRoleKey
      await put(`/v1/projects/${ref}/secrets`, { OWN: `of ${ref}` }, key)
      const upload = { files: { 'index.ts': source(ref) }, policy: { methods: ['GET'] } }
      await put(`/v1/projects/${ref}/functions/who`, upload, key)
    }
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  async function put(path: string, body: unknown, key: string): Promise<number> {
    const headers = { apikey: key, 'content-type': 'application/json' }
    return (await fetch(app.origin + path, { method: 'PUT', headers, body: JSON.stringify(body) })).status
  }
  /** Calls as a browser would that has resolved the name to this host. */
  function call(host: string, apikey: string): Promise<{ status: number; body: unknown }> {
    return new Promise((resolve, reject) => {
      const sent = request(`${app.origin}/functions/v1/who`, { headers: { host, apikey } }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) as unknown }))
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  test('the host name says whose function is called, with whose keys and secrets', async () => {
    for (const ref of ['alpha', 'beta'] as const) {
      expect(await call(`${ref}.functions.example`, PROJECTS[ref].anonKey)).toEqual({
        status: 200,
        body: { of: ref, role: 'anon', secret: `of ${ref}` },
      })
    }
    expect(await call('ALPHA.functions.example:8001', PROJECTS.alpha.anonKey)).toMatchObject({ status: 200 })
  })

  test('a key or token of one project is worth nothing in another', async () => {
    expect(await call('alpha.functions.example', PROJECTS.beta.anonKey)).toMatchObject({ status: 401 })
    const forged = await signToken({ ref: 'alpha', role: 'anon' }, PROJECTS.beta.jwtSecret, 60)
    expect(await call('alpha.functions.example', forged)).toMatchObject({ status: 401 })
    const { serviceRoleKey: serviceKey } = PROJECTS.beta
    expect(await put('/v1/projects/alpha/functions/who', { files: { 'index.ts': '' } }, serviceKey)).toBe(401)
  })

  test('an unknown host or project is not found', async () => {
    for (const host of ['gamma.functions.example', 'functions.example', 'localhost', 'alpha.functions.example.evil'])
      expect(await call(host, PROJECTS.alpha.anonKey)).toMatchObject({
        status: 404,
        body: { code: 'FUNCTION_NOT_FOUND' },
      })
    expect(await put('/v1/projects/gamma/functions/who', {}, PROJECTS.alpha.serviceRoleKey)).toBe(404)
  })

  test('settings and secrets lie sealed in the database', async () => {
    const { rows } = await database.database.query<{ text: string }>(
      `select encode(sealed_credentials, 'escape') as text from terrane.projects
       union all select encode(sealed, 'escape') from terrane.function_secrets`,
    )
    expect(rows.length).toBe(4)
    expect(JSON.stringify(rows)).not.toMatch(/of-alpha|of alpha/)
  })
})
