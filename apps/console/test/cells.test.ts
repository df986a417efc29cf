import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { json, openConsole, openService, type Browser, type FakeService, type TestConsole } from './harness.ts'

const PATH = '/api/projects/demo/tables/public/parcels/rows'
const change = { key: { id: '7' }, column: 'name', from: 'old, "one"', to: 'new' }

let console_: TestConsole
let project: FakeService
let browser: Browser
beforeAll(async () => {
  project = await openService()
  console_ = await openConsole({ TERRANE_PROJECT_URL: project.url })
  browser = await console_.signIn()
})
beforeEach(() => {
  project.asked.length = 0
  project.answer = (_, response) => json(response, 200, [{ value: 'new' }])
})
afterAll(async () => {
  await console_[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

test('one cell of one row is changed where it still has the value that the page shows', async () => {
  const answer = await browser.ask('PATCH', PATH, change)
  expect([answer.status, await answer.json()]).toEqual([200, { value: 'new' }])
  const [asked] = project.asked
  const url = new URL(asked!.url, 'http://project')
  expect([asked!.method, url.pathname, asked!.body]).toEqual(['PATCH', '/rest/v1/parcels', '{"name":"new"}'])
  expect([...url.searchParams]).toEqual([
    ['select', 'value:"name"::text'],
    ['id', 'eq.7'],
    ['name', 'eq.old, "one"'],
  ])
  expect(asked!.headers['apikey']).toBe('service-role-key-of-the-tests')
  // Nothing is changed when several rows have the key.
  expect(asked!.headers['prefer']).toBe('handling=strict, max-affected=1, return=representation')
})

test('a cell without a value is compared and set by null', async () => {
  await browser.ask('PATCH', PATH, { ...change, from: null, to: null })
  const [asked] = project.asked
  expect(new URL(asked!.url, 'http://project').searchParams.get('name')).toBe('is.null')
  expect(asked!.body).toBe('{"name":null}')
})

test('a row that is gone or was changed meanwhile is a conflict', async () => {
  project.answer = (_, response) => json(response, 200, [])
  const answer = await browser.ask('PATCH', PATH, change)
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([409, 'ROW_CHANGED'])
})

test('what the database refuses is told in its words, also a right that the role does not have', async () => {
  project.answer = (_, response) =>
    json(response, 403, { code: '42501', message: 'permission denied for table parcels' })
  const answer = await browser.ask('PATCH', PATH, change)
  expect([answer.status, await answer.json()]).toEqual([
    403,
    { code: '42501', message: 'permission denied for table parcels' },
  ])
})

test('a key of the project that has ended is told as such', async () => {
  project.answer = (_, response) => json(response, 401, { code: 'PGRST301', message: 'JWT expired' })
  const answer = await browser.ask('PATCH', PATH, change)
  expect(((await answer.json()) as { code: string }).code).toBe('PROJECT_KEY_ENDED')
})

test.each([
  ['no key', { ...change, key: {} }],
  ['a column of REST', { ...change, column: 'limit' }],
  ['a key of REST', { ...change, key: { or: '(id.gt.0)' } }],
  ['a list as value', { ...change, to: [1] }],
  ['a value that is too long to compare', { ...change, from: 'x'.repeat(1001) }],
])('%s is refused before the project is asked', async (_, body) => {
  expect((await browser.ask('PATCH', PATH, body)).status).toBe(422)
  expect(project.asked).toEqual([])
})

test('tables of embeddings are not changed by cells, and a request without the token changes none', async () => {
  expect((await browser.ask('PATCH', PATH.replace('public', 'geoembeddings'), change)).status).toBe(404)
  expect((await browser.ask('PATCH', PATH, change, { 'x-csrf-token': '' })).status).toBe(403)
  expect(project.asked).toEqual([])
})
