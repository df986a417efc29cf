// Needs of npm packages, tested by small packages that do the same. The real ones: long/packages.long.test.ts.
import { createHash, createHmac } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo, Server as TcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { mailServer } from './support/mail-server.ts'
import { tryRuntime } from './support/runtimes.ts'
import { writeSmallPackages } from './support/small-packages.ts'

const { probed, title } = await tryRuntime('deno', 'standard')

describe.skipIf(!probed)(`small packages in functions: ${title}`, () => {
  let host: TestHost
  let web: Server
  let mail: TcpServer
  let folder: string
  let packages: string
  const letters: string[] = []
  const stored = new Map<string, string>()
  let net: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrane-packages-'))
    packages = await writeSmallPackages(folder)
    web = createHttpServer((request, response) => void answer(request, response))
    mail = mailServer(letters)
    for (const server of [web, mail]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    net = [`web.test:${(web.address() as AddressInfo).port}`, `mail.test:${(mail.address() as AddressInfo).port}`]
    host = await startHost({ ...probed!, fetchPolicy: { allowHosts: net, resolver: async () => ['127.0.0.1'] } })
  })
  afterAll(async () => {
    await host[Symbol.asyncDispose]()
    web.closeAllConnections()
    web.close()
    mail.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const isWhole = request.headers['x-md5'] === createHash('md5').update(body).digest('hex')
    if (request.method === 'PUT' && isWhole) stored.set(request.url!, body.toString())
    response.end(request.method === 'POST' ? `${String(isWhole)} ${body.toString()}` : stored.get(request.url!))
  }

  async function run(source: string, file = 'index.ts'): Promise<string> {
    await host.deploy('packaged', source, { packages, policy: { net }, entry: file })
    const response = await fetch(host.url('packaged'))
    const said = JSON.stringify([host.lines.slice(-3), host.bootFailures.slice(-1)])
    expect(response.status, said).toBe(200)
    return response.text()
  }

  test('a client of node:http sends, and reads what it has stored', async () => {
    const source = `import { send } from 'http-client'; import all from 'http-client'
      const at = (path) => 'http://${net[0]!}' + path
      export default async () => Response.json([all.send === send, await send('POST', at('/a'), '{"b":1}'), await send('PUT', at('/k'), 'stored'), await send('GET', at('/k'))])`
    expect(JSON.parse(await run(source))).toEqual([true, 'true {"b":1}', 'stored', 'stored'])
  })

  test('a client of a protocol of lines speaks by node:net', async () => {
    const [name, port] = net[1]!.split(':')
    const lines = ['EHLO x', 'MAIL FROM:<a@x.test>', 'DATA', 'Subject: Hello\r\n\r\nthere\r\n.', 'QUIT']
    const source = `import Mailer from 'mailer'
      export default async () => { const mailer = new Mailer(); let sent = 'no'; mailer.on('sent', () => { sent = 'sent' })
        await mailer.send({ host: '${name}', port: ${port} }, ${JSON.stringify(lines)}); return new Response(sent) }`
    expect(await run(source)).toBe('sent')
    expect(letters).toEqual(expect.arrayContaining(['Subject: Hello', 'there']))
  })

  test('a stream of the old kind, with imports of its own names and a font by a require that it makes', async () => {
    const source = `import Document from 'pdfkit'
      export default () => new Promise((done) => { const d = new Document(); const parts = []; d.on('data', (p) => parts.push(p)); d.on('end', () => done(new Response(Buffer.concat(parts)))); d.write('words').end() })`
    expect(await run(source)).toBe('%DOC-plain words')
  })

  test('a file for every module system is CommonJS', async () => {
    const source = `import universal from 'universal'
      export default () => new Promise((done) => universal.later((text) => done(new Response(text))))`
    expect(await run(source)).toBe('later')
  })

  test('parts of a package are those of its patterns, by import and by require', async () => {
    const source = `import { kind } from 'parted/server/part.js'
      const other = require('parted/server/part.js')
      export default () => new Response(kind + ' ' + other.kind)`
    expect(await run(source)).toBe('module commonjs')
    const hidden = host.deploy('packaged', `import 'parted/hidden/part.js'; export default 1`, { packages })
    await expect(hidden).rejects.toMatchObject({ details: expect.stringContaining('parted/hidden/part.js') as string })
  })

  test('of the files for runtimes that of Deno is taken, and Web Crypto signs in it', async () => {
    const source = `import { sign } from 'conditional'
      export default async () => new Response(await sign('right', 'body'))`
    expect(await run(source)).toBe(createHmac('sha256', 'right').update('body').digest('hex'))
  })

  test('modules that are imported when they are needed, one with WebAssembly beside it', async () => {
    const source = `import { decode } from 'decoders'
      export default async () => Response.json([await decode('raw'), await decode('wasm')])`
    expect(JSON.parse(await run(source))).toEqual(['raw', 42])
  })

  test.each([
    [
      'Express',
      `import express from 'express'; const app = express(); app.get('/packaged', (_q, r) => r.send('served')); app.listen(3000)`,
    ],
    [
      'Fastify',
      `import Fastify from 'fastify'; const app = Fastify(); app.get('/packaged', async () => 'served'); await app.listen({ port: 3000 })`,
    ],
    [
      'Fastify, no one waiting',
      `import Fastify from 'fastify'; const app = Fastify({ logger: true }); app.get('/packaged', async () => 'served'); app.listen({ port: 3000, host: '0.0.0.0' }, (error) => { if (error) throw error })`,
    ],
    [
      'Hono',
      `import { Hono } from 'hono'; const app = new Hono(); app.get('/packaged', (c) => c.text('served')); export default app`,
    ],
  ])('a server in the shape of %s serves', async (_, source) => {
    expect(await run(source)).toBe('served')
  })

  test('JSX by either of its pragmas', async () => {
    const body = `export default () => new Response(render(<p class="a">{1 + 1}</p>))`
    const imports = `import { h, render } from 'elements'`
    expect(await run(`/** @jsx h */\n${imports}\n${body}`, 'index.tsx')).toBe('<p class="a">2</p>')
    expect(await run(`/** @jsxImportSource elements */\n${imports}\n${body}`, 'index.tsx')).toBe('<p class="a">2</p>')
  })
})
