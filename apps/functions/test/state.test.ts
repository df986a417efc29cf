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

/** A program whose lines tell everything that a database of Deno's own and ours must agree in. */
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
    const source = `export default async () => { const kv = await Deno.openKv(); await kv.set(['secret'], 'mine'); return new Response('ok') }`
    await host.deploy('one', source, POLICY)
    await fetch(host.url('one'))
    await host.deploy(
      'two',
      `export default async () => {
        const found = []
        for (const path of ['', ':', 'one', '../one', 'fn:one:', '%', '*']) for await (const entry of (await Deno.openKv(path)).list({ prefix: [] })) found.push(entry)
        const ask = async (store, more) => { const answer = await fetch('http://state.internal/', { method: 'POST', body: JSON.stringify({ operation: 'list', first: '00', past: 'ff', limit: 9, reverse: false, ...more, store }) }); return [answer.status, await answer.json()] }
        for (const store of [['fn', 'one'], ['kv', 'one'], ['fn:one', ''], ['__proto__', ''], 'fn:one:', null, ['cache', '/../one']]) found.push(await ask(store, { request: {}, store: 'fn:one:' }))
        return Response.json(found) }`,
      POLICY,
    )
    const found = JSON.stringify(await (await fetch(host.url('two'))).json())
    expect(found).not.toContain('736563726574')
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
      [1],
      'a=b',
      'function',
      'KV: a key is a text of 1 to 512 bytes, and neither . nor ..',
      'KV: a value has at most 1048576 bytes',
    ])
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
})
