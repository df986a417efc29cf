import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Http } from '../src/http-type.ts'
import { createHttp } from '../src/http.ts'
import { createLogger } from '../src/logger.ts'
import { onWebSocket } from '../src/websocket.ts'
import { lingerOnClose } from '../src/edge/unread-bodies.ts'

const BODY = Buffer.alloc(10_000_000, 'x')
/** More than the buffers of a connection hold. */
const LARGE = 12_000_000

let app: Http
/** Bytes that the handler of `/reads` has read. */
let readBytes = 0
beforeAll(async () => {
  app = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }), bodyLimit: 2 * BODY.length })
  app.get('/text', async () => 'text')
  app.get('/empty', async (_, reply) => reply.code(204).send())
  app.get('/unchanged', async (_, reply) => reply.code(304).send())
  app.get('/large', async () => Readable.from(parts(LARGE)))
  app.addContentTypeParser('application/octet-stream', (_, payload, done) => done(null, payload))
  app.post('/early', async () => Readable.from(parts(1000)))
  // The answer ends while the handler still reads.
  app.post('/reads', async ({ raw }) => {
    readBytes = 0
    raw.on('data', (chunk: Buffer) => (readBytes += chunk.length))
    return 'text'
  })
  app.post('/raw', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { connection: 'close' }).end('text')
  })
  onWebSocket(app.server, '/sockets/', () => {})
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

async function* parts(bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += 500_000) yield Buffer.alloc(Math.min(500_000, bytes - at), '~')
}

interface Sent {
  readonly method?: string
  readonly chunked?: boolean
  readonly close?: boolean
  readonly headers?: string
}

/** Writes the whole request before it reads anything. Resolves to the answer's bytes until its end or the connection's. */
async function writeThenRead(path: string, { method = 'GET', chunked, close, headers = '' }: Sent): Promise<string> {
  const socket = connect({ port: (app.server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  socket.pause()
  const length = chunked ? 'transfer-encoding: chunked' : `content-length: ${BODY.length}`
  const kept = `${close ? 'connection: close\r\n' : ''}${headers}`
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\n${kept}${length}\r\n\r\n`,
  )
  await writeAll(socket, chunked ? chunksOf(BODY) : [BODY])
  // A connection that stays open ends with the answer to one more request.
  if (!close) socket.write('GET /text HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  const text = (await buffer(socket)).toString('latin1')
  socket.destroy()
  return text
}

async function writeAll(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) if (!socket.write(piece)) await once(socket, 'drain')
}

function chunksOf(body: Buffer): Buffer[] {
  const chunks = []
  for (let at = 0; at < body.length; at += 100_000) {
    const part = body.subarray(at, at + 100_000)
    chunks.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return [...chunks, Buffer.from('0\r\n\r\n')]
}

describe.each([true, false])('connection: close is %s', (close) => {
  test.each([
    ['GET', '/text', 200],
    ['HEAD', '/text', 200],
    ['GET', '/empty', 204],
    ['GET', '/unchanged', 304],
    ['GET', '/large', 200],
    ['GET', '/missing', 404],
    ['POST', '/early', 200],
    ['POST', '/reads', 200],
    ['OPTIONS', '/text', 404],
  ])('%s %s with an unread body of 10 MB is answered', async (method, path, status) => {
    for (const chunked of [false, true]) {
      const text = await writeThenRead(path, { method, chunked, close })
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      if (path === '/large') expect(text.slice(text.indexOf('\r\n\r\n')).split('~').length).toBe(LARGE + 1)
      if (!close) expect(text.split('HTTP/1.1 200 ').length).toBe(status === 200 ? 3 : 2)
    }
  })
})

test('a body is sent after 100 Continue, and the answer is read', async () => {
  const text = await writeThenRead('/text', { close: true, headers: 'expect: 100-continue\r\n' })
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})

test('a handler gets its body whole although its answer has ended', async () => {
  await writeThenRead('/reads', { method: 'POST', close: true })
  expect(readBytes).toBe(BODY.length)
})

test('an answer that is written past Fastify is read, too', async () => {
  expect(await writeThenRead('/raw', { method: 'POST', close: true })).toMatch(/^HTTP\/1\.1 200 .*text/s)
})

test('a WebSocket that is refused with a body on its way is told why', async () => {
  const headers = 'upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const text = await writeThenRead('/sockets/', { close: true, headers: `connection: upgrade\r\n${headers}` })
  expect(text).toMatch(/^HTTP\/1\.1 400 .*it has a body/s)
})

test('a request behind the last answer of a connection is not served', async () => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const type = 'content-type: application/octet-stream'
  const head = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: ${length}\r\n\r\n`
  socket.write(head('/raw', 3))
  await once(socket, 'readable')
  socket.write(`abc${head('/reads', 1)}`)
  const text = (await buffer(socket).catch(() => Buffer.alloc(0))).toString('latin1')
  expect(text.split('HTTP/1.1').length).toBeLessThanOrEqual(2)
})

test.each([
  ['stops sending', async () => {}, { silentMs: 50, longestMs: 60_000 }],
  [
    'never stops sending',
    async (socket: Socket) => {
      while (!socket.destroyed) await new Promise<void>((done) => socket.write('x', () => setTimeout(done, 5)))
    },
    { silentMs: 60_000, longestMs: 200 },
  ],
])('the connection of a caller that %s is closed', async (_, goOn, limits) => {
  const server = createServer((_request, response) => response.writeHead(200, { connection: 'close' }).end('text'))
  lingerOnClose(server, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = (server.address() as AddressInfo).port
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nx')
  const sending = goOn(socket)
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  await once(socket, 'readable')
  await expect.poll(connections).toBe(0)
  server.close()
  socket.destroy()
  await sending
})
