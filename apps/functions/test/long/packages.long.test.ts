// Packages from npm that were not written for this host, run unchanged in a function. Of what they need of the host the
// everyday packages.test.ts has a small example each.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as TcpServer } from 'node:net'
import { createHmac } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '@terrane/database'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { ASKED_AS_BOTH, NOTES, askAsBoth, type ClientCode } from '../support/database-clients.ts'
import { startHost, type TestHost } from '../support/host.ts'
import type { Policy } from '../../src/policy.ts'
import { mailServer } from '../support/mail-server.ts'
import { installPeers } from '@terrane/testing/peers'
import { tryRuntime } from '../support/runtimes.ts'

const { probed, title } = await tryRuntime('deno', 'standard')
const packages = probed && installPeers('functions')
const why = probed && packages === null ? ' (SKIPPED: infra/peers/functions could not be installed)' : ''

describe.skipIf(!packages)(`packages in functions: ${title}${why}`, () => {
  let host: TestHost
  let web: Server
  let mail: TcpServer
  const letters: string[] = []
  const stored = new Map<string, string>()
  /** Methods of Telegram's API that were called. */
  const told: unknown[] = []
  let net: string[] = []

  beforeAll(async () => {
    // Enough of S3 for one object and of Telegram's API for a message, and an echo.
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
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const path = request.url!.split('?', 1)[0]!
    if (path.startsWith('/bot')) {
      told.push([path, JSON.parse(body.toString())])
      return void response.end('{"ok":true,"result":{"message_id":2,"date":1,"chat":{"id":2,"type":"private"}}}')
    }
    if (request.method === 'PUT') stored.set(path, body.toString('latin1'))
    response.setHeader('etag', '"1"')
    const echo = JSON.stringify({ method: request.method, path, body: body.toString() })
    if (path.startsWith('/bucket/')) response.end(stored.get(path))
    else response.setHeader('content-type', 'application/json').end(echo)
  }

  interface Case {
    /** Name of the source's file. */
    readonly file?: string
    readonly files?: Readonly<Record<string, string>>
    readonly policy?: Partial<Policy>
    readonly env?: Record<string, string>
    /** After the address of the function. */
    readonly path?: string
    readonly status?: number
  }

  async function run(source: string, init: RequestInit = {}, options: Case = {}): Promise<Response> {
    const { file = 'index.ts', files = {}, policy = {}, env = {}, path = '', status = 200 } = options
    await host.deploy('packaged', source, { packages: packages!, policy: { net, ...policy }, entry: file, files, env })
    const response = await fetch(host.url('packaged') + path, init)
    const said = JSON.stringify([host.lines.slice(-3), host.bootFailures.slice(-1)])
    expect(response.status, said).toBe(status)
    return response
  }

  test('axios fetches by node:http', async () => {
    const response = await run(
      `import axios from 'axios'
       const client = axios.create({ adapter: 'http', baseURL: 'http://web.test:PORT' })
       export default async () => Response.json((await client.post('/a', { b: 1 })).data)`.replace(
        'web.test:PORT',
        net[0]!,
      ),
    )
    expect(await response.json()).toEqual({ method: 'POST', path: '/a', body: '{"b":1}' })
  })

  test('the AWS SDK stores an object and reads it', async () => {
    const response = await run(
      `import { S3Client, PutObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3'
       const s3 = new S3Client({ region: 'x', endpoint: 'http://${net[0]!}', forcePathStyle: true, credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, requestChecksumCalculation: 'WHEN_REQUIRED' })
       export default async () => {
         await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'k', Body: 'stored' }))
         return new Response(await (await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'k' }))).Body.transformToString())
       }`,
    )
    expect(await response.text()).toBe('stored')
  })

  test('nodemailer sends a letter by SMTP', async () => {
    const [name, port] = net[1]!.split(':')
    await run(
      `import nodemailer from 'nodemailer'
       const transport = nodemailer.createTransport({ host: '${name}', port: ${port}, secure: false, ignoreTLS: true })
       export default async () => { await transport.sendMail({ from: 'a@x.test', to: 'b@x.test', subject: 'Hello', text: 'there' }); return new Response('sent') }`,
    )
    expect(letters).toEqual(expect.arrayContaining(['Subject: Hello', 'there']))
  })

  test('PDFKit writes a document with a font of its own', async () => {
    const response = await run(
      `import PDFDocument from 'pdfkit'
       export default () => new Promise((done) => { const d = new PDFDocument(); const parts = []; d.on('data', (p) => parts.push(p)); d.on('end', () => done(new Response(Buffer.concat(parts)))); d.font('Helvetica').text('words'); d.end() })`,
    )
    expect((await response.text()).slice(0, 5)).toBe('%PDF-')
  })

  test('ExcelJS writes a workbook and reads it again', async () => {
    const response = await run(
      `import ExcelJS from 'exceljs'
       export default async () => { const w = new ExcelJS.Workbook(); w.addWorksheet('s').addRow([1, 'two']); const b = await w.xlsx.writeBuffer()
         const again = new ExcelJS.Workbook(); await again.xlsx.load(b); return Response.json(again.getWorksheet('s').getRow(1).values.slice(1)) }`,
    )
    expect(await response.json()).toEqual([1, 'two'])
  })

  test('a server of the Model Context Protocol answers over HTTP', async () => {
    const response = await run(
      `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
       import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
       export default async (request) => {
         const server = new McpServer({ name: 'test', version: '1' })
         server.registerTool('hello', { description: 'greets' }, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
         const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
         await server.connect(transport)
         return transport.handleRequest(request)
       }`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      },
    )
    expect(await response.json()).toMatchObject({ id: 1, result: { tools: [{ name: 'hello' }] } })
  })

  test("Stripe checks a webhook's signature", async () => {
    const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'ping' })
    const now = Math.floor(Date.now() / 1000)
    const sign = (secret: string) =>
      `t=${now},v1=${createHmac('sha256', secret).update(`${now}.${body}`).digest('hex')}`
    const source = `import Stripe from 'stripe'
       const stripe = new Stripe('sk_test_x')
       export default async (request) => { const text = await request.text(); const given = request.headers.get('stripe-signature')
         return Response.json(await stripe.webhooks.constructEventAsync(text, given, 'right').then((event) => event.type, (e) => e.type)) }`
    const right = await run(source, { method: 'POST', body, headers: { 'stripe-signature': sign('right') } })
    expect(await right.json()).toBe('ping')
    const wrong = await run(source, { method: 'POST', body, headers: { 'stripe-signature': sign('wrong') } })
    expect(await wrong.json()).toBe('StripeSignatureVerificationError')
  })

  test('GeoTIFF, Turf and H3 measure the Earth', async () => {
    const response = await run(
      `import { fromArrayBuffer, writeArrayBuffer } from 'geotiff'; import * as turf from '@turf/turf'; import { latLngToCell } from 'h3-js'
       export default async () => {
         const bytes = await writeArrayBuffer([1, 2, 3, 4], { height: 2, width: 2, BitsPerSample: [8] })
         const image = await (await fromArrayBuffer(bytes)).getImage()
         const km = turf.distance([11.57, 48.13], [13.4, 52.52])
         return Response.json([image.getWidth(), [...(await image.readRasters())[0]], Math.round(km), latLngToCell(48.13, 11.57, 7)])
       }`,
    )
    expect(await response.json()).toEqual([2, [1, 2, 3, 4], 505, expect.stringMatching(/^871f8/)])
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
  ])('%s serves', async (_, source) => {
    expect(await (await run(source)).text()).toBe('served')
  })

  test('NestJS injects by the types of constructors', async () => {
    const settings = { 'deno.json': '{"compilerOptions":{"experimentalDecorators":true,"emitDecoratorMetadata":true}}' }
    const response = await run(
      `import 'reflect-metadata'
       import { NestFactory } from '@nestjs/core'
       import { Body, Controller, Injectable, Module, Param, ParseIntPipe, Post } from '@nestjs/common'
       @Injectable() class Store { readonly names = new Map<number, string>([[7, 'seven']]) }
       @Injectable() class Service { constructor(private readonly store: Store) {} find(id: number) { return this.store.names.get(id) } }
       @Controller('packaged') class Api {
         constructor(private readonly service: Service) {}
         @Post(':id') find(@Param('id', ParseIntPipe) id: number, @Body() body: { greeting: string }) { return { said: body.greeting + ' ' + this.service.find(id) } }
       }
       @Module({ controllers: [Api], providers: [Store, Service] }) class App {}
       const app = await NestFactory.create(App, { logger: false })
       await app.listen(3000)`,
      { method: 'POST', body: '{"greeting":"hello"}', headers: { 'content-type': 'application/json' } },
      { files: settings, path: '/7', status: 201 },
    )
    expect(await response.json()).toEqual({ said: 'hello seven' })
  })

  test('grammY takes an update of Telegram, checks its secret, and answers by the API', async () => {
    const source = `import { Bot, webhookCallback } from 'grammy'
       const botInfo = { id: 1, is_bot: true, first_name: 'b', username: 'b', can_join_groups: true, can_read_all_group_messages: false, supports_inline_queries: false }
       const bot = new Bot('1:token', { botInfo, client: { apiRoot: 'http://${net[0]!}' } })
       bot.command('start', (context) => context.reply('Welcome ' + context.from.first_name))
       export default webhookCallback(bot, 'std/http', { secretToken: 'the-secret' })`
    const text = '/start'
    const from = { id: 2, is_bot: false, first_name: 'Ada' }
    const chat = { id: 2, type: 'private', first_name: 'Ada' }
    const entities = [{ type: 'bot_command', offset: 0, length: text.length }]
    const body = JSON.stringify({ update_id: 1, message: { message_id: 1, date: 1, from, chat, text, entities } })
    const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': 'the-secret' }
    await run(source, { method: 'POST', body, headers })
    expect(told).toEqual([['/bot1:token/sendMessage', { chat_id: 2, text: 'Welcome Ada' }]])
    const wrong = { ...headers, 'x-telegram-bot-api-secret-token': 'another' }
    await run(source, { method: 'POST', body, headers: wrong }, { status: 401 })
    expect(told).toHaveLength(1)
  })

  test('Hono on the environment of a Worker', async () => {
    const response = await run(
      `import { Hono } from 'hono'
       import { env } from 'hono/adapter'
       import { bearerAuth } from 'hono/bearer-auth'
       const app = new Hono<{ Bindings: { GREETING: string; LIMITS: { most: number } } }>().basePath('/packaged')
       app.use('/private', bearerAuth({ token: 'of-hono' }))
       app.get('/', (c) => c.json([c.env.GREETING, c.env.LIMITS.most, env(c).GREETING, typeof c.executionCtx.waitUntil]))
       app.get('/private', (c) => c.text('in'))
       export default app`,
      {},
      {
        policy: { auth: 'none', bindings: ['var:GREETING=hello', 'json:LIMITS={"most":7}'] },
        env: { GREETING: 'hello', LIMITS: '{"most":7}' },
      },
    )
    expect(await response.json()).toEqual(['hello', 7, 'hello', 'function'])
    const ask = async (token: string) =>
      (await fetch(`${host.url('packaged')}/private`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([await ask('of-hono'), await ask('another')]).toEqual([200, 401])
  })

  test('JSX of preact by either of its pragmas', async () => {
    const body = `export default () => new Response(render(<p class="a">{1 + 1}</p>))`
    const imports = `import { render } from 'preact-render-to-string'`
    const pragma = await run(
      `/** @jsx h */\n${imports}; import { h } from 'preact'\n${body}`,
      {},
      { file: 'index.tsx' },
    )
    expect(await pragma.text()).toBe('<p class="a">2</p>')
    const automatic = await run(`/** @jsxImportSource preact */\n${imports}\n${body}`, {}, { file: 'index.tsx' })
    expect(await automatic.text()).toBe('<p class="a">2</p>')
  })
})

const CLIENTS = {
  Drizzle: [
    `import { drizzle } from 'drizzle-orm/node-postgres'; import { sql } from 'drizzle-orm'; import pg from 'pg'`,
    `const pool = new pg.Pool({ connectionString: url, max: 2 }); const db = drizzle(pool)
     const ask = async (text) => (await db.execute(sql.raw(text))).rows
     const named = async () => (await db.transaction((tx) => tx.execute(sql\`select \${1}::int + 1 as n\`))).rows[0].n
     const end = () => pool.end()`,
  ],
  Kysely: [
    `import { Kysely, PostgresDialect, sql } from 'kysely'; import pg from 'pg'`,
    `const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) }) })
     const ask = async (text) => (await sql.raw(text).execute(db)).rows
     const named = async () => (await db.transaction().execute((tx) => sql\`select \${1}::int + 1 as n\`.execute(tx))).rows[0].n
     const end = () => db.destroy()`,
  ],
} as const satisfies Record<string, ClientCode>

for (const profile of ['standard', 'hardened'] as const) {
  const runtime = await tryRuntime('deno', profile)
  const isThere = runtime.probed && packages !== null && testLane() === 'postgres'
  describe.skipIf(!isThere)(`clients of the database in functions (${testLane()}): ${runtime.title}`, () => {
    test.each(Object.entries(CLIENTS))(
      '%s asks as the caller of the call, and as the function itself',
      async (_, client) => {
        await using database = await openTestDatabase()
        await migrate(database.database, ['project'])
        await database.database.query(NOTES)
        await using host = await startHost({ ...runtime.probed!, databaseUrl: database.url, sessions: 3 })
        await host.deploy('asker', askAsBoth(client), { packages: packages! })
        const response = await fetch(host.url('asker'), { headers: { authorization: 'Bearer user' } })
        expect(await response.json(), JSON.stringify(host.lines.slice(-3))).toEqual(ASKED_AS_BOTH)
      },
    )
  })
}
