import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { FunctionsRelayError, createClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const { probed, title } = await tryRuntime('deno', 'standard')

describe.skipIf(probed === null)(`the edges of a function on ${title}`, () => {
  let host: TestHost
  let site: Server
  let echo: TcpServer
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

  beforeAll(async () => {
    site = createServer((_, response) => response.end('site'))
    echo = createTcpServer((socket) => socket.end('echo'))
    for (const server of [site, echo]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    host = await startHost({ ...probed!, fetchPolicy: { allowHosts: ['127.0.0.1'] } })
  })
  afterAll(async () => {
    await host[Symbol.asyncDispose]()
    for (const server of [site, echo]) server.close()
  })

  test('a function sees none of the headers by which host and shim speak, and no address that a caller makes up', async () => {
    await host.deploy(
      'shows',
      `Deno.serve((req) => Response.json([Object.fromEntries(req.headers), req.headers.get('x-terrane-claims')]))`,
    )
    const sent = { 'x-forwarded-for': '198.51.100.1', apikey: 'user', 'x-own': '1' }
    const [seen, claims] = (await (await fetch(host.url('shows'), { headers: sent })).json()) as [object, null]
    expect([Object.keys(seen).filter((name) => name.startsWith('x-terrane')), claims]).toEqual([[], null])
    expect(seen).toMatchObject({ 'x-own': '1', 'x-forwarded-for': expect.not.stringContaining('198') as string })
  })

  test('a request with more headers than a function can be given is told so', async () => {
    await host.deploy('counts', `Deno.serve((req) => new Response(String([...req.headers].length)))`)
    const send = (count: number) =>
      fetch(host.url('counts'), {
        headers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '1'])),
      })
    expect((await send(80)).status).toBe(200)
    const refused = await send(600)
    expect([refused.status, await refused.json()]).toMatchObject([431, { code: 'HEADERS_TOO_MANY' }])
  })

  test('what "net" refuses is in the log with the name of the host and the request; "*" reaches no private host of the operator', async () => {
    const source = `Deno.serve(async () => {
      const tried = [() => fetch('http://127.0.0.1:${portOf(site)}/x').then((r) => r.text()), async () => {
        const socket = await Deno.connect({ hostname: '127.0.0.1', port: ${portOf(echo)} })
        return new Response(socket.readable).text()
      }]
      return Response.json(await Promise.all(tried.map((dial) => dial().catch((error) => error.message))))
    })`
    await host.deploy('closed', source)
    await host.deploy('open', source, {
      policy: { net: ['*', `127.0.0.1:${portOf(site)}`, `127.0.0.1:${portOf(echo)}`] },
    })
    await host.deploy('public', source, { policy: { net: ['*'] } })
    host.refused.length = 0
    const texts = [
      `fetch to 127.0.0.1:${portOf(site)} is not allowed: add "127.0.0.1:${portOf(site)}" to "net" in function.json`,
      `connection to 127.0.0.1:${portOf(echo)} is not allowed: add "127.0.0.1:${portOf(echo)}" to "net" in function.json`,
    ]
    const answer = await fetch(host.url('closed'), { headers: { 'x-request-id': 'refused-1' } })
    expect(await answer.json()).toEqual(texts)
    expect(host.refused).toEqual([{ text: texts[0], requestId: 'refused-1' }])
    await expect
      .poll(() => host.lines.filter(({ level, name }) => level === 'warn' && name === 'closed'))
      .toMatchObject([{ text: texts[1], requestId: 'refused-1' }])
    expect(await (await fetch(host.url('open'))).json()).toEqual(['site', 'echo'])
    expect(await (await fetch(host.url('public'))).json()).toEqual([
      expect.stringMatching(/^fetch to 127\.0\.0\.1:\d+ is refused: .*not public/),
      // The function only sees that the connection closes.
      '',
    ])
    const refusals = host.refused.map(({ text }) => text)
    expect(refusals).toContainEqual(expect.stringMatching(/^connection to 127\.0\.0\.1:\d+ failed: .*not public/))
  })

  test('an instance that is idle or replaced hears "beforeunload" and has time for it', async () => {
    const source = (text: string) => `addEventListener('beforeunload', (event) => {
        EdgeRuntime.waitUntil(fetch('http://127.0.0.1:${portOf(site)}/').then((r) => r.text()).then((said) => console.log(event.detail.reason, said)))
      })
      Deno.serve(() => new Response('${text}'))`
    const net = [`127.0.0.1:${portOf(site)}`]
    const call = async () => (await fetch(host.url('ends'))).text()
    // A busy machine may take longer than a second to replace the first: it does not end by idling.
    await host.deploy('ends', source('1'), { policy: { net } })
    expect(await call()).toBe('1')
    await host.deploy('ends', source('2'), { policy: { net, idle_ms: 1000 } })
    expect(await call()).toBe('2')
    const ends = () => host.exits.filter(({ name }) => name === 'ends')
    await expect.poll(() => ends().map(({ reason }) => reason)).toEqual(['replaced', 'idle'])
    // They have ended by themselves.
    expect(ends().map(({ code, signal }) => [code, signal])).toEqual([
      [0, null],
      [0, null],
    ])
    expect(host.lines.filter(({ name }) => name === 'ends').map(({ text }) => text)).toEqual([
      'termination site',
      'early_drop site',
    ])
    expect(await call()).toBe('2')
  })

  test('a program that listens to "fetch" answers', async () => {
    await host.deploy(
      'listens',
      `addEventListener('fetch', (event) => event.respondWith(new Response(event.request.method)))`,
    )
    expect(await (await fetch(host.url('listens'))).text()).toBe('GET')
  })

  test('supabase-js tells errors of the host from errors of the function', async () => {
    await host.deploy('throws', `Deno.serve(() => { throw new Error('x') })`)
    await host.deploy('never', `Deno.serve(() => new Promise(() => {}))`, { policy: { timeout_ms: 300 } })
    const { functions } = createClient(host.origin, 'anon')
    const isRelay = async (name: string) => (await functions.invoke(name)).error instanceof FunctionsRelayError
    expect([await isRelay('never'), await isRelay('throws')]).toEqual([true, false])
  })
})
