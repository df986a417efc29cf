import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Http } from '../src/http-type.ts'
import { createHttp } from '../src/http.ts'
import { createLogger } from '../src/logger.ts'
import { onWebSocket } from '../src/websocket.ts'
import { discardRest, lingerOnClose, type RestLimits } from '../src/edge/unread-bodies.ts'

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

const portOf = (server: Server) => (server.address() as AddressInfo).port

interface Sent {
  readonly version?: string
  readonly method?: string
  readonly chunked?: boolean
  readonly close?: boolean
  readonly headers?: string
}

/** Writes the whole request before it reads anything. Resolves to the answer's bytes until its end or the connection's. */
async function writeThenRead(path: string, sent: Sent): Promise<string> {
  const { method = 'GET', version = '1.1', chunked, close, headers = '' } = sent
  const socket = connect({ port: portOf(app.server), host: '127.0.0.1', allowHalfOpen: true })
  socket.pause()
  const length = chunked ? 'transfer-encoding: chunked' : `content-length: ${BODY.length}`
  const kept = `${close ? 'connection: close\r\n' : ''}${headers}`
  socket.write(
    `${method} ${path} HTTP/${version}\r\nhost: x\r\ncontent-type: application/octet-stream\r\n${kept}${length}\r\n\r\n`,
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

test('HTTP/1.0 with an unread body is answered', async () => {
  expect(await writeThenRead('/text', { version: '1.0', close: true })).toMatch(/^HTTP\/1\.1 200 .*text$/s)
})

test('refusals of many uploads on one connection leave no listener on it', async () => {
  const warned: Error[] = []
  const onWarning = (warning: Error) => warned.push(warning)
  process.on('warning', onWarning)
  const socket = connect(portOf(app.server), '127.0.0.1')
  for (let i = 0; i < 12; i++) {
    socket.write('POST /missing HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\na')
    await once(socket, 'data')
    socket.write('b')
  }
  socket.destroy()
  process.off('warning', onWarning)
  expect(warned).toEqual([])
})

test('a request behind the last answer of a connection is not served', async () => {
  const served: string[] = []
  await using server = await serveWith((request, response) => {
    served.push(request.url!)
    response.writeHead(200, { connection: 'close' }).end('text')
  })
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  socket.write('POST /first HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n')
  await once(socket, 'readable')
  const closed = once(socket.resume(), 'close')
  socket.write('abcPOST /second HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nd')
  await closed
  expect(served).toEqual(['/first'])
})

const trickle = async (socket: Socket) => {
  while (!socket.destroyed) await new Promise<void>((done) => socket.write('x', () => setTimeout(done, 5)))
}

describe.each(['close', 'keep-alive'])('after an answer with connection: %s', (connection) => {
  test.each([
    ['stop sending', async () => {}, { silentMs: 50, longestMs: 60_000 }],
    ['never stop sending', trickle, { silentMs: 60_000, longestMs: 200 }],
  ])('the connections of 50 callers that %s are closed', async (_, goOn, limits) => {
    await using server = await serveWith(
      (_request, response) => response.writeHead(200, { connection }).end('text'),
      limits,
    )
    const sockets = Array.from({ length: 50 }, () =>
      connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {}),
    )
    const answered = sockets.map(async (socket) => {
      socket.write('OPTIONS / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nx')
      await once(socket, 'data')
    })
    await Promise.all(answered)
    const sending = sockets.map(goOn)
    await expect.poll(server.connections).toBe(0)
    for (const socket of sockets) socket.destroy()
    await Promise.all(sending)
  })
})

test('a caller that is gone before its refusal starts no timer', async () => {
  const started = vi.spyOn(globalThis, 'setInterval')
  let isRefused = false
  await using server = await serveWith((request) => {
    request.once('close', () => {
      discardRest(request)
      isRefused = true
    })
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n')
  await expect.poll(server.connections).toBe(1)
  socket.destroy()
  await expect.poll(() => isRefused).toBe(true)
  expect(started).not.toHaveBeenCalled()
  started.mockRestore()
})

test('a caller is answered by a handler whose pipeline refuses the body', async () => {
  await using server = await serveWith((request, response) => {
    const refuse = new Writable({ write: (_chunk, _encoding, done) => done(new Error('too large')) })
    // Node takes the connection from the request of a pipeline that fails.
    pipeline(request, refuse).catch(() => response.writeHead(413).end('too large'))
  })
  const body = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(1000))
      await sleep(20)
    },
  })
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit
  const response = await fetch(`http://127.0.0.1:${server.port}`, init)
  expect([response.status, await response.text()]).toEqual([413, 'too large'])
})

test('a refusal of an injected request starts no timer', async () => {
  const started = vi.spyOn(globalThis, 'setInterval')
  const headers = { 'content-type': 'application/json' }
  await app.inject({ method: 'POST', url: '/missing', headers, payload: '{}' })
  expect(started.mock.calls.filter(([, ms]) => ms === 5000)).toEqual([])
  started.mockRestore()
})

async function serveWith(listener: RequestListener, limits?: RestLimits) {
  const server = createServer(listener)
  lingerOnClose(server, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    connections: () => promisify(server.getConnections.bind(server))(),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
