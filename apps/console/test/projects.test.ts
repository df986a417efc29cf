import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { testLane } from '@terrane/database/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Keys, Projects } from '@terrane/control'
import {
  PASSWORD,
  json,
  openConsole,
  openService,
  type Browser,
  type FakeService,
  type TestConsole,
} from './harness.ts'

/** A second database starts. */
const SLOW = { timeout: 240_000 }

const SERVICE_KEY = 'service-role-key-of-the-tests'
const SERVICES_KEY = 'services-key-of-the-tests'
const ANON_KEY = 'anon-key-of-the-tests'

let console: TestConsole
let worker: FakeService
let origin: FakeService
let router: FakeService
let functions: FakeService
let ada: Browser
beforeAll(async () => {
  ;[worker, origin, router, functions] = await Promise.all([openService(), openService(), openService(), openService()])
  console = await openConsole({
    CONSOLE_WORKER_BASE_LOCAL: worker.url,
    TERRANE_PROJECT_URL: origin.url,
    TERRANE_ROUTER_URL: router.url,
    TERRANE_FUNCTIONS_URL: functions.url,
  })
  ada = await console.signIn()
})
afterAll(async () => {
  await console[Symbol.asyncDispose]()
  await Promise.all([worker, origin, router, functions].map((service) => service[Symbol.asyncDispose]()))
})
afterEach(() => {
  for (const service of [worker, origin, router, functions]) {
    service.asked.length = 0
    service.answer = (_, response) => json(response, 200, {})
  }
})

describe(`the jobs of a project (${testLane()})`, () => {
  test('POST adds the key and the project, whatever the browser says about either', async () => {
    worker.answer = (_, response) => {
      response.setHeader('location', '/jobs/archiveToPmtiles/7')
      response.setHeader('retry-after', '5')
      json(response, 202, { job_id: '7' })
    }
    const response = await ada.ask(
      'POST',
      '/api/projects/demo/jobs/archiveToPmtiles',
      { table: 'streets', projectTarget: { projectRef: 'other', databaseUrl: 'postgres://elsewhere' } },
      { apikey: 'mine', authorization: 'Bearer mine' },
    )
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe('/api/projects/demo/jobs/archiveToPmtiles/7')
    expect(response.headers.get('retry-after')).toBe('5')
    const [asked] = worker.asked
    expect(asked).toMatchObject({ method: 'POST', url: '/jobs/archiveToPmtiles' })
    expect(asked?.headers).toMatchObject({ apikey: SERVICE_KEY, authorization: `Bearer ${SERVICE_KEY}` })
    expect(asked?.headers['cookie']).toBeUndefined()
    expect(JSON.parse(asked?.body ?? '')).toEqual({ table: 'streets', projectTarget: { projectRef: 'demo' } })
  })

  test('DELETE, a retry and the reads are scoped by projectRef', async () => {
    await ada.ask('DELETE', '/api/projects/demo/jobs/osmImportArea/7')
    await ada.ask('GET', '/api/projects/demo/jobs/osmImportArea?limit=5&status=running')
    await ada.ask('GET', '/api/projects/demo/jobs/osmImportArea/latest')
    await ada.ask('GET', '/api/projects/demo/jobs/osmImportArea/7')
    await ada.ask('GET', '/api/projects/demo/jobs/osmImportArea/7/log?after=3&projectRef=other')
    await ada.ask('GET', '/api/projects/demo/doc')
    await ada.ask('POST', '/api/projects/demo/jobs/osmImportArea/7/retry')
    await ada.ask('POST', '/api/projects/demo/inspect', { fileUrl: 'https://a.example/b.csv', projectRef: 'other' })
    const paths = worker.asked.map(({ method, url }) => `${method} ${url}`)
    expect(paths[0]).toBe('DELETE /jobs/osmImportArea/7?projectRef=demo')
    const list = new URL(paths[1]?.split(' ')[1] ?? '', worker.url)
    expect(list.pathname).toBe('/jobs/osmImportArea')
    expect(Object.fromEntries(list.searchParams)).toMatchObject({ limit: '5', status: 'running', projectRef: 'demo' })
    expect(paths.slice(2)).toEqual([
      'GET /jobs/osmImportArea/latest?projectRef=demo',
      'GET /jobs/osmImportArea/7?projectRef=demo',
      'GET /jobs/osmImportArea/7/log?after=3&projectRef=demo&limit=200',
      'GET /doc',
      'POST /jobs/osmImportArea/7/retry?projectRef=demo',
      'POST /inspect',
    ])
    expect(JSON.parse(worker.asked.at(-1)!.body)).toEqual({ fileUrl: 'https://a.example/b.csv', projectRef: 'demo' })
  })

  test('schedules are made, read, changed and deleted for the project of the path', async () => {
    worker.answer = (_, response) => {
      response.setHeader('location', '/schedules/7')
      json(response, 201, { id: '7' })
    }
    const body = { cron: '0 3 * * *', input: { table: 'streets', projectTarget: { projectRef: 'other' } } }
    const made = await ada.ask('POST', '/api/projects/demo/schedules/archiveToPmtiles', body)
    expect([made.status, made.headers.get('location')]).toEqual([201, '/api/projects/demo/schedules/7'])
    expect(JSON.parse(worker.asked[0]?.body ?? '')).toEqual({
      cron: '0 3 * * *',
      input: { table: 'streets', projectTarget: { projectRef: 'demo' } },
    })
    await ada.ask('GET', '/api/projects/demo/schedules?limit=5&projectRef=other')
    await ada.ask('PATCH', '/api/projects/demo/schedules/7', { paused: true })
    await ada.ask('DELETE', '/api/projects/demo/schedules/7')
    expect(worker.asked.slice(1).map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /schedules?limit=5&projectRef=demo',
      'PATCH /schedules/7?projectRef=demo',
      'DELETE /schedules/7?projectRef=demo',
    ])
  })

  test('webhooks are made, read, paused and deleted for the project of the path', async () => {
    worker.answer = (_, response) => {
      response.setHeader('location', '/webhooks/7')
      json(response, 201, { id: '7', secret: 'whsec_once' })
    }
    const body = { url: 'https://example.org/hook', tasks: null, statuses: ['failed'] }
    const made = await ada.ask('POST', '/api/projects/demo/webhooks?projectRef=other', body)
    expect([made.status, made.headers.get('location')]).toEqual([201, '/api/projects/demo/webhooks/7'])
    expect(await made.json()).toMatchObject({ secret: 'whsec_once' })
    expect(JSON.parse(worker.asked[0]?.body ?? '')).toEqual(body)
    await ada.ask('GET', '/api/projects/demo/webhooks')
    await ada.ask('PATCH', '/api/projects/demo/webhooks/7', { paused: true })
    await ada.ask('GET', '/api/projects/demo/webhooks/7/deliveries?limit=5&projectRef=other')
    await ada.ask('DELETE', '/api/projects/demo/webhooks/7')
    expect(worker.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /webhooks?projectRef=demo',
      'GET /webhooks?projectRef=demo',
      'PATCH /webhooks/7?projectRef=demo',
      'GET /webhooks/7/deliveries?limit=5&projectRef=demo',
      'DELETE /webhooks/7?projectRef=demo',
    ])
  })

  test('a job without its CSRF token never reaches the worker', async () => {
    const response = await ada.ask('POST', '/api/projects/demo/jobs/osmImportArea', {}, { 'x-csrf-token': 'forged' })
    expect(response.status).toBe(403)
    expect(worker.asked).toEqual([])
  })

  test('names that lead out of the worker’s jobs lead nowhere', async () => {
    for (const name of ['..', '%2e%2e', '..%2fhealth', '%2e%2e%2f%2e%2e%2fmetrics']) {
      const response = await ada.ask('GET', `/api/projects/demo/jobs/osmImportArea/${name}`)
      const reached = worker.asked.every(({ url }) => url.startsWith('/jobs/osmImportArea/'))
      expect([reached, response.status === 404 || response.status === 200]).toEqual([true, true])
    }
  })

  test('problems of the worker come through as they are', async () => {
    const problem = { status: 422, code: 'INVALID_BODY', message: 'no', errors: [{ path: '/table', message: 'x' }] }
    worker.answer = (_, response) => json(response, 422, problem)
    const response = await ada.ask('POST', '/api/projects/demo/jobs/archiveToPmtiles', {})
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual(problem)
  })

  test.each([
    [401, 401, 'PROJECT_KEY_ENDED'],
    [403, 502, 'SERVICE_REFUSED'],
  ])(
    'a worker’s %i for the key that the console sends is told as %i, and is no lost session',
    async (given, told, code) => {
      worker.answer = (_, response) =>
        json(response, given, { code: 'UNAUTHORIZED', message: `bad key ${SERVICE_KEY}` })
      const response = await ada.ask('GET', '/api/projects/demo/jobs/osmImportArea')
      expect(response.status).toBe(told)
      const text = await response.text()
      expect(text).toContain(code)
      expect(text).not.toContain(SERVICE_KEY)
    },
  )

  test('events stream as they come and end with the worker’s stream', async () => {
    worker.answer = ({ headers }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`id: 1\nevent: status\ndata: {"after":"${String(headers['last-event-id'])}"}\n\n`)
      void once(gate, 'open').then(() => response.end('id: 2\nevent: status\ndata: {}\n\n'))
    }
    const gate = new (await import('node:events')).EventEmitter()
    const response = await ada.ask('GET', '/api/projects/demo/jobs/osmImportArea/7/events', undefined, {
      'last-event-id': '0',
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = response.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    expect(first).toContain('"after":"0"')
    gate.emit('open')
    let rest = ''
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      rest += new TextDecoder().decode(part.value)
    }
    expect(rest).toContain('id: 2')
  })
})

describe(`what the map, the routes and the functions ask for (${testLane()})`, () => {
  test('tables and searches are read as the service role, in schema geoembeddings only', async () => {
    await ada.ask('GET', '/api/projects/demo/rest/v1/embeddings_catalogue?select=table_name&limit=5', undefined, {
      'accept-profile': 'public',
    })
    await ada.ask('POST', '/api/projects/demo/rest/v1/rpc/similarity_search?select=id::text', { table_name: 't' })
    expect(origin.asked.map(({ url }) => url)).toEqual([
      '/rest/v1/embeddings_catalogue?select=table_name&limit=5',
      '/rest/v1/rpc/similarity_search?select=id%3A%3Atext',
    ])
    for (const { headers } of origin.asked) {
      expect(headers).toMatchObject({ apikey: SERVICE_KEY, 'accept-profile': 'geoembeddings' })
    }
  })

  test('every function that the page calls is offered', async () => {
    const folder = fileURLToPath(new URL('../web/src/', import.meta.url))
    const files = (await readdir(folder, { recursive: true })).filter((name) => /(?<!test)\.tsx?$/.test(name))
    const sources = await Promise.all(files.map((name) => readFile(folder + name, 'utf8')))
    const names = new Set(sources.join('\n').match(/(?<=\/rest\/v1\/rpc\/)\w+/g))
    expect(names).toContain('embedding_colors')
    for (const name of names) {
      const { status } = await ada.ask('POST', `/api/projects/demo/rest/v1/rpc/${name}`, {})
      expect([name, status]).toEqual([name, 200])
    }
  })

  test('other functions, tables by odd names, and other buckets are not offered', async () => {
    const asked = [
      await ada.ask('POST', '/api/projects/demo/rest/v1/rpc/delete_embedding_table', { p_table_name: 'x' }),
      await ada.ask('GET', '/api/projects/demo/rest/v1/..%2f..%2fstorage'),
      await ada.ask('GET', '/api/projects/demo/storage/v1/object/private/secret.txt'),
      await ada.ask('POST', '/api/projects/demo/storage/v1/bucket', { name: 'private' }),
      await ada.ask('DELETE', '/api/projects/demo/rest/v1/embeddings_catalogue'),
    ]
    for (const response of asked) expect([404, 422]).toContain(response.status)
    expect(origin.asked).toEqual([])
  })

  test('archives are read in ranges', async () => {
    origin.answer = (_, response) =>
      response
        .writeHead(206, { 'content-range': 'bytes 0-3/10', etag: '"1"', 'set-cookie': 'a=b', server: 'x' })
        .end('PMTi')
    const response = await ada.ask('GET', '/api/projects/demo/storage/v1/object/pmtiles/a%20b.pmtiles', undefined, {
      range: 'bytes=0-3',
    })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe('bytes 0-3/10')
    expect(response.headers.get('cache-control')).toBe('private, no-cache')
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(await response.text()).toBe('PMTi')
    expect(origin.asked[0]).toMatchObject({ url: '/storage/v1/object/pmtiles/a%20b.pmtiles' })
    expect(origin.asked[0]?.headers['range']).toBe('bytes=0-3')
  })

  test('HEAD reaches the service as HEAD, and its length comes back; an archive that did not change comes without a body', async () => {
    origin.answer = (asked, response) => {
      const isKnown = asked.headers['if-none-match'] === '"1"'
      if (isKnown) response.writeHead(304, { etag: '"1"' }).end()
      else response.writeHead(200, { 'content-length': '10', 'content-range': '0-4/5', 'set-cookie': 'a=b' }).end()
    }
    const archive = '/api/projects/demo/storage/v1/object/pmtiles/a.pmtiles'
    const table = '/api/projects/demo/rest/v1/embeddings_catalogue?limit=5'
    const heads = [
      await ada.ask('HEAD', archive),
      await ada.ask('HEAD', table, undefined, { 'accept-profile': 'public' }),
    ]
    for (const { status, headers } of heads)
      expect([status, headers.get('content-length'), headers.get('content-range'), headers.get('set-cookie')]).toEqual([
        200,
        '10',
        '0-4/5',
        null,
      ])
    const known = await ada.ask('GET', archive, undefined, { 'if-none-match': '"1"' })
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, '"1"', ''])
    await ada.ask('HEAD', '/api/projects/demo/jobs/osmImportArea/7')
    await ada.ask('HEAD', '/api/projects/demo/tables')
    expect([...origin.asked, ...worker.asked].map(({ method, url }) => `${method} ${url}`)).toEqual([
      'HEAD /storage/v1/object/pmtiles/a.pmtiles',
      'HEAD /rest/v1/embeddings_catalogue?limit=5',
      'GET /storage/v1/object/pmtiles/a.pmtiles',
      'POST /rest/v1/rpc/list_tables',
      'HEAD /jobs/osmImportArea/7?projectRef=demo',
    ])
    expect(origin.asked[1]?.headers).toMatchObject({ apikey: SERVICE_KEY, 'accept-profile': 'geoembeddings' })
    expect(origin.asked[1]?.headers['cookie']).toBeUndefined()
  })

  test('the layers are the archives of bucket pmtiles, and a missing bucket is said', async () => {
    origin.answer = ({ method }, response) =>
      method === 'GET'
        ? json(response, 200, { id: 'pmtiles' })
        : json(response, 200, [
            { id: '1', name: 'streets.pmtiles', updated_at: '2026-01-01T00:00:00Z', metadata: { size: 7 } },
            { id: null, name: 'folder', updated_at: null, metadata: null },
            { id: '2', name: 'readme.txt', updated_at: null, metadata: { size: 1 } },
          ])
    expect(await (await ada.ask('GET', '/api/projects/demo/layers')).json()).toEqual({
      exists: true,
      data: [{ name: 'streets', path: 'streets.pmtiles', bytes: 7, updated_at: '2026-01-01T00:00:00Z' }],
    })
    origin.answer = (_, response) => json(response, 404, {})
    expect(await (await ada.ask('GET', '/api/projects/demo/layers')).json()).toEqual({ exists: false, data: [] })
  })

  test('routes go to the routing engine with the Services API key, its errors come back as they are', async () => {
    router.answer = (_, response) => json(response, 400, { error_code: 154, error: 'too far', status_code: 400 })
    const response = await ada.ask('POST', '/api/projects/demo/route', { costing: 'auto', locations: [] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error_code: 154 })
    expect(router.asked[0]).toMatchObject({ method: 'POST', url: '/routing-engine/v1/route' })
    expect(router.asked[0]?.headers['apikey']).toBe(SERVICES_KEY)
    expect(router.asked[0]?.headers['authorization']).toBeUndefined()
  })

  test('functions are listed as the service role and called as anon, and their 401 does not end the session', async () => {
    functions.answer = (_, response) => json(response, 200, { data: [] })
    await ada.ask('GET', '/api/projects/demo/functions')
    expect(functions.asked[0]).toMatchObject({ url: '/v1/projects/demo/functions' })
    expect(functions.asked[0]?.headers['apikey']).toBe(SERVICE_KEY)
    origin.answer = (_, response) => json(response, 401, { code: 'UNAUTHORIZED' })
    const called = await ada.ask('POST', '/api/projects/demo/functions/hello/call', {
      path: 'a/b',
      query: 'x=1',
      body: '{"name":"Ada"}',
    })
    expect(called.status).toBe(200)
    expect(await called.json()).toMatchObject({ status: 401, body: '{"code":"UNAUTHORIZED"}', truncated: false })
    expect(origin.asked[0]).toMatchObject({
      method: 'POST',
      url: '/functions/v1/hello/a/b?x=1',
      body: '{"name":"Ada"}',
    })
    expect(origin.asked[0]?.headers['apikey']).toBe(ANON_KEY)
  })

  test('a long answer of a function is cut, and says so', async () => {
    origin.answer = (_, response) => response.end('x'.repeat(400_000))
    const called = await ada.ask('POST', '/api/projects/demo/functions/hello/call', {})
    const { body, truncated } = (await called.json()) as { body: string; truncated: boolean }
    expect([body.length, truncated]).toEqual([262_144, true])
  })

  test('a path with half of a character is refused, and an answer that breaks off is no fault of the console', async () => {
    const half = await ada.ask('POST', '/api/projects/demo/functions/hello/call', { path: 'a/\ud800' })
    expect([half.status, await half.json()]).toMatchObject([404, { code: 'NOT_FOUND' }])
    origin.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => response.destroy())
    }
    const broken = await ada.ask('POST', '/api/projects/demo/functions/hello/call', {})
    expect([broken.status, await broken.json()]).toMatchObject([503, { code: 'SERVICE_DOWN' }])
  })

  test('a service that does not run is said to be down, with what to do', SLOW, async () => {
    await using lonely = await openConsole({ CONSOLE_WORKER_BASE_LOCAL: 'http://127.0.0.1:9' })
    const browser = await lonely.signIn()
    const jobs = await browser.ask('GET', '/api/projects/demo/jobs/osmImportArea')
    expect(jobs.status).toBe(503)
    expect(await jobs.json()).toMatchObject({ code: 'SERVICE_DOWN', hint: expect.any(String) })
    const route = await browser.ask('POST', '/api/projects/demo/route', {})
    expect(await route.json()).toMatchObject({
      code: 'SERVICE_OFF',
      hint: expect.stringContaining('TERRANE_ROUTER_URL'),
    })
    const project = await browser.ask('GET', '/api/projects/demo')
    expect(await project.json()).toMatchObject({ services: { worker: true, routing: false, functions: false } })
  })
})

describe(`organizations (${testLane()})`, () => {
  test('a member of another organization sees nothing of the project: 404, as for one that does not exist', async () => {
    const email = 'stranger@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    const organization = await console.addOrganization('Elsewhere')
    expect(await console.accounts.addMember(email, organization)).toBe(true)
    const stranger = await console.signIn(email)
    expect(await (await stranger.ask('GET', '/api/projects')).json()).toEqual({ data: [] })
    const paths: [string, string][] = [
      ['GET', '/api/projects/demo'],
      ['GET', '/api/projects/demo/doc'],
      ['GET', '/api/projects/demo/jobs/osmImportArea'],
      ['GET', '/api/projects/demo/jobs/osmImportArea/7'],
      ['GET', '/api/projects/demo/jobs/osmImportArea/7/events'],
      ['DELETE', '/api/projects/demo/jobs/osmImportArea/7'],
      ['POST', '/api/projects/demo/jobs/osmImportArea/7/retry'],
      ['POST', '/api/projects/demo/inspect'],
      ['GET', '/api/projects/demo/layers'],
      ['GET', '/api/projects/demo/rest/v1/embeddings_catalogue'],
      ['GET', '/api/projects/demo/storage/v1/object/pmtiles/a.pmtiles'],
      ['GET', '/api/projects/demo/functions'],
    ]
    for (const [method, path] of paths) {
      const foreign = await stranger.ask(method, path)
      const missing = await stranger.ask(method, path.replace('demo', 'nowhere'))
      expect([path, foreign.status]).toEqual([path, 404])
      const [a, b] = [(await foreign.json()) as { code: string }, (await missing.json()) as { code: string }]
      expect([a.code, b.code]).toEqual(['PROJECT_NOT_FOUND', 'PROJECT_NOT_FOUND'])
    }
    const posted = await stranger.ask('POST', '/api/projects/demo/jobs/osmImportArea', {})
    expect(posted.status).toBe(404)
    expect([worker.asked, origin.asked, functions.asked]).toEqual([[], [], []])
  })

  test('who leaves the organization is out at the next request', async () => {
    const email = 'leaver@example.org'
    await console.accounts.add({ email, password: PASSWORD })
    const { rows } = await console.db.database.query<{ id: string }>(
      `select organization_id as id from terrane.projects where ref = 'demo'`,
    )
    const organization = rows[0]?.id ?? ''
    await console.accounts.addMember(email, organization)
    const leaver = await console.signIn(email)
    expect((await leaver.ask('GET', '/api/projects/demo')).status).toBe(200)
    expect(await console.accounts.removeMember(email, organization)).toBe(true)
    expect((await leaver.ask('GET', '/api/projects/demo')).status).toBe(404)
  })

  test('who has two projects of one reference reaches each by its id, and the page is told to', SLOW, async () => {
    const secret = 'cd'.repeat(32)
    await using pool = await openConsole({
      TERRANE_MODE: 'shared',
      TERRANE_SECRETS_KEY: secret,
      TERRANE_CONSOLE_SECURE_COOKIES: 'false',
    })
    const projects = new Projects(pool.db.database, createSealer(parseSecretsKey(secret) as Buffer))
    for (const [organization, refs] of [
      ['One', ['twin', 'single']],
      ['Two', ['twin']],
    ] as const) {
      const organizationId = await pool.addOrganization(organization)
      await pool.accounts.addMember('ada@example.org', organizationId)
      for (const ref of refs) await projects.create({ organizationId, ref, name: organization })
    }
    const browser = await pool.signIn()
    const { data } = (await (await browser.ask('GET', '/api/projects')).json()) as {
      data: { id: string; ref: string; address: string; organization: { name: string } }[]
    }
    const single = data.filter(({ ref }) => ref === 'single')
    const twins = data.filter(({ ref }) => ref === 'twin')
    expect(single.map(({ address }) => address)).toEqual(['single'])
    expect(twins.map(({ address }) => address)).toEqual(twins.map(({ id }) => id))
    expect(twins.map(({ organization }) => organization.name).toSorted()).toEqual(['One', 'Two'])
    for (const twin of twins) {
      const found = (await (await browser.ask('GET', `/api/projects/${twin.address}`)).json()) as typeof twin
      expect([found.id, found.address]).toEqual([twin.id, twin.id])
    }
    const byReference = await browser.ask('GET', '/api/projects/twin')
    expect([byReference.status, ((await byReference.json()) as { code: string }).code]).toEqual([
      409,
      'PROJECT_AMBIGUOUS',
    ])
  })

  test('in a shared pool each project is reached with its own sealed keys', SLOW, async () => {
    const secret = 'ab'.repeat(32)
    await using pool = await openConsole({
      TERRANE_MODE: 'shared',
      TERRANE_SECRETS_KEY: secret,
      CONSOLE_WORKER_BASE_SHARED: worker.url,
      TERRANE_CONSOLE_SECURE_COOKIES: 'false',
    })
    const sealer = createSealer(parseSecretsKey(secret) as Buffer)
    const database = pool.db.database
    const organizationId = await pool.addOrganization('Pool')
    await pool.accounts.addMember('ada@example.org', organizationId)
    const credentials = { originUrl: origin.url, serviceRoleKey: 'alpha-service', anonKey: 'alpha-anon' }
    await new Projects(database, sealer).create({ organizationId, ref: 'alpha', name: 'Alpha', credentials })
    const sent = await new Keys(database, sealer).servicesKeyOf(organizationId)
    const browser = await pool.signIn()
    await browser.ask('GET', '/api/projects/alpha/jobs/osmImportArea')
    await browser.ask('GET', '/api/projects/alpha/rest/v1/embeddings_catalogue')
    expect(worker.asked[0]?.headers).toMatchObject({
      apikey: sent,
      authorization: `Bearer ${sent}`,
    })
    expect(origin.asked[0]?.headers).toMatchObject({ apikey: 'alpha-service' })
    const { rows } = await database.query<{ text: string }>(
      `select (select string_agg(p::text, '') from terrane.projects p) ||
              (select string_agg(o::text, '') from terrane.organizations o) as text`,
    )
    expect(rows[0]?.text).not.toContain('alpha-service')
    expect(rows[0]?.text).not.toContain(sent)
  })
})

describe(`what browsers are told (${testLane()})`, () => {
  test('pages and answers carry the security headers', async () => {
    const page = await fetch(`${console.url}/`)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`default-src 'none'`)
    expect(policy).toContain(`script-src 'self'`)
    expect(policy).toContain(`frame-ancestors 'none'`)
    expect(policy).not.toContain('unsafe')
    const answer = await ada.ask('GET', '/api/projects')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    for (const { headers } of [page, answer]) {
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
  })

  test.each(['%00', 'a'.repeat(4000), '%22'.repeat(500), 'b//c', '%2e%2e%2fkeys.json'])(
    'an impossible path of a file is 404: %#',
    async (name) => {
      expect((await fetch(`${console.url}/assets/${name}`)).status).toBe(404)
    },
  )

  test('every address of the page is the page; assets are kept for ever, the page itself is not', async () => {
    for (const path of ['/', '/p/demo/jobs', '/p/demo/functions/hello']) {
      const response = await fetch(console.url + path)
      expect(response.headers.get('content-type')).toContain('text/html')
      expect(response.headers.get('cache-control')).toBe('no-cache')
    }
    const asset = await fetch(`${console.url}/assets/index-abc.js`)
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect((await fetch(`${console.url}/assets/none.js`)).status).toBe(404)
    expect((await fetch(`${console.url}/elsewhere`)).status).toBe(404)
  })

  test('no key is in any answer', async () => {
    const answers: string[] = []
    const paths = ['/', '/api/session', '/api/projects', '/api/projects/demo', '/api/projects/demo/jobs/osmImportArea']
    for (const path of [...paths, '/api/projects/demo/layers', '/api/projects/demo/functions', '/api/none']) {
      const response = await ada.ask('GET', path)
      answers.push(await response.text(), JSON.stringify([...response.headers]))
    }
    for (const key of [SERVICE_KEY, SERVICES_KEY, ANON_KEY]) expect(answers.join('\n')).not.toContain(key)
  })
})

describe('what a member takes along, brings and deploys', () => {
  test('keys are in the answer to a member who asks, never in that to a GET or without a session', async () => {
    const told = await ada.ask('POST', '/api/projects/demo/keys', {})
    expect(await told.json()).toEqual({
      url: origin.url,
      anon: ANON_KEY,
      service_role: SERVICE_KEY,
      services: SERVICES_KEY,
    })
    expect(told.headers.get('cache-control')).toBe('no-store')
    expect((await ada.ask('GET', '/api/projects/demo/keys')).status).toBe(404)
    expect((await ada.ask('POST', '/api/projects/demo/keys', {}, { 'x-csrf-token': 'forged' })).status).toBe(403)
    expect((await fetch(`${console.url}/api/projects/demo/keys`, { method: 'POST' })).status).toBe(401)
  })

  test('files of any bucket are listed, linked to for a while and deleted, as the service role', async () => {
    await ada.ask('GET', '/api/projects/demo/files')
    await ada.ask('GET', '/api/projects/demo/files/photos?limit=5&cursor=YQ')
    await ada.ask('DELETE', '/api/projects/demo/files/photos/a/b%20c.tif')
    expect(origin.asked.map(({ method, url, body }) => [`${method} ${url}`, body])).toEqual([
      ['GET /storage/v1/bucket', ''],
      ['POST /storage/v1/object/list-v2/photos', '{"prefix":"","limit":5,"cursor":"YQ"}'],
      ['DELETE /storage/v1/object/photos/a/b%20c.tif', ''],
    ])
    expect(origin.asked.every(({ headers }) => headers['apikey'] === SERVICE_KEY)).toBe(true)
    origin.answer = (_, response) => json(response, 200, { signedURL: '/object/sign/photos/b c.tif?token=t' })
    const link = await ada.ask('POST', '/api/projects/demo/files/photos/b%20c.tif', { seconds: 60 })
    expect(await link.json()).toEqual({ url: `${origin.url}/storage/v1/object/sign/photos/b%20c.tif?token=t` })
    expect(JSON.parse(origin.asked.at(-1)?.body ?? '')).toEqual({ expiresIn: 60 })
  })

  test('a link to a file that is not there is refused in the words of storage', async () => {
    origin.answer = (_, response) => json(response, 404, { code: 'NoSuchKey', message: 'Object not found' })
    const link = await ada.ask('POST', '/api/projects/demo/files/photos/none.tif', { seconds: 60 })
    expect([link.status, await link.json()]).toEqual([404, { code: 'NoSuchKey', message: 'Object not found' }])
  })

  test('functions are deployed, rolled back and removed in the project of the path', async () => {
    const base = '/api/projects/demo/functions/hello'
    const files = { 'index.ts': { base64: 'ZQ==' } }
    await ada.ask('PUT', base, { files })
    await ada.ask('GET', `${base}/versions`)
    await ada.ask('POST', `${base}/rollback`, { version: 2 })
    await ada.ask('DELETE', base)
    expect(functions.asked.map(({ method, url, body }) => [`${method} ${url}`, body])).toEqual([
      ['PUT /v1/projects/demo/functions/hello', JSON.stringify({ files })],
      ['GET /v1/projects/demo/functions/hello/versions', ''],
      ['POST /v1/projects/demo/functions/hello/rollback', '{"version":2}'],
      ['DELETE /v1/projects/demo/functions/hello', ''],
    ])
    expect(functions.asked.every(({ headers }) => headers['authorization'] === `Bearer ${SERVICE_KEY}`)).toBe(true)
  })

  test('the routing engine is asked for routes, areas that can be reached, and where its graph lies', async () => {
    for (const action of ['route', 'isochrone', 'status'])
      await ada.ask('POST', `/api/projects/demo/${action}`, { a: 1 })
    expect(router.asked.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual(
      ['route', 'isochrone', 'status'].map((action) => `POST /routing-engine/v1/${action} {"a":1}`),
    )
  })
})
