import { compile, documentOf, type MapDocument } from '@terrane/map-style'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { json, openConsole, openService, type Browser, type FakeService, type TestConsole } from './harness.ts'

const ID = '0198aaaa-0000-7000-8000-000000000001'
const PUBLIC = 'https://project.example.org'
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
let open: string[]
beforeAll(async () => {
  project = await openService()
  console_ = await openConsole({ TERRANE_PROJECT_URL: project.url, TERRANE_PROJECT_PUBLIC_URL: `${PUBLIC}/` })
  browser = await console_.signIn()
  const { rows } = await console_.db.database.query<{ id: string }>(
    `select id from terrane.projects where ref = 'demo'`,
  )
  projectId = rows[0]!.id
})
beforeEach(() => {
  stored = {
    version: 3,
    style,
    is_public: false,
    published_style: null,
    publishable_key: null,
    origins: [],
  }
  open = ['public.parks']
  project.asked.length = 0
  // A table of maps with one row, and its view.
  project.answer = ({ method, url, body }, response) => {
    const { p_schema: schema, p_table: name } = JSON.parse(body || '{}') as Record<string, string>
    if (url.endsWith('/share_table')) open = [...new Set([...open, `${schema}.${name}`])]
    if (url.endsWith('/unshare_table')) open = open.filter((table) => table !== `${schema}.${name}`)
    if (url.endsWith('/list_tables')) {
      const listed = open.map((table) => table.split('.'))
      return json(
        response,
        200,
        listed.map(([a, b]) => ({ table_schema: a, table_name: b, shared_with: ['anon'] })),
      )
    }
    if (url.startsWith('/rest/v1/public_maps')) {
      const { published_style: shown, publishable_key: key, origins } = stored
      return json(response, 200, stored['is_public'] ? [{ style: shown, publishable_key: key, origins }] : [])
    }
    if (!url.startsWith('/rest/v1/maps')) return json(response, 200, { version: 1 })
    if (method === 'PATCH') stored = { ...stored, ...(JSON.parse(body) as object) }
    if (method === 'DELETE' && stored['is_public'] === true) return json(response, 409, { message: 'it is public' })
    return method === 'GET' ? json(response, 200, [stored]) : response.writeHead(204).end()
  }
})
afterAll(async () => {
  await console_[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

/** Valid keys of the map. */
const keysNow = async () =>
  (
    await console_.db.database.query<{ id: string; role: string; scopes: string[] }>(
      'select id, role, scopes from terrane.keys where label = $1 and project_id = $2 and revoked_at is null',
      [`map ${ID}`, projectId],
    )
  ).rows
const share = (origins: readonly string[] = [], change: object = {}) =>
  browser.ask('POST', `${PATH}/share`, { version: 3, tables: ['public.districts'], origins, ...change })

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
  const answer = await share(['https://maps.example.org'])
  expect(await answer.json()).toEqual({ path: `/m/${projectId}/${ID}`, tables: ['public.districts'] })
  expect(open).toEqual(['public.parks', 'public.districts'])
  const origins = [`origin:${console_.url}`, 'origin:https://maps.example.org']
  const [first, ...others] = await keysNow()
  expect([first, others]).toMatchObject([{ role: 'anon', scopes: ['table:public.districts', ...origins] }, []])
  // Sharing again revokes the former key.
  await share()
  const [second] = await keysNow()
  expect([second!.id === first!.id, (await keysNow()).length]).toEqual([false, 1])
  expect((await browser.ask('DELETE', `${PATH}/share`)).status).toBe(204)
  expect([await keysNow(), stored['is_public'], stored['publishable_key']]).toEqual([[], false, null])
})

test('another version and other tables than the dialog named are not opened', async () => {
  const refused = [{ version: 2 }, { tables: [] }, { tables: ['public.districts', 'public.parks'] }]
  for (const change of refused) {
    const answer = await share([], change)
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'MAP_CHANGED' }])
  }
  expect([await keysNow(), open, stored['is_public']]).toEqual([[], ['public.parks'], false])
})

test('what cannot be made public is told, opens no table, and no origin but a whole one is taken', async () => {
  for (const origin of [
    'maps.example.org',
    'https://maps.example.org/',
    `'self'; script-src *`,
    'javascript:alert(1)',
    'https://a;b',
    'https://*.example.org',
  ])
    expect((await share([origin])).status).toBe(422)
  const answerMaps = project.answer
  const tables = ['public.districts', 'public.parks', 'public.others']
  stored['style'] = compile({ ...map, layers: tables.map((table, i) => ({ ...layer, id: `l${i}`, table })) })
  project.answer = (asked, response) =>
    asked.url.endsWith('/share_table') && asked.body.includes('others')
      ? json(response, 404, { message: 'there is no table' })
      : answerMaps(asked, response)
  const answer = await share([], { tables })
  expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'TABLE_NOT_SHARED' }])
  // Tables that were public before stay public.
  expect([stored['is_public'], open]).toEqual([false, ['public.parks']])
  // When the map cannot be stored as public, its key is revoked and its tables are private again.
  stored['style'] = style
  project.answer = (asked, response) =>
    asked.method === 'PATCH' ? json(response, 500, {}) : answerMaps(asked, response)
  expect((await share()).status).toBe(503)
  expect([await keysNow(), open]).toEqual([[], ['public.parks']])
})

test('a public map is read by anybody as it was published, with its key, and no other is', async () => {
  const read = () => fetch(`${console_.url}/api/m/${projectId}/${ID}`)
  expect((await read()).status).toBe(404)
  const hidden = { ...layer, id: 'hidden', table: 'public.secrets', isShown: false }
  stored['style'] = compile({ ...map, notes: 'For us', layers: [layer, hidden] })
  await share(['https://maps.example.org'])
  expect(open).not.toContain('public.secrets')
  // This version was saved later and is not published.
  stored = { ...stored, version: 4, style: compile({ ...map, title: 'Secret' }) }
  const answer = await read()
  const shown = (await answer.json()) as { sources: Record<string, { tiles: string[] }> }
  const key = encodeURIComponent(String(stored['publishable_key']))
  expect(shown.sources['districts']?.tiles).toEqual([`${PUBLIC}/vector/v1/public.districts/{z}/{x}/{y}?apikey=${key}`])
  expect(documentOf(shown)).toEqual(map)
  // Styles that are saved from the page have the same address.
  expect(await (await browser.ask('POST', '/api/projects/demo/keys')).json()).toMatchObject({ url: PUBLIC })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const text = JSON.stringify(shown)
  expect(text.includes('service-role-key-of-the-tests')).toBe(false)
  for (const path of [`other/${ID}`, `${projectId}/1`, `${ID}/${ID}`])
    expect((await fetch(`${console_.url}/api/m/${path}`)).status).toBe(404)
})

test('a small picture of a map is kept for lists, and nothing else is taken for one', async () => {
  expect((await browser.ask('GET', `${PATH}/picture`)).status).toBe(204)
  const bytes = Buffer.from('a picture')
  const kept = await browser.ask('PUT', `${PATH}/picture`, {
    picture: `data:image/webp;base64,${bytes.toString('base64')}`,
  })
  expect(kept.status).toBe(204)
  const read = await browser.ask('GET', `${PATH}/picture`)
  expect([read.headers.get('content-type'), Buffer.from(await read.arrayBuffer())]).toEqual(['image/webp', bytes])
  for (const picture of [
    'data:image/svg+xml;base64,AAAA',
    'https://example.org/a.webp',
    `data:image/webp;base64,${'A'.repeat(70_000)}`,
  ])
    expect((await browser.ask('PUT', `${PATH}/picture`, { picture })).status).toBe(422)
  stored['picture'] = 'data:text/html;base64,AAAA'
  expect((await browser.ask('GET', `${PATH}/picture`)).status).toBe(204)
})

test('the page of a public map may be framed by its origins alone, that of any other map by none', async () => {
  const page = async () => (await fetch(`${console_.url}/m/${projectId}/${ID}`)).headers
  expect((await page()).get('content-security-policy')).toContain(`frame-ancestors 'none'`)
  await share(['https://maps.example.org'])
  // Values that a project writes without the console do not get into a header.
  stored['origins'] = [...(stored['origins'] as string[]), `'self'; script-src *`, 'https://a;b']
  const headers = await page()
  const policy = headers.get('content-security-policy')!
  expect(policy.endsWith(`frame-ancestors 'self' https://maps.example.org`)).toBe(true)
  expect(policy).toContain(`connect-src 'self' ${PUBLIC};`)
  expect([headers.get('x-frame-options'), headers.get('referrer-policy')]).toEqual([null, 'strict-origin'])
})

test('a map that is deleted is closed first and takes its keys with it, and those of others stay', async () => {
  await share()
  // A project that writes the key of another project into its map can revoke only its own keys.
  const { rows } = await console_.db.database.query<{ id: string }>(
    `insert into terrane.keys (id, sha256, prefix, organization_id, role, label)
     select gen_random_uuid(), repeat('a', 64), 'trn_other', organization_id, 'services', $1 from terrane.projects limit 1
     returning id`,
    [`map ${ID}`],
  )
  stored['publishable_key_id'] = rows[0]!.id
  expect((await browser.ask('DELETE', PATH)).status).toBe(204)
  expect(await keysNow()).toEqual([])
  const kept = await console_.db.database.query('select from terrane.keys where id = $1 and revoked_at is null', [
    rows[0]!.id,
  ])
  expect(kept.rowCount).toBe(1)
  expect(project.asked.slice(-2).map(({ method }) => method)).toEqual(['PATCH', 'DELETE'])
  expect(project.asked.at(-1)?.url).toBe(`/rest/v1/maps?id=eq.${ID}`)
})

test('a map whose key is gone is made private and deleted all the same', async () => {
  await share()
  await console_.db.database.query('delete from terrane.keys where label = $1', [`map ${ID}`])
  expect((await browser.ask('DELETE', `${PATH}/share`)).status).toBe(204)
  expect([stored['is_public'], (await browser.ask('DELETE', PATH)).status]).toEqual([false, 204])
})
