import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Keys, Organizations, Projects } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSecretsKey, createSealer } from '@terrane/service'
import { fakeTask } from './fake-tasks.ts'
import { openWorker, read, submit, until, type TestWorker } from './harness.ts'

const SECRETS_KEY = 'ab'.repeat(32)
const TASK = 'createGeoEmbeddings'
/** The services key of each organization. */
const keys: Record<string, string> = {}
const bothOf = (key: string) => ({ apikey: key, authorization: `Bearer ${key}` })
const headersOf = (organization: string) => bothOf(keys[organization] ?? 'nobody')

let control: TestWorker
let project: TestDatabase
/** Every run of a job waits for it first. */
let hold: Promise<void> = Promise.resolve()

beforeAll(async () => {
  project = await openTestDatabase()
  control = await openWorker({
    tasks: [fakeTask(() => hold)],
    env: {
      TERRANE_MODE: 'shared',
      TERRANE_SECRETS_KEY: SECRETS_KEY,
      TERRANE_ALLOW_PROJECT_TARGET: 'true',
      TERRANE_SETTINGS: '{"everyApp":{"keys":{"cacheMs":200}}}',
      TERRANE_FETCH_ALLOW_HOSTS: new URL(project.url).hostname,
    },
  })
  const { database } = control.db
  const sealer = createSealer(parseSecretsKey(SECRETS_KEY) as Buffer)
  for (const name of ['alpha', 'beta']) {
    const { id: organizationId } = await new Organizations(database).create(name)
    keys[name] = (await new Keys(database, sealer).issue({ organizationId, role: 'services' })).key
    const credentials = { databaseUrl: project.url }
    await new Projects(database, sealer).create({ organizationId, ref: `project-${name}`, credentials })
  }
})
afterAll(async () => {
  await control[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

const post = (organization: string, payload: object) => submit(control, TASK, payload, headersOf(organization))
const get = (organization: string, path: string) => read(control, path, headersOf(organization))

async function finished(organization: string, self: string) {
  const answer = await until(
    { ...control, app: withHeaders(control, organization) },
    `${self}?projectRef=project-${organization}`,
  )
  return answer
}

/** The app as a caller of the organization sees it. */
function withHeaders(worker: TestWorker, organization: string): TestWorker['app'] {
  return {
    inject: (request: { url: string }) => worker.app.inject({ ...request, headers: headersOf(organization) }),
  } as unknown as TestWorker['app']
}

test('a job writes into the database of its project, and its record says nothing of how', async () => {
  const { status, body } = await post('alpha', {
    tableName: 'of_alpha',
    projectTarget: { projectRef: 'project-alpha' },
  })
  expect(status).toBe(202)
  expect(body).toMatchObject({
    project_ref: 'project-alpha',
    input: { projectTarget: { projectRef: 'project-alpha' } },
  })
  expect(await finished('alpha', body.links.self)).toMatchObject({ status: 'success' })
  const { rows } = await project.database.query('select count(*)::int as n from public.of_alpha')
  expect(rows).toEqual([{ n: 3 }])
  const there = await control.db.database.query<{ t: unknown }>(`select to_regclass('public.of_alpha') as t`)
  expect(there.rows[0]?.t).toBeNull()
})

describe('every call needs the project', () => {
  test('in POST bodies as projectTarget.projectRef', async () => {
    expect(await post('alpha', { tableName: 'x' })).toMatchObject({
      status: 422,
      body: { code: 'PROJECT_REF_REQUIRED', errors: [{ path: '/projectTarget/projectRef' }] },
    })
  })
  test.each(['/jobs/createGeoEmbeddings', '/jobs/createGeoEmbeddings/latest', '/capacity'])(
    'in the query of GET %s',
    async (path) => {
      expect(await get('alpha', path)).toMatchObject({ status: 422, body: { code: 'PROJECT_REF_REQUIRED' } })
    },
  )
})

describe("another organization's project", () => {
  test('is not found, whatever is asked', async () => {
    const { body } = await post('alpha', { tableName: 'mine', projectTarget: { projectRef: 'project-alpha' } })
    // Where references need no registration, the same one is another project of the caller's own: an empty one.
    expect((await get('beta', `/jobs/${TASK}?projectRef=project-alpha`)).body.data).toEqual([])
    for (const path of ['latest', body.id, `${body.id}/events`]) {
      const { status } = await get('beta', `/jobs/${TASK}/${path}?projectRef=project-alpha`)
      expect([path, status]).toEqual([path, 404])
    }
    expect(await get('beta', `/jobs/${TASK}/${body.id}?projectRef=project-beta`)).toMatchObject({
      status: 404,
      body: { code: 'JOB_NOT_FOUND' },
    })
    expect(await post('beta', { tableName: 'theirs', projectTarget: { projectRef: 'project-alpha' } })).toMatchObject({
      status: 422,
      body: { code: 'PROJECT_TARGET_INCOMPLETE' },
    })
    const remove = await control.app.inject({
      method: 'DELETE',
      url: `/jobs/${TASK}/${body.id}?projectRef=project-beta`,
      headers: headersOf('beta'),
    })
    expect(remove.statusCode).toBe(404)
    await finished('alpha', body.links.self)
  })
  test('of the same unregistered name is another project', async () => {
    const target = { projectRef: 'same-name', databaseUrl: project.url }
    const mine = await post('alpha', { tableName: 'same_a', projectTarget: target })
    expect(mine.status).toBe(202)
    expect((await get('beta', `/jobs/${TASK}?projectRef=same-name`)).body.data).toEqual([])
    expect((await get('beta', `/jobs/${TASK}/${mine.body.id}?projectRef=same-name`)).status).toBe(404)
    expect((await get('alpha', `/jobs/${TASK}/${mine.body.id}?projectRef=same-name`)).status).toBe(200)
  })
})

describe('credentials in projectTarget', () => {
  const secret = 'hunter2-do-not-show'
  test('are used, and never stored or shown in the clear', async () => {
    const url = new URL(project.url)
    url.password = secret
    const { status, body } = await post('alpha', {
      tableName: 'sealed',
      url: `https://user:${secret}@files.example/a.tif?X-Amz-Signature=${secret}`,
      projectTarget: { projectRef: 'brought', databaseUrl: url.href, serviceRoleKey: secret },
    })
    expect(status).toBe(202)
    expect(JSON.stringify(body)).not.toContain(secret)
    expect(body.input).toMatchObject({
      url: 'https://files.example/a.tif?X-Amz-Signature=[redacted]',
      projectTarget: { projectRef: 'brought', databaseUrl: '[redacted]', serviceRoleKey: '[redacted]' },
    })
    const dump = await control.db.database.query(
      `select (select json_agg(j) from terrane.jobs j)::text as jobs, (select json_agg(b) from pgboss.job b)::text as queue`,
    )
    expect(JSON.stringify(dump.rows)).not.toContain(secret)
    expect(JSON.stringify(dump.rows)).not.toContain(Buffer.from(secret).toString('hex'))
    const app = withHeaders(control, 'alpha')
    const done = await until({ ...control, app }, `${body.links.self}?projectRef=brought`)
    expect(done).toMatchObject({ status: 'success' })
  })
  test('that lead to an address inside are refused before anything is dialled', async () => {
    for (const databaseUrl of [
      'postgres://u:p@169.254.169.254/db',
      'postgres://u:p@10.0.0.5:5432/db',
      'postgres://u:p@[::1]/db',
    ]) {
      expect(
        await post('alpha', { tableName: 'x', projectTarget: { projectRef: 'inside', databaseUrl } }),
      ).toMatchObject({
        status: 422,
        body: { code: 'URL_REFUSED', errors: [{ path: '/projectTarget/databaseUrl' }] },
      })
    }
  })
  test.each([
    ['without a host', 'postgres://'],
    ['that is no URL', 'postgres://a b/c'],
    ['with a broken escape', 'postgres://u:%zz@{host}/db'],
  ])('%s are named', async (_, text) => {
    const databaseUrl = text.replace('{host}', new URL(project.url).host)
    const projectTarget = { projectRef: 'wrong', databaseUrl }
    expect(await post('alpha', { tableName: 'x', projectTarget })).toMatchObject({
      status: 422,
      body: { code: 'PROJECT_DATABASE_REFUSED', errors: [{ path: '/projectTarget/databaseUrl' }] },
    })
  })
  test.runIf(testLane() === 'postgres')('of a database that is not there are named (PostgreSQL only)', async () => {
    const url = new URL(project.url)
    url.pathname = '/there_is_none'
    const projectTarget = { projectRef: 'wrong', databaseUrl: url.href }
    expect(await post('alpha', { tableName: 'x', projectTarget })).toMatchObject({
      status: 422,
      body: { code: 'PROJECT_DATABASE_REFUSED', errors: [{ path: '/projectTarget/databaseUrl' }] },
    })
  })
  test('that are not complete are named', async () => {
    expect(await post('alpha', { tableName: 'x', projectTarget: { projectRef: 'unknown' } })).toMatchObject({
      status: 422,
      body: { code: 'PROJECT_TARGET_INCOMPLETE', errors: [{ path: '/projectTarget/databaseUrl' }] },
    })
  })
})

test('a key of a project or for other services does not open the pool, nor does a revoked one', async () => {
  const { database } = control.db
  const issuer = new Keys(database, null)
  const { id, organizationId } = await new Projects(database, null).named('project-alpha')
  const ask = async (key: string) => (await read(control, '/capacity?projectRef=project-alpha', bothOf(key))).status
  const good = await issuer.issue({ organizationId, role: 'services', scopes: ['jobs'] })
  expect(await ask(good.key)).toBe(200)
  expect(await ask((await issuer.issue({ organizationId, role: 'services', scopes: ['routes'] })).key)).toBe(403)
  expect(await ask((await issuer.issue({ organizationId, projectId: id, role: 'service_role' })).key)).toBe(403)
  await issuer.revoke(good.record.id)
  await expect.poll(() => ask(good.key)).toBe(401)
})

test('one project with many jobs does not keep another waiting', async () => {
  const app = withHeaders(control, 'beta')
  // The first of them waits until the other project's job has come.
  const { promise, resolve: release } = Promise.withResolvers<void>()
  hold = promise
  const many = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      post('alpha', { tableName: `many_${i}`, projectTarget: { projectRef: 'project-alpha' } }),
    ),
  )
  const one = await post('beta', { tableName: 'only_one', projectTarget: { projectRef: 'project-beta' } })
  release()
  const { started_at: began } = await until({ ...control, app }, `${one.body.links.self}?projectRef=project-beta`)
  const others: (string | null)[] = []
  for (const job of many) others.push((await finished('alpha', job.body.links.self)).started_at)
  expect(others.filter((other) => other! > began!).length).toBeGreaterThan(0)
})

test('receivers of webhooks that never answer keep no other project waiting', async () => {
  let held = 0
  let mostHeld = 0
  let told = false
  await using receiver = createServer((request, response) => {
    request.resume()
    if (request.url === '/beta') {
      told = true
      response.end()
      return
    }
    mostHeld = Math.max(mostHeld, ++held)
    response.once('close', () => held--)
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const hook = (organization: string, path: string) =>
    control.app.inject({
      method: 'POST',
      url: `/webhooks?projectRef=project-${organization}`,
      headers: headersOf(organization),
      payload: { url: `${base}${path}` },
    })
  for (let i = 0; i < 8; i++) expect((await hook('alpha', `/alpha/${i}`)).statusCode).toBe(201)
  expect((await hook('beta', '/beta')).statusCode).toBe(201)
  for (const organization of ['alpha', 'beta']) {
    const target = { projectTarget: { projectRef: `project-${organization}` } }
    const { body } = await post(organization, { tableName: `heard_of_${organization}`, steps: 1, ...target })
    await finished(organization, body.links.self)
    if (organization === 'alpha') await expect.poll(() => mostHeld).toBeGreaterThan(1)
  }
  await expect.poll(() => told).toBe(true)
  receiver.closeAllConnections()
  // A process makes four deliveries at once.
  expect(mostHeld).toBeLessThan(4)
})
