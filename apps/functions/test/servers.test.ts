// Functions that bring a server of their own: Node's HTTP and what is built on it.
// Slow: each case starts a server of its own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

for (const profile of ['standard', 'hardened'] as const) {
  const { probed, title } = await tryRuntime('deno', profile)
  describe.skipIf(!probed)(`servers of functions: ${title}`, () => {
    let host: TestHost
    beforeAll(async () => {
      host = await startHost(probed!)
    })
    afterAll(() => host[Symbol.asyncDispose]())

    test('the server that a module starts answers, on whatever port it listens', async () => {
      await host.deploy(
        'server',
        `import { createServer } from 'node:http'
         import { AsyncLocalStorage } from 'node:async_hooks'
         const server = createServer(async (req, res) => {
           let body = ''; for await (const c of req) body += c
           console.log('served', req.url)
           res.setHeader('x-kind', 'node'); res.statusCode = 201
           res.end(JSON.stringify({ method: req.method, url: req.url, body, port: server.address().port,
             peer: req.socket.remoteAddress,
             internal: Object.keys(req.headers).filter((h) => h.startsWith('x-terrane-')), id: req.headers['x-request-id'] }))
         })
         server.listen(3000, () => console.log('listening'))`,
      )
      const response = await fetch(`${host.url('server')}/a/b?c=1`, {
        method: 'POST',
        body: 'sent',
        headers: { 'x-request-id': 'the-id' },
      })
      expect([response.status, response.headers.get('x-kind')]).toEqual([201, 'node'])
      expect(await response.json()).toEqual({
        method: 'POST',
        url: '/server/a/b?c=1',
        body: 'sent',
        port: 3000,
        peer: '127.0.0.1',
        internal: [],
        id: 'the-id',
      })
      // Its output is attributed to the request during which it was printed.
      await expect
        .poll(() => host.lines.find(({ text }) => text === 'served /server/a/b?c=1')?.requestId)
        .toBe('the-id')
    })

    test('a module may wait for its server, and hears that it listens', async () => {
      await host.deploy(
        'waiting',
        `let heard: any
         const server = Deno.serve({ port: 4000, onListen: (addr) => { heard = addr } }, () => Response.json(heard))
         EdgeRuntime.waitUntil(Promise.resolve())
         await server.finished`,
      )
      const response = await fetch(host.url('waiting'))
      expect(await response.json()).toMatchObject({ transport: 'tcp', port: 4000 })
    })

    test('a loop over Deno.listen and Deno.serveHttp answers, as old versions of std and oak have it', async () => {
      await host.deploy(
        'loop',
        `async function handle(conn: any) {
           for await (const { request, respondWith } of Deno.serveHttp(conn))
             respondWith(request.text().then((text: string) => new Response(text + ' ' + new URL(request.url).pathname)))
         }
         for await (const conn of Deno.listen({ port: 8080 })) handle(conn)`,
      )
      const ask = (body: string) => fetch(`${host.url('loop')}/a`, { method: 'POST', body }).then((r) => r.text())
      expect(await Promise.all([ask('one'), ask('two')])).toEqual(['one /loop/a', 'two /loop/a'])
    })

    test('one that listens a moment after its module has run answers too, and calls the project as its caller', async () => {
      await host.deploy(
        'late',
        `import http from 'node:http'
         const app = http.createServer(async (req, res) => {
           const r = await fetch('http://project.internal/functions/v1/whoami'); res.end(await r.text())
         })
         setTimeout(() => app.listen({ port: 0 }), 50)`,
      )
      await host.deploy(
        'whoami',
        `export default (_r: Request, ctx: any) => new Response(ctx.claims?.role ?? 'no one')`,
      )
      const response = await fetch(host.url('late'), { headers: { apikey: 'anon' } })
      expect([response.status, await response.text()]).toEqual([200, 'anon'])
    })

    test('a second server is refused, and the error says why', async () => {
      await host.deploy(
        'two',
        `import http from 'node:http'
         let said = ''
         http.createServer((_q, res) => res.end(said)).listen(1)
         try { http.createServer().listen(2) } catch (error) { said = error.code + ' ' + error.message }`,
      )
      const response = await fetch(host.url('two'))
      expect(await response.text()).toBe(
        'EACCES a function has one server, which listens while the module loads: put what a second one does into the first',
      )
    })

    test.each([
      ['close()', 'closing', 'server.listen(8000)', 'server.close()'],
      ['its signal', 'signalled', 'server.listen({ port: 8000, signal: stop.signal })', 'stop.abort()'],
    ])(
      'an instance that closes its server by %s is replaced, and the next call is answered',
      async (_, function_, listen, close) => {
        await host.deploy(
          function_,
          `import http from 'node:http'
           const stop = new AbortController()
           const server = http.createServer((req, res) => { res.end('ok'); if (req.url.endsWith('/close')) ${close} })
           ${listen}`,
          { policy: { max: 1 } },
        )
        expect(await (await fetch(`${host.url(function_)}/close`)).text()).toBe('ok')
        const ended = () => host.exits.some(({ name, reason }) => name === function_ && reason === 'crashed')
        const call = async () => (await fetch(host.url(function_))).text()
        // Calls on the kept connection may still be answered by the old one.
        await expect.poll(async () => [await call(), ended()], { timeout: 20_000 }).toEqual(['ok', true])
        expect(host.exits.find(({ name }) => name === function_)?.stderr).toContain('its server was closed')
      },
    )

    test('a module that has node:http and a handler keeps its handler', async () => {
      await host.deploy(
        'both',
        `import http from 'node:http'; export default () => new Response(String(http.STATUS_CODES[404]))`,
      )
      expect(await (await fetch(host.url('both'))).text()).toBe('Not Found')
    })

    test('what programs ask of the system is answered, and tells nothing of the host', async () => {
      await host.deploy(
        'system',
        `import os, { hostname } from 'node:os'
         const { userInfo } = require('os')
         declare const require: (name: string) => any
         export default () => Response.json([hostname(), os.networkInterfaces(), userInfo().username, os.cpus().length, os.EOL,
           process.getuid(), process.geteuid(), process.umask(), os.tmpdir()])`,
      )
      const response = await fetch(host.url('system'))
      expect(await response.json()).toEqual(['function', {}, 'function', 1, '\n', 65534, 65534, 0o22, '/tmp'])
    })

    test('`process` is loaded when it is touched, and answers the same by name and by import', async () => {
      await host.deploy(
        'untouched',
        `export default () => new Response(typeof Object.getOwnPropertyDescriptor(globalThis, 'process').get)`,
      )
      expect(await (await fetch(host.url('untouched'))).text()).toBe('function')
      await host.deploy(
        'imported',
        `import own from 'node:process'
         export default () => Response.json([own.getuid(), own.geteuid(), process === own, process.getgid(), process.getgroups()])`,
      )
      expect(await (await fetch(host.url('imported'))).json()).toEqual([65534, 65534, true, 65534, [65534]])
      await host.deploy('replaced', `process = { env: {} }; export default () => Response.json(Object.keys(process))`)
      expect(await (await fetch(host.url('replaced'))).json()).toEqual(['env'])
    })

    test('values that the function itself carries through its waits do not part it from its call', async () => {
      await host.deploy(
        'carried',
        `import { AsyncLocalStorage } from 'node:async_hooks'
         const own = new AsyncLocalStorage()
         export default (req) => own.run(new URL(req.url).searchParams.get('n'), async () => {
           await new Promise((resolve) => setTimeout(resolve, 5))
           console.log('in ' + own.getStore())
           await own.run('inner', async () => { await 1; console.log(own.getStore()) })
           return new Response(own.getStore())
         })`,
      )
      const calls = Array.from({ length: 8 }, async (_, n) => {
        const headers = { 'x-request-id': `carried-${n}` }
        return (await fetch(`${host.url('carried')}?n=${n}`, { headers })).text()
      })
      expect(await Promise.all(calls)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
      const lines = () => host.lines.filter(({ name }) => name === 'carried')
      await expect.poll(() => lines().length).toBe(16)
      for (const { text, requestId } of lines())
        expect(text).toBe(text.startsWith('in ') ? `in ${requestId!.slice('carried-'.length)}` : 'inner')
      expect(new Set(lines().map(({ requestId }) => requestId)).size).toBe(8)
    })
  })
}
