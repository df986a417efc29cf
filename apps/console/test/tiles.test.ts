import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, openConsole, openService, type Browser, type FakeService, type TestConsole } from './harness.ts'

let console_: TestConsole
let project: FakeService
let browser: Browser
beforeAll(async () => {
  project = await openService()
  console_ = await openConsole({ TERRANE_PROJECT_URL: project.url, TERRANE_ROUTER_URL: project.url })
  browser = await console_.signIn()
})
afterAll(async () => {
  await console_[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

test('pictures and tiles are asked of the project with its own key, which stays here', async () => {
  const path = '/api/projects/demo/raster/v1/tiles/WebMercatorQuad/3/2/1.webp?url=embeddings%3A%2F%2Fscene'
  const answer = await browser.ask('GET', path)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
  const asked = project.asked.at(-1)
  expect(asked?.url).toBe('/raster/v1/tiles/WebMercatorQuad/3/2/1.webp?url=embeddings%3A%2F%2Fscene')
  expect(asked?.headers['apikey']).toBe('service-role-key-of-the-tests')
  await browser.ask('GET', '/api/projects/demo/vector/v1/public.places/3/2/1')
  expect(project.asked.at(-1)?.url).toBe('/vector/v1/public.places/3/2/1')
})

test('a tile that shows nothing is empty, any other refusal is passed on, other paths are not asked', async () => {
  const path = '/api/projects/demo/raster/v1/tiles/WebMercatorQuad/3/2/1.webp?url=embeddings%3A%2F%2Fscene'
  project.answer = (_, response) => json(response, 404, { code: 'TILE_OUTSIDE' })
  expect((await browser.ask('GET', path)).status).toBe(204)
  project.answer = (_, response) => json(response, 404, { code: 'SOURCE_NOT_FOUND' })
  expect((await browser.ask('GET', path)).status).toBe(404)
  const before = project.asked.length
  for (const rest of ['raster/v1/../rest/v1/secrets', 'raster/v1/preview', 'vector/v1/a/b', 'raster/v1/%2e%2e/info']) {
    expect((await browser.ask('GET', `/api/projects/demo/${rest}`)).status).toBe(404)
  }
  expect(project.asked.length).toBe(before)
})

test('streets of the graph are asked of the routing engine, by the coordinates of a tile and nothing else', async () => {
  project.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.mapbox-vector-tile' }).end('streets')
  }
  const answer = await browser.ask('GET', '/api/projects/demo/streets/14/8719/5685')
  expect([await answer.text(), answer.headers.get('content-type')]).toEqual([
    'streets',
    'application/vnd.mapbox-vector-tile',
  ])
  expect(project.asked.at(-1)).toMatchObject({ method: 'POST', url: '/routing-engine/v1/tile' })
  expect(JSON.parse(project.asked.at(-1)?.body ?? '')).toEqual({ tile: { z: 14, x: 8719, y: 5685 } })
  const before = project.asked.length
  expect((await browser.ask('GET', '/api/projects/demo/streets/14/8719/north')).status).toBe(422)
  expect(project.asked.length).toBe(before)
})

test('the values of a property over all rows are asked of the project, whatever its name holds', async () => {
  const stats = { property: 'odd', rows: 3000 }
  project.answer = (_, response) => json(response, 200, stats)
  const query = new URLSearchParams({ property: 'odd "name", a\\b', classes: '5' })
  const answer = await browser.ask('GET', `/api/projects/demo/vector/v1/public.places/stats?${query.toString()}`)
  expect(await answer.json()).toEqual(stats)
  const asked = new URL(project.asked.at(-1)?.url ?? '', 'http://project')
  expect([asked.pathname, Object.fromEntries(asked.searchParams)]).toEqual([
    '/vector/v1/public.places/stats',
    Object.fromEntries(query),
  ])
})

test('rows are found by what their name holds, as GeoJSON, and wildcards in it are none', async () => {
  project.answer = (_, response) => json(response, 200, { type: 'FeatureCollection', features: [] })
  const path = `/api/projects/demo/tables/public/places/rows?limit=5&named=${encodeURIComponent('50%_*\\ São')}`
  expect((await browser.ask('GET', path)).status).toBe(200)
  const asked = project.asked.at(-1)
  const { searchParams } = new URL(asked?.url ?? '', 'http://project')
  expect(Object.fromEntries(searchParams)).toEqual({ limit: '5', offset: '0', name: 'ilike.*50____ São*' })
  expect(asked?.headers['accept']).toBe('application/geo+json')
})

test('rows are sorted, and filtered as a layer of a map is; other parameters of REST cannot be sent', async () => {
  project.answer = (_, response) => json(response, 200, [])
  const filters = [
    { property: 'canton', is: 'equal', value: 'a,b.c' },
    { property: 'population', is: 'more', value: 3 },
    { property: 'name', is: 'contains', value: '50%_' },
    { property: 'note', is: 'not', value: 'x' },
    { property: 'gone', is: 'empty', value: '' },
  ]
  const path = '/api/projects/demo/tables/public/places/rows?limit=5'
  const query = new URLSearchParams({ sort: 'odd "name', descending: 'true', filters: JSON.stringify(filters) })
  expect((await browser.ask('GET', `${path}&${query.toString()}`)).status).toBe(200)
  const { searchParams } = new URL(project.asked.at(-1)?.url ?? '', 'http://project')
  expect([...searchParams]).toEqual([
    ['limit', '5'],
    ['offset', '0'],
    ['order', '"odd \\"name".desc.nullslast'],
    [
      'and',
      '("canton".eq."a,b.c","population".gt."3","name".ilike."*50__*","note".isdistinct."x",or("gone".is.null,"gone".eq.""))',
    ],
  ])
  // An empty text counts as missing in text columns, as on the map; other types have no empty text.
  const asked = async (given: readonly object[]) => {
    const sent = new URLSearchParams({ filters: JSON.stringify(given) })
    expect((await browser.ask('GET', `${path}&${sent.toString()}`)).status).toBe(200)
    return [...new URL(project.asked.at(-1)!.url, 'http://project').searchParams].slice(2)
  }
  const [filled, empty] = ['filled', 'empty'].map((is) => ({ property: 'a "b', is }))
  expect(await asked([{ ...filled, value: '' }])).toEqual([['and', '("a \\"b".neq."")']])
  expect(await asked([{ ...filled, value: 0 }])).toEqual([['and', '("a \\"b".not.is.null)']])
  expect(await asked([{ ...empty, value: false }])).toEqual([['and', '("a \\"b".is.null)']])
  project.answer = ({ url }, response) => json(response, url.includes('eq.%22%22') ? 400 : 200, { code: '22007' })
  expect(await asked([{ ...empty, value: '' }])).toEqual([['and', '("a \\"b".is.null)']])
  const before = project.asked.length
  const one = { property: 'a', is: 'equal', value: 1 }
  const bad: unknown[] = [
    ...['select', 'or', 'not.and', 'other.column', ''].map((property) => [{ ...one, property }]),
    [{ ...one, is: 'fts' }],
    [{ ...one, value: {} }],
    Array.from({ length: 6 }, () => one),
    one,
  ]
  for (const wrong of bad) {
    const sent = new URLSearchParams({ filters: JSON.stringify(wrong) })
    expect([wrong, (await browser.ask('GET', `${path}&${sent.toString()}`)).status]).toEqual([wrong, 422])
  }
  expect((await browser.ask('GET', `${path}&filters=%7B`)).status).toBe(422)
  expect(project.asked.length).toBe(before)
})

test('a table is saved as a file: asked as its schema and name, with the name that the file is to have', async () => {
  project.answer = (_, response) => {
    const saved = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename=places.csv' }
    response.writeHead(200, saved).end('id\n1\n')
  }
  const path = '/api/projects/demo/tables/public/pl%C3%A4ces%20%2F%3F/file?format=CSV'
  const answer = await browser.ask('GET', path)
  expect([await answer.text(), answer.headers.get('content-disposition')]).toEqual([
    'id\n1\n',
    'attachment; filename=places.csv',
  ])
  expect(project.asked.at(-1)?.url).toBe('/export/v1/public.pl%C3%A4ces%20%2F%3F?format=CSV')
  project.answer = (_, response) => json(response, 413, { code: 'EXPORT_TOO_LARGE', message: 'too large' })
  expect(await (await browser.ask('GET', path)).json()).toMatchObject({ code: 'EXPORT_TOO_LARGE' })
  const before = project.asked.length
  for (const format of ['Shapefile', 'docx']) {
    expect((await browser.ask('GET', path.replace('CSV', format))).status).toBe(422)
  }
  expect(project.asked.length).toBe(before)
})
