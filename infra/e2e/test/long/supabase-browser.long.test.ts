// supabase-js as its npm package builds it for browsers, in a page of another origin than the project.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, startBrowser } from '../support/browser.ts'
import { START_TIMEOUT_MS, startStack } from '../support/stack.ts'

const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''
const LIBRARY = createRequire(import.meta.url).resolve('@supabase/supabase-js/dist/umd/supabase.js')
const FUNCTIONS: Readonly<Record<string, readonly [policy: object, code: string]>> = {
  greet: [
    { auth: 'anon', methods: ['GET', 'POST'] },
    `export default async (request, { claims }) => {
      const { name } = await request.json()
      if (name === 'stranger') return Response.json({ why: 'no name' }, { status: 422 })
      return Response.json({ said: 'Hello ' + name, role: claims?.role ?? null })
    }`,
  ],
  stream: [
    { auth: 'none', methods: ['POST'] },
    `export default () => new Response(new ReadableStream({ start(c) { for (const part of ['a', 'b']) c.enqueue(new TextEncoder().encode('data: ' + part + '\\n\\n')); c.close() } }), { headers: { 'content-type': 'text/event-stream' } })`,
  ],
  narrow: [{ auth: 'anon', cors: ['https://shop.example'] }, `export default () => new Response('for the shop alone')`],
}

/** The client of the page; its methods are called there. */
declare const client: SupabaseClient

describe.skipIf(CHROMIUM === undefined)(`${without}supabase-js in a browser`, () => {
  const closing = new AsyncDisposableStack()
  let page: Page
  let admin: SupabaseClient
  const refused: string[] = []
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-supabase-browser-'))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    for (const [name, [policy, code]] of Object.entries(FUNCTIONS)) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'function.json'), JSON.stringify(policy))
      await writeFile(join(folder, name, 'index.ts'), code)
    }
    const stack = closing.use(await startStack({ TERRANE_FUNCTIONS_DIR: folder }))
    const { anonKey, serviceRoleKey } = stack.keys
    admin = createClient(stack.urls.origin, serviceRoleKey!, { auth: { persistSession: false } })
    const site = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<title>shop</title>'),
    )
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
    closing.defer(() => void site.close())
    const browser = await startBrowser()
    closing.defer(() => browser.close())
    page = await (await browser.newContext()).newPage()
    page.on('console', (message) => message.type() === 'error' && refused.push(message.text()))
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`)
    await page.addScriptTag({ path: LIBRARY })
    await page.evaluate(
      `globalThis.client = supabase.createClient(${JSON.stringify(stack.urls.origin)}, ${JSON.stringify(anonKey)})`,
    )
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())

  test('functions.invoke sends JSON, reads errors with their bodies, and streams', async () => {
    expect(
      await page.evaluate(() =>
        client.functions.invoke('greet', { body: { name: 'Ada' }, headers: { 'x-of-mine': '1' } }),
      ),
    ).toMatchObject({
      data: { said: 'Hello Ada', role: 'anon' },
      error: null,
    })
    const failed = await page.evaluate(async () => {
      const { error } = await client.functions.invoke('greet', { body: { name: 'stranger' } })
      return [error.name, error.context.status, await error.context.json()] as unknown
    })
    expect(failed).toEqual(['FunctionsHttpError', 422, { why: 'no name' }])
    const streamed = await page.evaluate(
      async () => (await client.functions.invoke('stream')).data.text() as Promise<string>,
    )
    expect(streamed).toBe('data: a\n\ndata: b\n\n')
  })

  test('a function that names other origins is not read by the page', async () => {
    const said = await page.evaluate(async () => (await client.functions.invoke('narrow')).error.name as string)
    expect(said).toBe('FunctionsFetchError')
    expect(refused.join('\n')).toContain('CORS')
  })

  test('storage takes an upload by a signed address, and gives it by its public one', async () => {
    expect((await admin.storage.createBucket('shots', { public: true })).error).toBeNull()
    const { data } = await admin.storage.from('shots').createSignedUploadUrl('a/one.txt')
    const read = await page.evaluate(async ({ path, token }) => {
      const bucket = client.storage.from('shots')
      const put = await bucket.uploadToSignedUrl(path, token, new Blob(['of the page'], { type: 'text/plain' }))
      const { data: blob } = await bucket.download(path)
      const shared = await fetch(bucket.getPublicUrl(path).data.publicUrl)
      return [put.error, await blob?.text(), shared.headers.get('content-type'), await shared.text()]
    }, data!)
    expect(read).toEqual([null, 'of the page', expect.stringContaining('text/plain'), 'of the page'])
    const denied = await page.evaluate(
      async () => (await client.storage.from('shots').upload('b.txt', 'x')).error?.name,
    )
    expect(denied).toBe('StorageApiError')
  })

  test('the error of a missing table is read by a page of another origin', async () => {
    const { data, error } = await page.evaluate(() => client.from('no_such_table').select('*', { count: 'exact' }))
    expect([data, error?.code]).toEqual([null, 'PGRST205'])
  })

  test('sign-in and channels, which are not offered, are errors and no endless wait', async () => {
    const signIn = await page.evaluate(async () => {
      const { data, error } = await client.auth.signInWithPassword({ email: 'a@example.org', password: 'long enough' })
      return [data.session, error?.status] as unknown
    })
    expect(signIn).toEqual([null, 501])
    expect(await page.evaluate(async () => (await client.auth.getSession()).data.session)).toBeNull()
    const status = await page.evaluate(
      () =>
        new Promise<string>((done) =>
          client.channel('room').subscribe((state: string) => {
            if (state !== 'SUBSCRIBED') done(state)
          }),
        ),
    )
    expect(['CHANNEL_ERROR', 'TIMED_OUT', 'CLOSED']).toContain(status)
  })
})
