// Functions that connect to other hosts by TCP: through the host, and only to hosts of their policy.
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

for (const profile of ['standard', 'hardened'] as const) {
  const { probed, title } = await tryRuntime('deno', profile)
  describe.skipIf(!probed)(`sockets of functions: ${title}`, () => {
    let host: TestHost
    let web: HttpServer
    let echo: Server
    let webPort = 0
    let echoPort = 0
    let dialled = 0
    beforeAll(async () => {
      web = createHttpServer((request, response) =>
        response.end(`${request.method} ${request.url} ${request.headers.host}`),
      )
      echo = createServer((socket) => {
        dialled++
        socket.on('error', () => {})
        socket.pipe(socket)
      })
      for (const server of [web, echo]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
      webPort = (web.address() as AddressInfo).port
      echoPort = (echo.address() as AddressInfo).port
      host = await startHost({
        ...probed!,
        // One host is open by its name, the other by name and port: to no other port of it.
        fetchPolicy: { allowHosts: ['web.test', `echo.test:${echoPort}`], resolver: async () => ['127.0.0.1'] },
      })
    })
    afterAll(async () => {
      await host[Symbol.asyncDispose]()
      web.close()
      echo.close()
    })
    beforeEach(() => {
      dialled = 0
      host.refused.length = 0
    })
    const net = () => [
      `web.test:${webPort}`,
      `echo.test:${echoPort}`,
      `private.test:${echoPort}`,
      `echo.test:${webPort}`,
    ]
    async function run(imports: string, body: string): Promise<string> {
      await host.deploy('dialler', `${imports}\nexport default async () => { ${body} }`, { policy: { net: net() } })
      const response = await fetch(host.url('dialler'))
      return response.text()
    }

    test('node:http reaches a listed host, by its global agent and by one that keeps connections', async () => {
      const said = await run(
        `import http from 'node:http'; import { request } from 'node:http'; import { text } from 'node:stream/consumers'
         const agent = new http.Agent({ keepAlive: true })
         const get = (ask, options) => new Promise((yes, no) => ask(options, (r) => text(r).then(yes, no)).on('error', no).end())`,
        `const at = { host: 'web.test', port: ${webPort} }
         return new Response([await get(http.request, { ...at, path: '/a' }), await get(request, { ...at, path: '/b', agent }), await get(request, { ...at, path: '/c', agent })].join('\\n'))`,
      )
      expect(said.split('\n')).toEqual(['a', 'b', 'c'].map((path) => `GET /${path} web.test:${webPort}`))
    })

    test('node:net, and clients that look the name up themselves, reach a listed host; megabytes pass whole', async () => {
      const said = await run(
        `import { connect, Socket } from 'node:net'; import { lookup } from 'node:dns'; import dns from 'node:dns/promises'
         const size = 3_000_000
         const exchange = (socket) => new Promise((yes, no) => { let n = 0; socket.on('data', (c) => { n += c.length; if (n === size) socket.end() }); socket.on('close', () => yes(n)); socket.on('error', no); socket.write(new Uint8Array(size)) })`,
        `const { address } = await dns.lookup('echo.test')
         const again = await new Promise((yes, no) => lookup('echo.test', (e, a) => (e ? no(e) : yes(a))))
         const byName = await exchange(connect({ host: 'echo.test', port: ${echoPort} }))
         const byAddress = await exchange(new Socket().connect(${echoPort}, again))
         const conn = await Deno.connect({ hostname: 'echo.test', port: ${echoPort} })
         await conn.write(new TextEncoder().encode('deno')); const b = new Uint8Array(9); const n = await conn.read(b); conn.close()
         return Response.json([address === again, byName, byAddress, new TextDecoder().decode(b.subarray(0, n))])`,
      )
      expect(JSON.parse(said)).toEqual([true, 3_000_000, 3_000_000, 'deno'])
    })

    test('what is not listed fails at once, and the error says what to add', async () => {
      const said = await run(
        `import { connect } from 'node:net'; import tls from 'node:tls'; import https from 'node:https'; import dns from 'node:dns/promises'
         const why = (socket) => new Promise((done) => socket.on('error', (e) => done(e.code + ' ' + e.message)).on('connect', () => done('connected')))`,
        `return Response.json([await why(connect(25, 'mail.test')), await why(tls.connect({ host: 'web.test', port: 1 })), await why(https.get('https://other.test/')),
           await dns.lookup('other.test').catch((e) => e.code + ' ' + e.message), await Deno.connect({ port: 22 }).catch((e) => e.message)])`,
      )
      const refused = (target: string) =>
        `EACCES connection to ${target} is not allowed: add "${target}" to "net" in function.json`
      expect(JSON.parse(said)).toEqual([
        refused('mail.test:25'),
        refused('web.test:1'),
        refused('other.test:443'),
        'EACCES other.test cannot be looked up: add "other.test:{port}" to "net" in function.json',
        refused('127.0.0.1:22').slice('EACCES '.length),
      ])
    })

    test('a listed host that is private is not dialled, unless the operator has named it, with its port if that was said', async () => {
      const said = await run(
        `import { connect } from 'node:net'
         const end = (host, port) => new Promise((done) => connect(port, host).on('error', () => {}).on('close', () => done('closed')).on('data', () => done('answered')).write('x'))`,
        `return Response.json([await end('private.test', ${echoPort}), await end('echo.test', ${webPort}), await end('echo.test', ${echoPort})])`,
      )
      expect(JSON.parse(said)).toEqual(['closed', 'closed', 'answered'])
      expect(dialled).toBe(1)
      expect(host.refused.map(({ text }) => text)).toEqual([
        expect.stringMatching(/^connection to private\.test:\d+ failed: /),
        expect.stringMatching(/^connection to echo\.test:\d+ failed: /),
      ])
    })

    test('words to the socket that skip the shim gain nothing', async () => {
      const [instance] = host.functions.get('test', 'dialler')?.pool ?? []
      const path = profile === 'hardened' ? '/run/tcp.sock' : instance!.upstream.path.replace('in.sock', 'tcp.sock')
      // The path differs for each instance, so the caller passes it.
      await host.deploy(
        'raw',
        `const native = Deno.connect
         const lines = ['127.0.0.1:${echoPort}', 'other.test:${echoPort}', 'echo.test:${echoPort}\\r', '[::1]:${echoPort}', 'echo.test:0', 'echo.test:99999', 'a'.repeat(100_000), '', '\\0', 'echo.test', 'project.internal:5432']
         export default async (req) => {
           const met = []
           for (const line of lines) {
             const c = await native({ transport: 'unix', path: req.headers.get('x-path') })
             try { await c.write(new TextEncoder().encode(line + '\\nhello')); const b = new Uint8Array(9); met.push(await c.read(b)) } catch { met.push(null) }
             try { c.close() } catch {}
           }
           const open = []
           try { for (let i = 0; i < 500; i++) open.push(await native({ transport: 'unix', path: req.headers.get('x-path') })) } catch {}
           for (const c of open) c.close()
           return Response.json(met)
         }`,
        { policy: { net: net() } },
      )
      await fetch(host.url('raw'), { headers: { 'x-path': path } }).catch(() => {})
      const [fresh] = host.functions.get('test', 'raw')!.pool
      const real = profile === 'hardened' ? '/run/tcp.sock' : fresh!.upstream.path.replace('in.sock', 'tcp.sock')
      const response = await fetch(host.url('raw'), { headers: { 'x-path': real } })
      expect((await response.json()) as unknown[]).toEqual(Array.from({ length: 11 }, () => null))
      expect(dialled).toBe(0)
    })
  })
}
