// Attacks that succeeded in the past, each by its name, against the running apps.
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import { signToken } from '@terrane/auth'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openHouse, settingsOf, type House } from '../support/house.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe(`what was found (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  let house: House
  beforeAll(async () => {
    house = await openHouse(opened, settingsOf(100_000))
    await house.signIn()
  })
  afterAll(() => opened.disposeAsync())

  const ask = (app: string, path: string, init: RequestInit = {}) => fetch(`${house.app(app).url}${path}`, init)
  const status = async (app: string, path: string, init: RequestInit = {}) => {
    const response = await ask(app, path, init)
    await response.arrayBuffer()
    return response.status
  }
  const anon = () => house.credentials('origin', 'anon')
  const owner = () => house.credentials('origin', 'owner')

  test('1: quotes in a logic tree are read in one pass', async () => {
    for (const quotes of [64, 120, 2000])
      expect(await status('origin', `/rest/v1/spatial_ref_sys?or=(${'%22'.repeat(quotes)})`, { headers: anon() })).toBe(
        400,
      )
  })

  test('2: the key is asked for before a body is validated, and of a large body the first error is told', async () => {
    const paths = Array.from({ length: 400_000 }, () => 1)
    const post = (app: string, path: string, headers: Record<string, string>, body: unknown) =>
      ask(app, path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) })
    const sign = '/storage/v1/object/sign/zz'
    expect((await post('origin', sign, {}, { expiresIn: 1, paths })).status).toBe(401)
    expect((await post('origin', sign, anon(), { expiresIn: 1, paths })).status).toBe(403)
    const told = await post('origin', sign, owner(), { expiresIn: 1, paths })
    expect(told.status).toBe(400)
    expect((await told.text()).length).toBeLessThan(2000)
    const many = Object.fromEntries(Array.from({ length: 700_000 }, (_, n) => [`f${n}`, 1]))
    expect((await post('console', '/api/session', {}, many)).status).toBe(413)
    const task = '/jobs/createGeoEmbeddings'
    expect((await post('worker', task, house.credentials('worker', 'anon'), {})).status).toBe(403)
    expect((await post('worker', task, house.credentials('worker', 'owner'), many)).status).toBe(413)
  })

  test('4: a key that is rotated or revoked opens nothing any more, and a list of keys is no key', async () => {
    const { registered, keys } = house
    const { projectId, organizationId } = await registered.find(keys.serviceRoleKey)
    const { key, record } = await registered.issue({
      organizationId: organizationId,
      projectId: projectId!,
      role: 'service_role',
    })
    const opens = () =>
      Promise.all([
        status('worker', '/capacity', { headers: { apikey: key, authorization: `Bearer ${key}` } }),
        status('origin', '/storage/v1/bucket', { headers: { apikey: key } }),
        status('functions', '/functions/v1/guarded', { method: 'POST', headers: { apikey: key } }),
      ])
    await expect.poll(opens).toEqual([200, 200, 200])
    await registered.revoke(record.id)
    await expect.poll(opens).toEqual([401, 401, 401])
    const list = `${keys.serviceRoleKey},${keys.servicesKey}`
    expect(await status('worker', '/capacity', { headers: { apikey: list, authorization: `Bearer ${list}` } })).toBe(
      401,
    )
  })

  test('5: the console has no way to functions, and the origin none to the console', async () => {
    expect(await status('console', '/functions/v1/open', { method: 'POST' })).toBe(404)
    for (const path of ['/api/session', '/api/projects', '/']) expect(await status('origin', path)).toBe(404)
    const answer = await ask('origin', '/functions/v1/open', { method: 'POST', body: '1' })
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('6: wrong sign-ins for invented people lock no account, and none can be sent through the origin', async () => {
    const signIn = (email: string, password: string, app = 'console') =>
      status(app, '/api/session', {
        method: 'POST',
        headers: { ...JSON_TYPE, 'x-forwarded-for': '198.51.100.1' },
        body: JSON.stringify({ email, password }),
      })
    expect(await signIn('ada@example.org', house.keys.consolePassword, 'origin')).toBe(404)
    for (let n = 0; n < 10; n++) expect(await signIn(`nobody-${n}@example.org`, 'wrong password')).toBe(401)
    expect(await signIn('ada@example.org', house.keys.consolePassword)).toBe(200)
  })

  test('7: one deploy ends no other', async () => {
    const deploy = (name: string, source: string) =>
      status('functions', `/v1/projects/local/functions/${name}`, {
        method: 'PUT',
        headers: { ...JSON_TYPE, ...owner() },
        body: JSON.stringify({ files: { 'index.ts': source }, policy: { auth: 'none' } }),
      })
    const [hostile, honest] = await Promise.all([
      deploy('hostile', `const a=${'['.repeat(1e6)}${']'.repeat(1e6)}`),
      deploy('honest', `export default () => new Response('in')`),
    ])
    expect(hostile).toBe(422)
    expect(honest).toBe(201)
  })

  test('8: a folder is not served under a weaker policy than the one that comes', async () => {
    const folder = join(house.folder, 'functions', 'late')
    await mkdir(folder)
    await writeFile(join(folder, 'index.ts'), `export default () => new Response('in')`)
    const seen = new Set<number>()
    const call = async () => {
      const answer = await status('functions', '/functions/v1/late', { method: 'POST', headers: anon() })
      seen.add(answer)
      return answer
    }
    await sleep(50)
    await writeFile(join(folder, 'function.json'), '{"auth":"service"}')
    await expect.poll(call).toBe(403)
    expect([...seen].filter((one) => one < 400)).toEqual([])
  })

  test('10: imports into schemas that are not a project’s own are refused at submit', async () => {
    for (const schema of ['pgboss', 'terrane', 'auth', 'storage', 'cron', 'pg_catalog']) {
      const response = await ask('worker', '/jobs/ogr2ogrImport', {
        method: 'POST',
        headers: { ...JSON_TYPE, ...house.credentials('worker', 'owner') },
        body: JSON.stringify({
          fileUrl: 'https://example.org/a.geojson',
          schema,
          tableName: 'version',
          mode: 'replace',
        }),
      })
      expect([schema, response.status]).toEqual([schema, 422])
      await response.arrayBuffer()
    }
  })

  test('11: metrics are the operator’s alone', async () => {
    for (const { name } of house.apps) {
      expect(await status(name, '/metrics')).toBe(401)
      for (const caller of ['anon', 'owner', 'foreign'] as const)
        expect(await status(name, '/metrics', { headers: house.credentials(name, caller) })).toBe(401)
      expect(await house.metric(name, 'process_resident_memory_bytes')).toBeGreaterThan(0)
    }
  })

  test('12: functions of extensions are not anybody’s to call', async () => {
    const body = JSON.stringify({ area: 'POLYGON((0 0,1 0,1 1,0 0))', npoints: 3_000_000 })
    const init = { method: 'POST', headers: { ...JSON_TYPE, ...anon() }, body }
    expect(await status('origin', '/rest/v1/rpc/st_generatepoints', init)).toBe(404)
  })

  test('13: bodies that drip come to an end', async () => {
    const answers = await Promise.all(
      house.apps.map(async ({ name, url }) => {
        const { hostname, port } = new URL(url)
        const socket = connect(Number(port), hostname)
        const credentials = Object.entries(house.credentials(name, 'owner')).map(([k, v]) => `${k}: ${v}\r\n`)
        const paths: Record<string, string> = {
          origin: '/storage/v1/bucket',
          worker: '/jobs/osmImportArea',
        }
        const path =
          { router: '/routing-engine/v1/route', functions: '/functions/v1/open', console: '/api/session' }[name] ??
          paths[name]
        socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${credentials.join('')}`)
        socket.write('content-length: 10000\r\n\r\n{')
        const timer = setInterval(() => socket.write(' '), 1000)
        socket.on('error', () => {})
        const [first] = (await once(socket, 'data')) as [Buffer]
        clearInterval(timer)
        socket.destroy()
        return [name, first.toString().slice(9, 12)]
      }),
    )
    expect(answers).toEqual(house.apps.map(({ name }) => [name, '408']))
  })

  test('14: plans, endless tokens, other audiences, constructors and NULs are refused', async () => {
    const table = '/rest/v1/embeddings_catalogue'
    const profile = { 'accept-profile': 'geoembeddings' }
    const plan = await ask('origin', table, {
      headers: { ...anon(), ...profile, accept: 'application/vnd.pgrst.plan+json' },
    })
    expect([plan.status, (await plan.text()).includes('Plan"')]).toEqual([expect.any(Number), false])
    expect(await status('origin', `${table}?select=srid::constructor`, { headers: { ...anon(), ...profile } })).toBe(
      400,
    )
    expect(await status('origin', '/rest/v1/%00', { headers: anon() })).toBeLessThan(500)
    expect(await status('console', '/api/projects/%00', { headers: house.credentials('console', 'owner') })).toBe(404)
    const claims = { ref: 'local', role: 'authenticated', sub: 'u1' }
    const other = await signToken({ ...claims, aud: 'elsewhere' }, house.keys.jwtSecret, 600)
    const here = await signToken({ ...claims, aud: 'authenticated' }, house.keys.jwtSecret, 600)
    for (const [token, want] of [
      [other, 401],
      [here, 200],
    ] as const) {
      const headers = { apikey: house.keys.anonKey, authorization: `Bearer ${token}`, ...profile }
      expect(await status('origin', table, { headers })).toBe(want)
      expect(await status('functions', '/functions/v1/personal', { method: 'POST', headers })).toBe(want)
      // A function without auth accepts any Authorization of its callers.
      expect(await status('functions', '/functions/v1/open', { method: 'POST', headers })).toBe(200)
    }
  })
})
