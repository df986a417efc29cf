// Slow: functions start in sandboxes, on a database.
import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { Policy } from '../src/policy.ts'
import { findDeno } from '../src/runtime/machine.ts'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

let database: TestDatabase
let client: postgres.Sql
let api: Server
const { probed, title } = await tryRuntime('deno', 'standard')

/** The project's API, as far as state needs it: its function is called as the service role. */
beforeAll(async () => {
  database = await openTestDatabase()
  client = postgres(database.url, { max: 2 })
  api = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { store, request: asked } = JSON.parse(body) as { store: string; request: object }
      client.unsafe('select geoembeddings.state($1, $2::text::jsonb) as state', [store, JSON.stringify(asked)]).then(
        (rows) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows[0]!['state'])),
        (error: Error) => response.writeHead(400).end(JSON.stringify({ message: error.message })),
      )
    })
  })
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  api.close()
  await client.end()
  await database[Symbol.asyncDispose]()
})

const ask = async (store: string, request: object) =>
  (
    await client.unsafe('select geoembeddings.state($1, $2::text::jsonb) as state', [store, JSON.stringify(request)])
  )[0]!['state'] as unknown
const write = (store: string, ...writes: object[]) => ask(store, { operation: 'write', checks: [], sends: [], writes })
const setting = (key: string, value: Buffer, more: object = {}) => ({
  operation: 'set',
  key,
  kind: 'raw',
  value: value.toString('base64'),
  ...more,
})
const sizeOf = async (owner: string) =>
  Number((await client.unsafe('select bytes from terrane.state_sizes where owner = $1', [owner]))[0]?.['bytes'] ?? 0)

test('entries that are read at once have 4 MiB together, and the rest comes without values', async () => {
  const value = Buffer.alloc(1024 * 1024)
  const keys = Array.from({ length: 6 }, (_, at) => `0${at}`)
  for (const key of keys) await write('kv:large', setting(key, value))
  const got = (await ask('kv:large', { operation: 'get', keys: [...keys, ...keys] })) as { value: string | null }[]
  expect(got.map(({ value: each }) => each !== null)).toEqual([true, true, true, false, false, false])
  const listed = (more: object) =>
    ask('kv:large', { operation: 'list', first: '00', past: 'ff', limit: 9, reverse: false, ...more })
  expect(await listed({})).toHaveLength(3)
  expect(await listed({ values: false })).toHaveLength(6)
  expect(((await listed({ reverse: true })) as { key: string }[]).map(({ key }) => key)).toEqual(['05', '04', '03'])
  await expect(ask('kv:large', { operation: 'get', keys: Array(101).fill('00') })).rejects.toThrow('at most 100 keys')
})

test('state goes with the name of its function, and its caches are removed', async () => {
  await write('fn:before:', setting('01', Buffer.alloc(10)))
  await write('fn:before:named', setting('02', Buffer.alloc(20)))
  await write('fn:before2:', setting('03', Buffer.alloc(30)))
  await write('cache:before:', setting('04', Buffer.alloc(40)))
  const held = await sizeOf('fn:before')
  await ask('fn:before:', { operation: 'rename', to: 'after' })
  const rows = await client.unsafe(
    `select store from terrane.state where store ~ '^(fn|cache):(before|after)' order by store`,
  )
  expect(rows.map(({ store }) => store as string)).toEqual(['fn:after:', 'fn:after:named', 'fn:before2:'])
  expect([await sizeOf('fn:before'), await sizeOf('cache:before'), await sizeOf('fn:after')]).toEqual([0, 0, held])
  // A rename that stopped half-way runs again; values written in between are newer.
  await write('fn:before:', setting('01', Buffer.from('newer')), setting('05', Buffer.alloc(50)))
  await ask('fn:before:', { operation: 'rename', to: 'after' })
  const [first] = await client.unsafe(`select value from terrane.state where store = 'fn:after:' and key = '\\x01'`)
  expect(Buffer.from(first!['value'] as Uint8Array).toString()).toBe('newer')
  const [reckoned] = await client.unsafe(
    `select sum(terrane.state_bytes(key, value, metadata))::int as bytes from terrane.state where store ~ '^fn:after:'`,
  )
  expect(await sizeOf('fn:after')).toBe(reckoned!['bytes'])
  for (const [store, to] of [
    ['kv:large', 'x'],
    ['fn:after:', 'a:b'],
    ['fn:after:', ''],
    ['fn:after:', 'after'],
  ] as const)
    await expect(ask(store, { operation: 'rename', to })).rejects.toThrow('rename is of a function')
  expect(await sizeOf('fn:after')).toBe(reckoned!['bytes'])
})

test('what a function holds is counted and bounded, and goes with it', async () => {
  await write('fn:held:', setting('01', Buffer.alloc(1000)), setting('02', Buffer.alloc(10), { metadata: { a: 1 } }))
  await write('fn:held:other', setting('01', Buffer.alloc(500)))
  await write('fn:held2:', setting('01', Buffer.alloc(1)))
  expect(await sizeOf('fn:held')).toBe(1101 + 111 + Buffer.byteLength('{"a": 1}') + 601)
  await write('fn:held:', setting('01', Buffer.alloc(10)), { operation: 'delete', key: '02' })
  expect(await sizeOf('fn:held')).toBe(111 + 601)
  await client.unsafe(`update terrane.state_sizes set bytes = 1073741800 where owner = 'fn:held'`)
  await expect(write('fn:held:', setting('03', Buffer.alloc(1)))).rejects.toThrow('at most 1073741824 bytes')
  await write('fn:held:', { operation: 'delete', key: '01' })
  await ask('fn:held:', { operation: 'remove' })
  const left = await client.unsafe(`select store from terrane.state where store like 'fn:held%'`)
  expect([left.map(({ store }) => store as string), await sizeOf('fn:held')]).toEqual([['fn:held2:'], 0])
})

test('caches make room for themselves, take none of the state, and go with their function', async () => {
  const left = async () =>
    (await client.unsafe(`select key from terrane.state where store = 'cache:cached:' order by key`)).map(({ key }) =>
      (key as Buffer).toString('hex'),
    )
  await write('fn:cached:', setting('01', Buffer.alloc(1)))
  for (const key of ['03', '02', '01']) await write('cache:cached:', setting(key, Buffer.alloc(899)))
  await client.unsafe(`select terrane.cache_trim('cache:cached', 2400)`)
  expect([await left(), await sizeOf('cache:cached')]).toEqual([['01', '02'], 2000])
  // As if almost all of the bound were held: the next write makes room, and is not refused.
  await client.unsafe(`update terrane.state_sizes set bytes = 67108000 where owner = 'cache:cached'`)
  await write('cache:cached:', setting('04', Buffer.alloc(899)))
  expect(await left()).toEqual(['01', '02', '04'])
  expect(await sizeOf('fn:cached')).toBe(102)
  await expect(write('cache:cached:other', setting('01', Buffer.alloc(1)))).rejects.toThrow('store is')
  await ask('fn:cached:', { operation: 'remove' })
  expect([await left(), await sizeOf('cache:cached'), await sizeOf('fn:cached')]).toEqual([[], 0, 0])
})

test('expired entries of all stores are swept by the next commit; a number that is reckoned with does not expire, as in Deno', async () => {
  const expiring = { expires_in: 0.001 }
  await write('fn:gone:', setting('01', Buffer.alloc(9), expiring))
  await write('fn:stays:', { operation: 'sum', key: '01', operand: '1' })
  await write('fn:stays:', {
    operation: 'set',
    key: '02',
    kind: 'u64',
    value: Buffer.from('4').toString('base64'),
    expires_in: 60,
  })
  await write('fn:stays:', { operation: 'sum', key: '02', operand: '1' })
  await expect.poll(async () => (await write('fn:stays:'), sizeOf('fn:gone'))).toBe(0)
  const rows = await client.unsafe(`select store from terrane.state where expires_at is not null`)
  expect(rows.map(({ store }) => store as string)).not.toContain('fn:stays:')
})

/** A program that prints everything in which Deno's own database and ours must agree. */
const PROGRAM = `
const lines = []
const say = (value) => lines.push(Deno.inspect(value, { depth: 9 }).replaceAll(/versionstamp: "[^"]*"/g, 'versionstamp: "*"'))
const caught = (work) => Promise.resolve().then(work).then(say, (error) => say(error.name))
const kv = await Deno.openKv(PATH)
const keys = [
  [new Uint8Array([0, 1, 255])], [new Uint8Array()], ['a'], ['a', 'b'], ['a', '\\0'], ['a\\0'], ['b', 1], ['b', -1], ['b', 1.5], ['b', -Infinity], ['b', 0], ['b', NaN],
  ['b', 1n], ['b', -1n], ['b', 0n], ['b', 300n], ['b', -300n], ['b', 2n ** 70n], ['b', -(2n ** 70n)], ['b', true], ['b', false], ['__proto__'], ['constructor', 'prototype'], ['ü', '😀'],
]
for (const [at, key] of keys.entries()) await kv.set(key, at)
const all = async (selector, options) => { const found = []; const list = kv.list(selector, options); for await (const { key, value } of list) found.push([key, value]); return found }
say(await all({ start: [new Uint8Array()], end: [true] }))
say(await all({ prefix: ['b'] }))
say(await all({ prefix: ['b'] }, { reverse: true, limit: 5 }))
say(await all({ prefix: ['b'], start: ['b', 0] }))
say(await all({ prefix: ['b'], end: ['b', 0] }, { batchSize: 2 }))
say(await all({ prefix: [] }, { limit: 3 }))
const first = kv.list({ prefix: ['b'] }, { limit: 4 })
for await (const entry of first);
say(await all({ prefix: ['b'] }, { cursor: first.cursor, limit: 2 }))
const values = [null, undefined, 'x', 1n, new Date(0), new Map([[1, { a: [new Set([2])] }]]), new Uint8Array([1, 2]), /x/g, { __proto__: null, a: 1 }, JSON.parse('{"__proto__":{"a":1}}')]
for (const value of values) { await kv.set(['value'], value); say((await kv.get(['value'])).value) }
say(await kv.get(['nothing']))
say(await kv.getMany([['a'], ['nothing'], ['a']]))
const entry = await kv.get(['a'])
say(await kv.atomic().check(entry).set(['a'], 'second').commit())
say(await kv.atomic().check(entry).set(['a'], 'third').commit())
say((await kv.get(['a'])).value)
say(await kv.atomic().check({ key: ['new'], versionstamp: null }).set(['new'], 1).delete(['a']).commit())
say(await kv.atomic().check({ key: ['new'], versionstamp: null }).set(['new'], 2).commit())
say((await kv.get(['new'])).value)
await kv.atomic().sum(['n'], 5n).sum(['n'], 2n ** 64n - 1n).commit()
say((await kv.get(['n'])).value.value)
await kv.atomic().min(['n'], 2n).max(['m'], 9n).commit()
await kv.atomic().mutate({ type: 'max', key: ['m'], value: new Deno.KvU64(4n) }, { type: 'sum', key: ['m'], value: new Deno.KvU64(1n) }).commit()
say([(await kv.get(['n'])).value.value, (await kv.get(['m'])).value.value])
await caught(() => kv.atomic().sum(['new'], 1n).commit())
await caught(() => all({ prefix: ['b'], start: ['a'] }))
await caught(() => all({ prefix: ['b'], end: ['c'] }))
await caught(() => all({ prefix: ['b'], start: ['b', 1], end: ['b', 2] }))
await caught(() => all({ start: ['b'], end: ['a'] }))
await caught(() => kv.atomic().check({ key: ['a'], versionstamp: 'x' }).commit())
await kv.set(['\ufeffbom'], 1)
say(await all({ start: ['\ufeff'], end: ['\uffff'] }))
const watching = kv.watch([['new']]).getReader()
say(await watching.read())
const last = watching.read()
await caught(() => kv.set([], 1))
await caught(() => kv.set(['x'.repeat(3000)], 1))
await caught(() => kv.set(['x'], 'x'.repeat(70000)))
await caught(() => kv.set([{}], 1))
await caught(() => kv.getMany(Array.from({ length: 11 }, (_, at) => [at])))
await caught(() => new Deno.KvU64(-1n))
await kv.set(['soon'], 1, { expireIn: 20 })
await new Promise((done) => setTimeout(done, 60))
await kv.delete(['a']); await kv.delete(['a'])
say((await kv.get(['a'])).value)
kv.close()
say(await last)
await caught(() => kv.get(['a']))
`

describe.skipIf(probed === null)(`state on ${title}`, () => {
  const hostFor = async () =>
    startHost({ ...probed!, projectApi: `http://127.0.0.1:${(api.address() as AddressInfo).port}` })
  const policy: Partial<Policy> = { auth: 'none', methods: ['GET', 'POST'] }
  const POLICY = { policy }

  test('Deno.openKv agrees with that of Deno', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-kv-'))
    await writeFile(join(folder, 'own.mjs'), `${PROGRAM.replace('PATH', `':memory:'`)}\nconsole.log(lines.join('\\n'))`)
    const { stdout } = await promisify(execFile)((await findDeno())!, ['run', '--unstable-kv', join(folder, 'own.mjs')])
    await rm(folder, { recursive: true })
    await using host = await hostFor()
    await host.deploy(
      'fn',
      `export default async () => {${PROGRAM.replace('PATH', '')}; return new Response(lines.join('\\n')) }`,
      POLICY,
    )
    const response = await fetch(host.url('fn'))
    const told = await response.text()
    expect(told.split('\n')).toEqual(stdout.trimEnd().split('\n'))
  })

  test('entries expire', async () => {
    await using host = await hostFor()
    await host.deploy(
      'expiring',
      `export default async () => { const kv = await Deno.openKv()
        await kv.set(['soon'], 1, { expireIn: 1 })
        for (;;) if ((await kv.get(['soon'])).value === null) return Response.json((await Array.fromAsync(kv.list({ prefix: [] }))).length) }`,
      POLICY,
    )
    expect(await (await fetch(host.url('expiring'))).json()).toBe(0)
  })

  test('functions do not see each other’s keys, by no name, store or header', async () => {
    await using host = await hostFor()
    const source = `export default async () => { const kv = await Deno.openKv(); await kv.set(['secret'], 'mine')
      await caches.default.put('https://x.example/secret', new Response('mine')); await (await caches.open('secret')).put('https://x.example/secret', new Response('mine'))
      return new Response(await (await caches.default.match('https://x.example/secret')).text()) }`
    await host.deploy('one', source, POLICY)
    expect(await (await fetch(host.url('one'))).text()).toBe('mine')
    await host.deploy(
      'two',
      `export default async () => {
        const found = []
        for (const path of ['', ':', 'one', '../one', 'fn:one:', '%', '*']) for await (const entry of (await Deno.openKv(path)).list({ prefix: [] })) found.push(entry)
        const ask = async (store, more) => { const answer = await fetch('http://state.internal/', { method: 'POST', body: JSON.stringify({ operation: 'list', first: '00', past: 'ff', limit: 9, reverse: false, ...more, store }) }); return [answer.status, await answer.json()] }
        for (const store of [['fn', 'one'], ['kv', 'one'], ['fn:one', ''], ['__proto__', ''], 'fn:one:', null, ['cache', '/../one'], ['cache', 'one'], ['cache', 'one:'], ['cache'], ['cache', '', 'cache:one:']]) found.push(await ask(store, { request: {}, store: 'fn:one:' }))
        for (const store of ['cache:one:', ['cache:one', ''], ['fn', 'one:']]) found.push(await ask(store, {}))
        for (const cache of [caches.default, await caches.open('secret')]) found.push(await (await cache.match('https://x.example/secret'))?.text())
        found.push(await caches.keys())
        return Response.json(found) }`,
      POLICY,
    )
    const found = JSON.stringify(await (await fetch(host.url('two'))).json())
    expect(found).not.toContain('736563726574')
    expect(found).not.toContain(Buffer.from('mine').toString('base64'))
    expect(found).not.toContain('mine')
    expect(found).toContain('403')
  })

  test('namespaces, queues and values of bindings are members of env, as on Workers', async () => {
    await using host = await hostFor()
    const bindings = ['kv:CACHE=ns1', 'json:LIST=[1]', 'var:NAME=a=b', 'queue:MAIL=mail']
    await host.deploy(
      'worker',
      `export default { async fetch(request, env, ctx) {
        await env.CACHE.put('a', 'text', { metadata: { n: 1 } }); await env.CACHE.put('b/1', new Uint8Array([1, 2]).buffer); await env.CACHE.put('b/2', '{"x":1}', { expirationTtl: 60 })
        const one = await env.CACHE.list({ limit: 1 }), two = await env.CACHE.list({ limit: 2, cursor: one.cursor })
        return Response.json([await env.CACHE.get('a'), await env.CACHE.getWithMetadata('a'), [...new Uint8Array(await env.CACHE.get('b/1', 'arrayBuffer'))], await env.CACHE.get('b/2', { type: 'json' }), await env.CACHE.get('none'),
          one.keys, one.list_complete, two.keys.map(({ name }) => name), two.list_complete, (await env.CACHE.list({ prefix: 'b/' })).keys.map(({ name }) => name),
          await env.CACHE.put('o', { a: 1 }).catch((error) => error.message), await env.MAIL.send(new Map()).catch((error) => error.message), await env.MAIL.send(1, { contentType: 'v8' }).catch((error) => error.message),
          await (env.CACHE.put('\ufeffz', '\ufefftext').then(async () => [(await env.CACHE.list({ prefix: '\ufeff' })).keys.length, await env.CACHE.get('\ufeffz')])),
          env.LIST, env.NAME, typeof env.MAIL.send, await env.CACHE.put('k'.repeat(513), '').catch((error) => error.message), await env.CACHE.put('k', 'x'.repeat(2 ** 20 + 1)).catch((error) => error.message)]) } }`,
      { policy: { ...policy, bindings }, env: { NAME: 'a=b', LIST: '[1]' } },
    )
    expect(await (await fetch(host.url('worker'))).json()).toEqual([
      'text',
      { value: 'text', metadata: { n: 1 }, cacheStatus: null },
      [1, 2],
      { x: 1 },
      null,
      [{ name: 'a', metadata: { n: 1 } }],
      false,
      ['b/1', 'b/2'],
      true,
      ['b/1', 'b/2'],
      'KV: a value is a string, an ArrayBuffer, a view of one, or a ReadableStream',
      'a message is kept as JSON, which has no Map: send text, numbers, lists and plain objects',
      `a message of the content type 'v8' is not offered here: messages are JSON`,
      [1, '\ufefftext'],
      [1],
      'a=b',
      'function',
      'KV: a key is a text of 1 to 512 bytes, and neither . nor ..',
      'KV: a value has at most 1048576 bytes',
    ])
  })

  test('messages keep their values, or are refused when they are sent', async () => {
    await using host = await hostFor()
    await host.deploy(
      'sender',
      `export default { queue() {}, async fetch() { const kv = await Deno.openKv()
        const values = [new Map(), new Date(), new Uint8Array(1), /x/, 1n, NaN, [undefined], { a: 1, b: undefined }]
        const found = []
        for (const value of values) found.push(await Promise.resolve().then(() => kv.enqueue(value)).then(() => 'sent', (error) => error.name))
        for (const options of [{ keysIfUndelivered: [['a']] }, { backoffSchedule: [1] }]) found.push(await Promise.resolve().then(() => kv.enqueue(1, options)).then(() => 'sent', (error) => error.name))
        return Response.json(found) } }`,
      { policy: { ...policy, queue: 'mail' } },
    )
    const found = (await (await fetch(host.url('sender'))).json()) as string[]
    expect(found.filter((each) => each === 'TypeError')).toHaveLength(9)
    expect(found[7]).toBe('sent')
  })

  test('commits of one store come one after the other, and a sum loses none', async () => {
    await using host = await hostFor()
    await host.deploy(
      'sums',
      `export default async () => { const kv = await Deno.openKv()
        await Promise.all(Array.from({ length: 40 }, () => kv.atomic().sum(['n'], 1n).commit()))
        return new Response(String((await kv.get(['n'])).value)) }`,
      POLICY,
    )
    expect(await (await fetch(host.url('sums'))).text()).toBe('40')
  })

  test(
    'caches keep answers for all instances, by address, headers that they vary by, and time',
    { timeout: 400_000 },
    async () => {
      await using host = await hostFor()
      const source = `
      const at = 'https://x.example/1'
      const textOf = async (found) => found ? [found.status, await found.text(), found.headers.get('x-a')] : null
      const why = (promise) => promise.then(() => 'kept', (error) => error.message)
      const asking = (headers, method = 'GET') => new Request(at, { method, headers })
      const answer = (text, headers = {}) => new Response(text, { headers })
      export default async (req) => {
        const cache = await caches.open('a'), told = []
        if (req.url.endsWith('/again')) return Response.json([await textOf(await cache.match(at)), await caches.has('a'), await caches.keys(), await caches.delete('a'), await textOf(await cache.match(at)), await caches.delete('a')])
        told.push(await textOf(await cache.match(at)))
        await cache.put(at + '#part', new Response('one', { status: 201, headers: { 'x-a': '1' } }))
        await caches.default.put(asking({}), answer('other', { etag: '"e"' }))
        told.push(await textOf(await cache.match(asking({}))), await textOf(await caches.default.match(at)), await textOf(await caches.match(at)))
        told.push(await textOf(await caches.default.match(asking({ 'if-none-match': 'W/"e"' }))), await textOf(await cache.match(asking({}, 'HEAD'))), await textOf(await cache.match(asking({}, 'HEAD'), { ignoreMethod: true })))
        told.push(await caches.default.delete(at), await caches.default.delete(at))
        const vary = await caches.open('vary')
        for (const lang of ['de', 'fr']) await vary.put(asking({ 'accept-language': lang }), answer(lang, { vary: 'Accept-Language' }))
        told.push(await Promise.all(['de', 'fr', 'it'].map(async (lang) => textOf(await vary.match(asking({ 'accept-language': lang }))))))
        for (const control of ['no-store', 'private', 'max-age=0', 'public, s-maxage=0, max-age=60']) await vary.put('https://x.example/' + control, answer('x', { 'cache-control': control }))
        await vary.put('https://x.example/c', answer('x', { 'set-cookie': 'a=b' })); await vary.put('https://x.example/e', answer('x', { expires: '0' }))
        told.push((await Promise.all(['no-store', 'private', 'max-age=0', 'public, s-maxage=0, max-age=60', 'c', 'e'].map((each) => vary.match('https://x.example/' + each)))).filter(Boolean).length)
        await vary.put('https://x.example/soon', answer('x', { 'cache-control': 'max-age=1' }))
        while (await vary.match('https://x.example/soon'));
        const large = crypto.getRandomValues(new Uint8Array(65536)), body = new Blob(Array(20).fill(large))
        await vary.put('https://x.example/large', new Response(body.stream()))
        told.push(new Uint8Array(await (await vary.match('https://x.example/large')).arrayBuffer()).every((byte, at) => byte === large[at % 65536]))
        const endless = new ReadableStream({ pull(to) { to.enqueue(large) } })
        told.push(await why(vary.put(at, new Response(endless))), await why(vary.put(asking({}, 'POST'), answer(''))), await why(vary.put(at, answer('', { vary: '*' }))), await why(vary.put('ftp://x/', answer(''))))
        return Response.json(told) }`
      await host.deploy('caching', source, { policy: { ...policy, timeout_ms: 400_000 } })
      expect(await (await fetch(host.url('caching'))).json()).toEqual([
        null,
        [201, 'one', '1'],
        [200, 'other', null],
        [201, 'one', '1'],
        [304, '', null],
        null,
        [201, 'one', '1'],
        true,
        false,
        [[200, 'de', null], [200, 'fr', null], null],
        0,
        true,
        'a cache keeps bodies of at most 8388608 bytes',
        'a cache keeps answers of GET only',
        'a cache keeps no answer of "Vary: *"',
        'a cache keeps answers of http and https, not of ftp:',
      ])
      for (const instance of host.functions.get('test', 'caching')!.pool) {
        instance.kill('idle')
        await instance.exited
      }
      const again = await fetch(`${host.url('caching')}/again`)
      expect(await again.json()).toEqual([[201, 'one', '1'], true, ['a', 'vary'], true, null, false])
      await host.deploy('other', `export default async () => Response.json(await caches.keys())`, POLICY)
      expect(await (await fetch(host.url('other'))).json()).toEqual([])
    },
  )
})
