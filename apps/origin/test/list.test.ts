import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type ListOptions, type ListedObject, type ObjectStore } from '@terrane/storage'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { StorageDeps } from '../src/storage/access.ts'
import { toStorageProblem } from '../src/storage/errors.ts'
import { listRoutes } from '../src/storage/list-routes.ts'

// Counts how much of the storage a page of a list reads.
const NAMES = Array.from({ length: 40 }, (_, i) => `f/${String(i).padStart(2, '0')}`)
const read = { listed: 0, described: 0, sizes: [] as (number | undefined)[] }
const folder = await mkdtemp(join(tmpdir(), 'terrane-list-'))
let app: FastifyInstance

beforeAll(async () => {
  const store = openStore(`file:${folder}`)
  await store.createBucket('b', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  for (const key of [...NAMES, 'f/zz/1', 'f/zz/2', '.uploading/x']) await store.put('b', key, once(key))
  app = fastify()
  app.setErrorHandler((thrown, request, reply) => {
    const { status, body } = toStorageProblem(thrown, request.id)
    void reply.code(status).send(body)
  })
  const deps: Partial<StorageDeps> = {
    store: counting(store),
    identify: () => Promise.resolve({ role: 'service_role' } as never),
  }
  listRoutes(app, deps as StorageDeps)
  await app.ready()
})
beforeEach(() => Object.assign(read, { listed: 0, described: 0, sizes: [] }))
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})

async function* once(text: string) {
  yield Buffer.from(text)
}

function counting(store: ObjectStore): ObjectStore {
  const count = async function* <T>(entries: AsyncIterable<T>, size: number | undefined) {
    read.sizes.push(size)
    for await (const entry of entries) {
      read.listed++
      yield entry
    }
  }
  return {
    getBucket: (id: string) => store.getBucket(id),
    list: (id: string, prefix: string, options?: ListOptions) =>
      count(store.list(id, prefix, options), options?.pageSize),
    listFolder: (id: string, prefix: string, options?: ListOptions) =>
      count(store.listFolder(id, prefix, options), options?.pageSize),
    describe: (id: string, listed: readonly ListedObject[]) => {
      read.described += listed.length
      return store.describe(id, listed)
    },
  } as Partial<ObjectStore> as ObjectStore
}

async function ask(route: 'list' | 'list-v2', payload: object) {
  const answer = await app.inject({ method: 'POST', url: `/object/${route}/b`, payload })
  return { status: answer.statusCode, body: answer.json() }
}
const namesOf = (body: readonly { name: string }[]) => body.map(({ name }) => name)

test('a page of a folder reads the entries up to its end, and describes its own', async () => {
  const { body } = await ask('list', { prefix: 'f', limit: 3, offset: 5 })
  expect(namesOf(body)).toEqual(['05', '06', '07'])
  expect(read).toEqual({ listed: 8, described: 3, sizes: [8] })
})

test('a page by cursor reads from where the last one ended', async () => {
  const first = (await ask('list-v2', { prefix: 'f/', limit: 30, with_delimiter: true })).body
  expect(first).toMatchObject({ hasNext: true, folders: [] })
  Object.assign(read, { listed: 0, described: 0, sizes: [] })
  const asked = { prefix: 'f/', limit: 11, with_delimiter: true, cursor: first.nextCursor }
  const { body } = await ask('list-v2', asked)
  expect(body.objects.map(({ key }: { key: string }) => key)).toEqual(NAMES.slice(30))
  expect(body).toMatchObject({ hasNext: false, folders: [{ key: 'f/zz/' }] })
  expect(read).toEqual({ listed: 11, described: 10, sizes: [12] })
})

test('a search reads on until its page is full', async () => {
  expect(namesOf((await ask('list', { prefix: 'f', search: '1', limit: 2 })).body)).toEqual(['01', '10'])
  expect(read).toEqual({ listed: 11, described: 2, sizes: [undefined] })
})

test.each([true, false])('pages in another order hold each entry once (only this folder: %s)', async (flat) => {
  for (const sortBy of [
    { column: 'name', order: 'desc' },
    { column: 'created_at', order: 'asc' },
    { column: 'updated_at', order: 'desc' },
  ]) {
    const keys: string[] = []
    let cursor: string | undefined
    do {
      const { body } = await ask('list-v2', { prefix: 'f/', limit: 7, with_delimiter: flat, sortBy, cursor })
      keys.push(...[...body.objects, ...body.folders].map(({ key }: { key: string }) => key))
      cursor = body.nextCursor
    } while (cursor !== undefined)
    const all = flat ? [...NAMES, 'f/zz/'] : [...NAMES, 'f/zz/1', 'f/zz/2']
    expect(keys.toSorted()).toEqual(all)
    // A page has its folders and its objects in separate lists.
    const objects = (some: string[]) => some.filter((key) => !key.endsWith('/'))
    if (sortBy.column === 'name') expect(objects(keys)).toEqual(objects(all).toReversed())
  }
})

test('objects that are being uploaded are not listed', async () => {
  expect((await ask('list-v2', {})).body.objects).toHaveLength(NAMES.length + 2)
  expect(namesOf((await ask('list', {})).body)).toEqual(['f'])
})

test('an order or a cursor that is none is refused by name', async () => {
  expect(await ask('list', { sortBy: { column: 'size' } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('sortBy') },
  })
  expect(await ask('list-v2', { cursor: 'bm9uZQ' })).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } })
})
