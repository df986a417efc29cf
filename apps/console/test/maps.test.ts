import { compile, documentOf, type MapDocument } from '@terrane/map-style'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { json, openConsole, openService, type Browser, type FakeService, type TestConsole } from './harness.ts'

const ID = '0198aaaa-0000-7000-8000-000000000001'
const PATH = `/api/projects/demo/maps/${ID}`
const shared = { isShown: true, opacity: 1, zooms: [0, 24], bounds: [0, 0, 1, 1], attribution: '' } as const
const layer = {
  ...shared,
  id: 'districts',
  title: 'Districts',
  kind: 'vector',
  table: 'public.districts',
  geometry: 'area',
  draw: 'features',
  color: { by: 'one', color: '#2a9d8f' },
  size: 2,
  outline: { color: '#ffffff', width: 1 },
  label: null,
  filters: [],
} as const
const map: MapDocument = { title: 'Luxembourg', notes: '', view: null, layers: [layer] }
const style = compile(map)

let console_: TestConsole
let project: FakeService
let browser: Browser
let projectId: string
let stored: Record<string, unknown>
beforeAll(async () => {
  project = await openService()
  console_ = await openConsole({ TERRANE_PROJECT_URL: project.url })
  browser = await console_.signIn()
  const { rows } = await console_.db.database.query<{ id: string }>(
    `select id from terrane.projects where ref = 'demo'`,
  )
  projectId = rows[0]!.id
})
beforeEach(() => {
  stored = {
    title: 'Luxembourg',
    style,
    is_public: false,
    publishable_key: null,
    publishable_key_id: null,
    origins: [],
  }
  // A table of maps with one row.
  project.answer = ({ method, url, body }, response) => {
    if (!url.startsWith('/rest/v1/maps')) return json(response, 200, { version: 1 })
    if (method === 'PATCH') stored = { ...stored, ...(JSON.parse(body) as object) }
    if (method === 'DELETE') stored = { ...stored, is_public: false }
    const isSeen = !url.includes('is_public=is.true') || stored['is_public'] === true
    return method === 'GET' ? json(response, 200, isSeen ? [stored] : []) : response.writeHead(204).end()
  }
})
afterAll(async () => {
  await console_[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

const revoked = async (id: unknown) =>
  (await console_.db.database.query('select from terrane.keys where id = $1 and revoked_at is not null', [id])).rowCount

test('a map is saved as what its document says: other layers and addresses of the style are dropped', async () => {
  const hostile = {
    ...style,
    sources: { evil: { type: 'raster', tiles: ['https://evil.example/{z}/{x}/{y}'] } },
    layers: [{ id: 'evil', type: 'raster', source: 'evil' }],
  }
  expect((await browser.ask('PUT', PATH, { version: 3, title: 'Luxembourg', style: hostile })).status).toBe(200)
  const asked = project.asked.at(-1)!
  expect([asked.method, asked.url]).toEqual(['POST', '/rest/v1/rpc/save_map'])
  expect(JSON.parse(asked.body)).toEqual({ p_id: ID, p_version: 3, p_title: 'Luxembourg', p_style: style })
  const before = project.asked.length
  const bad = [
    { version: 3, title: '', style },
    { version: 3, title: 'x', style: {} },
    { version: -1, title: 'x', style },
    { version: 3, title: 'x', style: compile({ ...map, layers: [{ ...layer, table: 'a' }] }) },
  ]
  for (const body of bad) expect((await browser.ask('PUT', PATH, body)).status).toBe(422)
  expect((await browser.ask('PUT', '/api/projects/demo/maps/1', { version: 0, title: 'x', style })).status).toBe(422)
  expect((await browser.ask('PUT', '/api/projects/other/maps/1', {})).status).toBe(404)
  expect(project.asked.length).toBe(before)
})

test('a refusal to overwrite a later version is passed on', async () => {
  project.answer = (_, response) => json(response, 409, { code: 'PT409', message: 'the map was saved as version 4' })
  const answer = await browser.ask('PUT', PATH, { version: 3, title: 'x', style })
  expect([answer.status, await answer.json()]).toMatchObject([409, { message: 'the map was saved as version 4' }])
})

test('making a map public shares its tables, and issues a key for these and the origins alone', async () => {
  const answer = await browser.ask('POST', `${PATH}/share`, { origins: ['https://maps.example.org'] })
  expect(await answer.json()).toEqual({ path: `/m/${projectId}/${ID}`, tables: ['public.districts'] })
  const share = project.asked.find(({ url }) => url === '/rest/v1/rpc/share_table')
  expect(JSON.parse(share!.body)).toEqual({ p_schema: 'public', p_table: 'districts', p_role: 'anon' })
  const { rows } = await console_.db.database.query<{ role: string; scopes: string[] }>(
    'select role, scopes from terrane.keys where id = $1',
    [stored['publishable_key_id']],
  )
  const origins = [`origin:${console_.url}`, 'origin:https://maps.example.org']
  expect(rows).toEqual([{ role: 'anon', scopes: ['table:public.districts', ...origins] }])
  // Shared again: the former key ends.
  const former = stored['publishable_key_id']
  await browser.ask('POST', `${PATH}/share`, { origins: [] })
  expect([await revoked(former), await revoked(stored['publishable_key_id'])]).toEqual([1, 0])
  const last = stored['publishable_key_id']
  expect((await browser.ask('DELETE', `${PATH}/share`)).status).toBe(204)
  expect([await revoked(last), stored['is_public'], stored['publishable_key']]).toEqual([1, false, null])
})

test('what cannot be made public is told, and no origin but a whole one is taken', async () => {
  for (const origin of ['maps.example.org', 'https://maps.example.org/', `'self'; script-src *`, 'javascript:alert(1)'])
    expect((await browser.ask('POST', `${PATH}/share`, { origins: [origin] })).status).toBe(422)
  const answerMaps = project.answer
  project.answer = (asked, response) =>
    asked.url.endsWith('/share_table')
      ? json(response, 404, { message: 'there is no table' })
      : answerMaps(asked, response)
  const answer = await browser.ask('POST', `${PATH}/share`, { origins: [] })
  expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'TABLE_NOT_SHARED' }])
  expect(stored['is_public']).toBe(false)
  // A map that is not kept as public leaves no key behind.
  project.answer = (asked, response) =>
    asked.method === 'PATCH' ? json(response, 500, {}) : answerMaps(asked, response)
  expect((await browser.ask('POST', `${PATH}/share`, { origins: [] })).status).toBe(503)
  const { rowCount } = await console_.db.database.query(
    `select from terrane.keys where label = $1 and revoked_at is null`,
    [`map ${ID}`],
  )
  expect(rowCount).toBe(0)
})

test('a public map is read by anybody with its key, and no other is', async () => {
  const open = () => fetch(`${console_.url}/api/m/${projectId}/${ID}`)
  expect((await open()).status).toBe(404)
  await browser.ask('POST', `${PATH}/share`, { origins: ['https://maps.example.org'] })
  const answer = await open()
  const read = (await answer.json()) as { sources: Record<string, { tiles: string[] }> }
  const key = encodeURIComponent(String(stored['publishable_key']))
  expect(read.sources['districts']?.tiles).toEqual([
    `${project.url}/vector/v1/public.districts/{z}/{x}/{y}?apikey=${key}`,
  ])
  expect(documentOf(read)).toEqual(map)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const text = JSON.stringify(read)
  expect(text.includes('service-role-key-of-the-tests')).toBe(false)
  for (const path of [`other/${ID}`, `${projectId}/1`, `${ID}/${ID}`])
    expect([404, 422]).toContain((await fetch(`${console_.url}/api/m/${path}`)).status)
})

test('the page of a public map may be framed by its origins alone, that of any other map by none', async () => {
  const page = async () => (await fetch(`${console_.url}/m/${projectId}/${ID}`)).headers
  expect((await page()).get('content-security-policy')).toContain(`frame-ancestors 'none'`)
  await browser.ask('POST', `${PATH}/share`, { origins: ['https://maps.example.org'] })
  const headers = await page()
  expect(headers.get('content-security-policy')).toContain(`frame-ancestors 'self' https://maps.example.org`)
  expect(headers.get('content-security-policy')).toContain(`connect-src 'self' ${project.url};`)
  expect([headers.get('x-frame-options'), headers.get('referrer-policy')]).toEqual([null, 'strict-origin'])
})

test('a map that is deleted takes its key with it', async () => {
  await browser.ask('POST', `${PATH}/share`, { origins: [] })
  const key = stored['publishable_key_id']
  expect((await browser.ask('DELETE', PATH)).status).toBe(204)
  expect(await revoked(key)).toBe(1)
  expect(project.asked.at(-1)?.url).toBe(`/rest/v1/maps?id=eq.${ID}`)
})
