// Slow: each deploy is bundled and started, and two wait for the limit of a start.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { ANON_KEY, openStatelessApi, startApp, type TestApp } from './support/app.ts'

/** Variables with the token of an instance. */
const SERVICE_NAMES = ['SERVICE_ROLE_KEY', 'SUPABASE_SERVICE_ROLE_KEY', 'SUPABASE_SECRET_KEY', 'SUPABASE_SECRET_KEYS']
const says = (text: string) => `export default () => new Response(${JSON.stringify(text)})`

describe(`a registry on ${testLane()}`, { timeout: 120_000 }, () => {
  let database: TestDatabase
  let app: TestApp
  let api: Awaited<ReturnType<typeof openStatelessApi>>
  let origin: string
  let name = ''
  let count = 0

  beforeAll(async () => {
    database = await openTestDatabase()
    api = await openStatelessApi()
    origin = api.url
    app = await startApp({
      DATABASE_URL: database.url,
      TERRANE_PROJECT_URL: origin,
      TERRANE_SETTINGS: '{"functions":{"bootTimeoutMs":6000}}',
    })
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    api[Symbol.dispose]()
    await database[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    name = `fn-${++count}`
  })
  const call = async (host: TestApp = app) => {
    const response = await fetch(host.url(name))
    return `${response.status} ${response.status === 200 ? await response.text() : response.headers.get('x-error-code')}`
  }
  const versions = async () =>
    (
      (await app.control('GET', `/functions/${name}/versions`)).body['data'] as { version: number; live: boolean }[]
    ).map(({ version, live }) => (live ? `${version} live` : String(version)))

  test('a deploy makes a version and lets it answer; the same again changes nothing', async () => {
    const first = await app.deploy(name, says('one'))
    expect(first).toMatchObject({ status: 201, body: { name, version: 1, unchanged: false } })
    expect(await call()).toBe('200 one')
    const again = await app.deploy(name, says('one'))
    expect(again).toMatchObject({ status: 200, body: { version: 1, unchanged: true, etag: first.body['etag'] } })
    expect(await app.deploy(name, says('two'))).toMatchObject({ status: 201, body: { version: 2 } })
    expect(await call()).toBe('200 two')
    expect(await versions()).toEqual(['2 live', '1'])
    const policy = { auth: 'none', methods: ['GET'] }
    expect(await app.deploy(name, says('two'), policy)).toMatchObject({ status: 201, body: { version: 3 } })
  })

  test('another name keeps versions, secrets and hooks; the old one is gone', async () => {
    const source = `export default () => new Response(Deno.env.get('GREETING') ?? 'none')`
    const policy = { auth: 'none', methods: ['GET'], tables: ['insert on orders'] }
    await app.deploy(name, says('one'))
    await app.control('PUT', `/functions/${name}/secrets`, { GREETING: 'hello' })
    await app.deploy(name, source, policy)
    await database.database.query(
      `insert into terrane.table_hooks (id, project_ref, table_schema, table_name, events, shown_url, sealed, description, attempts, paused,
         declared_by, function_name, entry)
       select gen_random_uuid(), ref, 'public', 'orders', '{INSERT}', '/functions/v1/' || $1, '', '', 15, false, d.by, d.name, d.entry
       from terrane.projects p, lateral (values (p.id, $1, 'insert on orders'), (null, null, null)) d (by, name, entry)`,
      [name],
    )
    await app.deploy(`${name}-other`, says('other'))
    const rename = (to: string) => app.control('POST', `/functions/${name}/rename`, { to })
    expect(await rename(`${name}-other`)).toMatchObject({ status: 409, body: { code: 'FUNCTION_NAME_TAKEN' } })
    expect(await rename('no name')).toMatchObject({ status: 422 })
    api.status = 503
    const moves: unknown[] = []
    api.answer = (asked) => {
      asked.on('data', (chunk: Buffer) => moves.push(JSON.parse(chunk.toString())))
      return {}
    }
    expect(await rename(`${name}-new`)).toMatchObject({ status: 503, body: { code: 'FUNCTION_STATE_STAYS' } })
    const move = (from: string, to: string) => ({ store: `fn:${from}:`, request: { operation: 'rename', to } })
    await expect.poll(() => moves).toEqual([move(name, `${name}-new`), move(`${name}-new`, name)])
    api.answer = () => ({})
    api.status = 404
    expect(await call()).toBe('200 hello')
    expect(await versions()).toEqual(['2 live', '1'])
    // The second of two waits for the first, and finds none of the name.
    const both = await Promise.all([rename(`${name}-new`), rename(`${name}-late`)])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404])
    if (both[1].status === 204) await app.control('POST', `/functions/${name}-late/rename`, { to: `${name}-new` })
    expect(await call()).toBe('404 FUNCTION_NOT_FOUND')
    expect(await rename(`${name}-new`)).toMatchObject({ status: 404 })
    const { rows } = await database.database.query(
      'select shown_url, function_name as name from terrane.table_hooks order by function_name',
    )
    const [shown_url, renamed] = [`/functions/v1/${name}-new`, `${name}-new`]
    expect(rows).toEqual([
      { shown_url, name: renamed },
      { shown_url, name: null },
    ])
    name = `${name}-new`
    expect(await call()).toBe('200 hello')
    expect(await versions()).toEqual(['2 live', '1'])
    await database.database.query('delete from terrane.table_hooks')
  })

  test('hooks in function.json are refused where they are wrong, or their table is missing', async () => {
    api.answer = ({ url }) =>
      url!.startsWith('/rest/v1/missing') ? { code: 'PGRST205', message: 'no such table' } : { code: 'PGRST301' }
    for (const [policy, path] of [
      [{ tables: ['insert on terrane.events'] }, '/tables/0'],
      [{ tables: ['truncate on orders'] }, '/tables/0'],
      [{ tables: ['insert on orders', 'insert on missing'] }, '/tables'],
      [{ jobs: ['noTask'] }, '/jobs/0'],
      [{ jobs: ['*: cancelled'] }, '/jobs/0'],
    ] as const)
      expect(await app.deploy(name, says('x'), policy)).toMatchObject({
        status: 422,
        body: { code: 'FUNCTION_POLICY_INVALID', errors: [{ path }] },
      })
    const policy = { tables: ['insert or update of status on orders'], jobs: ['exportTable: failed'] }
    expect(await app.deploy(name, says('x'), policy)).toMatchObject({ status: 201 })
  })

  test('what it did in a minute can be read', async () => {
    await app.deploy(name, says('x'))
    await call()
    const { body } = await app.control('GET', `/functions/${name}/minutes`)
    const minutes = body['data'] as { calls: number; errors: number }[]
    expect([minutes.length, minutes.reduce((sum, { calls }) => sum + calls, 0)]).toEqual([60, 1])
  })

  describe('a version that fails at its start is refused with the reason, and the old one stays:', () => {
    const kept = 'fn-kept'
    beforeAll(() => app.deploy(kept, says('good')))
    beforeEach(() => {
      name = kept
    })
    const expectRefused = async (source: string, reason: string) => {
      const refused = await app.deploy(kept, source)
      expect(refused).toMatchObject({ status: 422, body: { code: 'FUNCTION_BOOT_FAILED' } })
      expect(refused.body['message']).toContain(reason)
      expect(await call()).toBe('200 good')
      expect(await versions()).toEqual(['1 live'])
    }

    test.each([
      ['throws at the top level', `throw new Error('no good'); export default 1`, 'Error: no good'],
      ['exports no handler', `export const x = 1`, 'no handler'],
      ['asks for what it may not have', `Deno.readTextFileSync('/etc/passwd'); export default () => {}`, 'NotCapable'],
      ['ends at once', `Deno.exit(3)`, 'exit code 3'],
    ])('%s', (_, source, reason) => expectRefused(source, reason))

    // Both wait for the limit of a start.
    test('never comes to an end, or waits for nothing', async () => {
      const endless = `await new Promise(() => {}); export default () => {}`
      const idle = `const { promise } = Promise.withResolvers(); await promise; export default () => {}`
      await Promise.all([expectRefused(endless, 'not ready within 6000 ms'), expectRefused(idle, 'not ready')])
    })
  })

  // The bundler's other refusals: packages/bundler/test/uploads.test.ts.
  test.each([
    ['a syntax error', `export default (`, 'index.ts:1'],
    ['the host, upwards', `import '../../../../../../etc/passwd'`, 'is not part of the upload'],
  ])('a bundle with %s is refused', async (_, source, reason) => {
    const refused = await app.deploy(name, source)
    expect(refused).toMatchObject({ status: 422, body: { code: 'FUNCTION_BUNDLE_FAILED' } })
    expect(refused.body['message']).toContain(reason)
    expect(await call()).toBe('404 FUNCTION_NOT_FOUND')
  })

  test('every wrong field of the policy is named, unknown ones too', async () => {
    const refused = await app.deploy(name, says('x'), { auth: 'everyone', timeout_ms: 'long', retries: 3, methods: [] })
    expect(refused.status).toBe(422)
    const errors = refused.body['errors'] as { path: string; message: string }[]
    expect(errors.map((error) => error.path).toSorted()).toEqual(['/auth', '/methods', '/retries', '/timeout_ms'])
    expect(errors.find((error) => error.path === '/retries')!.message).toBe('is not a known field')
  })

  test('several files, static files, and function.json among them', async () => {
    const files = {
      'index.ts': `import { a } from './lib/a.ts'; import data from './data.json' with { type: 'json' }
        export default () => new Response(a + data.b + Deno.readTextFileSync(new URL('./static/c.txt', import.meta.url)))`,
      'lib/a.ts': `export { x as a } from './x.js'`,
      'lib/x.js': `export const x = 'A'`,
      'data.json': `{"b":"B"}`,
      'static/c.txt': { base64: Buffer.from('C').toString('base64') },
      'function.json': `{"auth":"none","methods":["GET"],"static":["static/**"]}`,
    }
    expect(await app.control('PUT', `/functions/${name}`, { files })).toMatchObject({ status: 201 })
    expect(await call()).toBe('200 ABC')
  })

  test('rollback goes to the version before, or to a given one, and is itself undone by one', async () => {
    for (const text of ['one', 'two', 'three']) await app.deploy(name, says(text))
    expect(await app.control('POST', `/functions/${name}/rollback`, {})).toMatchObject({
      status: 200,
      body: { version: 2 },
    })
    expect(await call()).toBe('200 two')
    await app.control('POST', `/functions/${name}/rollback`, { version: 1 })
    expect(await call()).toBe('200 one')
    await app.control('POST', `/functions/${name}/rollback`, { version: 3 })
    expect(await call()).toBe('200 three')
    expect(await versions()).toEqual(['3 live', '2', '1'])
    for (const [body, status] of [
      [{ version: 9 }, 404],
      [{ version: 0 }, 422],
      [{ to: 1 }, 422],
    ] as const) {
      expect((await app.control('POST', `/functions/${name}/rollback`, body)).status).toBe(status)
    }
  })

  test('of two deploys at once the second to finish is told, unless both make the same', async () => {
    await app.deploy(name, says('zero'))
    const results = await Promise.all(['a', 'b', 'c'].map((text) => app.deploy(name, says(text))))
    const statuses = results.map((result) => result.status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, 409, 409])
    const winner = ['a', 'b', 'c'][results.findIndex((result) => result.status === 201)]
    expect(await call()).toBe(`200 ${winner}`)
    expect(results.find((result) => result.status === 409)!.body).toMatchObject({ code: 'FUNCTION_DEPLOY_CONFLICT' })
  })

  test('If-Match names what must be live; a dry run changes nothing', async () => {
    const { body } = await app.deploy(name, says('one'))
    const put = (text: string, headers: Record<string, string>, query = '') =>
      app.control(
        'PUT',
        `/functions/${name}${query}`,
        { files: { 'index.ts': says(text) }, policy: { auth: 'none', methods: ['GET'] } },
        headers,
      )
    expect((await put('two', { 'if-match': '"00000000-0000-4000-8000-000000000000"' })).status).toBe(409)
    expect(await put('two', {}, '?dry_run=true')).toMatchObject({ status: 200, body: { version: null } })
    expect(await call()).toBe('200 one')
    expect((await put('two', { 'if-match': `"${String(body['etag'])}"` })).status).toBe(201)
    expect(await call()).toBe('200 two')
  })

  test('prune forgets old versions but not the live one; delete forgets all', async () => {
    for (const text of ['1', '2', '3', '4']) await app.deploy(name, says(text))
    await app.control('POST', `/functions/${name}/rollback`, { version: 1 })
    expect(await app.deps.control.deployed!.deployer.prune('test', name, 1)).toBe(2)
    expect(await versions()).toEqual(['4', '1 live'])
    expect(await call()).toBe('200 1')
    await app.control('POST', `/functions/${name}/rollback`, { version: 4 })
    expect(await call()).toBe('200 4')
    expect((await app.control('DELETE', `/functions/${name}`)).status).toBe(204)
    expect(await call()).toBe('404 FUNCTION_NOT_FOUND')
    expect((await app.control('DELETE', `/functions/${name}`)).status).toBe(404)
  })

  test('secrets reach the functions that may see them, and only their names come back', async () => {
    await app.control('PUT', '/secrets', { SHARED: 'p', TOPIC: 'of the project' })
    await app.control('PUT', `/functions/${name}/secrets`, { TOPIC: 'of the function' })
    const source = `export default () => Response.json(Deno.env.toObject())`
    const env = async () => (await fetch(app.url(name))).json()
    await app.deploy(name, source, { auth: 'none', methods: ['GET'], secrets: ['SHARED'] })
    const host = {
      PROJECT_URL: origin,
      SUPABASE_URL: origin,
      SUPABASE_JWKS_URL: `${origin}/auth/v1/.well-known/jwks.json`,
      SUPABASE_JWKS: '{"keys":[]}',
      ANON_KEY,
      SUPABASE_ANON_KEY: ANON_KEY,
      SUPABASE_PUBLISHABLE_KEY: ANON_KEY,
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: ANON_KEY }),
      ...Object.fromEntries(SERVICE_NAMES.map((each) => [each, expect.any(String) as string])),
    }
    expect(await env()).toEqual({ ...host, SHARED: 'p', TOPIC: 'of the function' })
    await app.control('PUT', '/secrets', { SHARED: 'changed' })
    await expect.poll(env).toEqual({ ...host, SHARED: 'changed', TOPIC: 'of the function' })
    await app.control('PUT', `/functions/${name}/secrets`, { TOPIC: null })
    await expect.poll(env).toEqual({ ...host, SHARED: 'changed' })
    const listed = await app.control('GET', '/secrets')
    expect(JSON.stringify(listed.body)).not.toContain('changed')
    expect((listed.body['data'] as { name: string }[]).map((secret) => secret.name)).toEqual(['SHARED', 'TOPIC'])
    const { rows } = await database.database.query<{ text: string }>(
      `select encode(sealed, 'escape') as text from terrane.function_secrets`,
    )
    expect(JSON.stringify(rows)).not.toContain('changed')
    for (const taken of ['SUPABASE_URL', 'DENO_DIR', 'ANON_KEY', 'NODE_OPTIONS'])
      expect((await app.control('PUT', '/secrets', { [taken]: 'x' })).status).toBe(422)
    const missing = await app.deploy(`${name}-x`, source, { secrets: ['NOT_THERE'] })
    expect(missing).toMatchObject({ status: 422, body: { code: 'FUNCTION_SECRETS_MISSING' } })
  })

  test('a name keeps its capital letters', async () => {
    await app.deploy('Send-Mail', says('capital'))
    await app.deploy('send-mail', says('small'))
    const texts = ['Send-Mail', 'send-mail'].map(async (each) => (await fetch(app.url(each))).text())
    expect(await Promise.all(texts)).toEqual(['capital', 'small'])
    for (const each of ['Send-Mail', 'send-mail'])
      expect((await app.control('DELETE', `/functions/${each}`)).status).toBe(204)
  })

  test('a privileged function finds a token of its own, never the service key', async () => {
    await app.deploy(name, `export default () => Response.json(Deno.env.toObject())`, {
      auth: 'none',
      methods: ['GET'],
      privileged: true,
    })
    const text = await (await fetch(app.url(name))).text()
    expect(text).toContain('SUPABASE_SERVICE_ROLE_KEY')
    expect(text).not.toContain('sb_secret_of_the_tests')
  })

  test('the deploy API is for the service role of the very project', async () => {
    const get = async (path: string, headers: Record<string, string>) =>
      (await fetch(`${app.origin}${path}`, { headers })).status
    expect(await get('/v1/projects/test/functions', {})).toBe(401)
    expect(await get('/v1/projects/test/functions', { apikey: ANON_KEY })).toBe(403)
    expect(await get('/v1/projects/other/functions', { apikey: ANON_KEY })).toBe(404)
    expect((await app.control('GET', '/functions')).status).toBe(200)
  })

  test('the log of a function can be read and followed', async () => {
    await app.deploy(name, `export default () => { console.warn('said %s', 'so'); return new Response('') }`)
    await fetch(app.url(name), { headers: { 'x-request-id': 'followed-1' } })
    const headers = { apikey: 'sb_secret_of_the_tests' }
    const leaving = new AbortController()
    const followed = await fetch(`${app.origin}/v1/projects/test/functions/${name}/logs?follow=true`, {
      headers,
      signal: leaving.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const chunk of followed.body!.pipeThrough(new TextDecoderStream())) text += chunk
    })().catch(() => {})
    await expect.poll(() => text).toContain('"message":"said so"')
    const line = text.split('\n').find((each) => each.includes('said so'))!
    expect(JSON.parse(line)).toMatchObject({
      source: 'function',
      level: 'warn',
      request_id: 'followed-1',
      function: name,
    })
    await fetch(app.url(name), { headers: { 'x-request-id': 'followed-2' } })
    await expect.poll(() => text).toContain('followed-2')
    leaving.abort()
    await reading
  })

  describe('a second host on the same registry', () => {
    let other: TestApp
    beforeAll(async () => {
      other = await startApp({ DATABASE_URL: database.url, TERRANE_FUNCTIONS_STORAGE: `file:${app.home}/archives` })
    })
    afterAll(() => other[Symbol.asyncDispose]())

    test('serves what is deployed on the first, follows changes, and forgets what is removed', async () => {
      await app.deploy(name, says('one'))
      await expect.poll(() => call(other)).toBe('200 one')
      await app.deploy(name, says('two'))
      await expect.poll(() => call(other)).toBe('200 two')
      await app.control('POST', `/functions/${name}/rollback`, {})
      await expect.poll(() => call(other)).toBe('200 one')
      await app.control('DELETE', `/functions/${name}`)
      await expect.poll(() => call(other)).toBe('404 FUNCTION_NOT_FOUND')
    })
  })

  test('no call fails across deploys, one in five of them broken', async () => {
    await app.deploy(name, says('start'))
    const stop = new AbortController()
    const failed: string[] = []
    const seen = new Set<string>()
    let calls = 0
    const callers = Array.from({ length: 4 }, async () => {
      while (!stop.signal.aborted) {
        const answer = await call()
        calls++
        seen.add(answer)
        if (!answer.startsWith('200 ')) failed.push(answer)
        // Leaves the deploys a share of a small machine.
        await sleep(25)
      }
    })
    for (let i = 1; i <= 5; i++) {
      const broken = i === 3
      const before = calls
      const result = await app.deploy(name, broken ? `throw new Error('broken ${i}')` : says(`v${i}`))
      expect(result.status).toBe(broken ? 422 : 201)
      await expect.poll(() => calls - before).toBeGreaterThan(10)
    }
    await expect.poll(() => seen.has('200 v5')).toBe(true)
    stop.abort()
    await Promise.all(callers)
    expect(failed).toEqual([])
    expect(calls).toBeGreaterThan(50)
  })
})
