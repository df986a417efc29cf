import { connect, type AddressInfo, type Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setInterval as every, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Http } from '../src/http-type.ts'
import { createHttp } from '../src/http.ts'
import { createLogger } from '../src/logger.ts'

// Only the caller is slow; nothing depends on how soon the server notices.

let app: Http
let hurried: Http
beforeAll(async () => {
  app = await listen({ uploadRate: { everyMs: 300, leastBytes: 100 }, longestRequestMs: 0 })
  hurried = await listen({ longestRequestMs: 1000 })
})
afterAll(async () => {
  await app.close()
  await hurried.close()
})

async function listen(
  options: Partial<Parameters<typeof createHttp>[0]>,
  addRoutes: (app: Http) => unknown = () => {},
): Promise<Http & AsyncDisposable> {
  const made = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }), ...options })
  made.post('/echo', async (request) => ({ body: request.body }))
  const refuse = async () => {
    throw Object.assign(new Error('no'), { statusCode: 400 })
  }
  made.post('/refused', { onRequest: refuse }, refuse)
  addRoutes(made)
  await made.listen({ host: '127.0.0.1', port: 0 })
  return made
}

/** Sends a head, then a byte at a time until the server ends the connection; returns the answer. */
async function drip({ server }: Http, path: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const said = read(socket)
  const ended = new AbortController()
  void said.then(() => ended.abort())
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n[`)
  try {
    for await (const _ of every(50, null, { signal: ended.signal })) socket.write(' ')
  } catch {
    // The server has ended it.
  }
  return said
}

function read(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

test('a body that drips is 408, however long the request may take', async () => {
  const answer = await drip(app, '/echo')
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toContain('BODY_TOO_SLOW')
})

test('a body that came while the server could not look is taken', async () => {
  const stall = async () => {
    socket.write('"x"')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
  await using stalled = await listen({ uploadRate: { everyMs: 20, leastBytes: 1_000_000 } }, (made) =>
    made.post('/stalls', { onRequest: stall }, async () => 'ok'),
  )
  const { port } = stalled.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const head = `POST /stalls HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: 3\r\n\r\n`)
  expect(await read(socket)).toMatch(/^HTTP\/1\.1 200 /)
})

test('an injected request has its body, however long it takes', async () => {
  await using slow = await listen({ uploadRate: { everyMs: 10, leastBytes: 1_000_000 } }, (made) =>
    made.post('/slow', async () => await sleep(100, 'ok')),
  )
  const { statusCode } = await slow.inject({ method: 'POST', url: '/slow', payload: { a: 1 } })
  expect(statusCode).toBe(200)
})

test('a request that takes too long is 408, however fast its bytes come', async () => {
  expect(await drip(hurried, '/echo')).toMatch(/^HTTP\/1\.1 408 /)
})

test('a refusal is told at once, and the connection of who goes on dripping is ended', async () => {
  expect(await drip(app, '/refused')).toMatch(/^HTTP\/1\.1 400 /)
})

test('a refused upload gets its answer although it was not read', async () => {
  const { port } = app.server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/refused`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify('x'.repeat(5_000_000)),
  })
  expect(response.status).toBe(400)
})

test('a caller that asks for the connection to be closed and writes all before it reads sees the refusal', async () => {
  const { port } = app.server.address() as AddressInfo
  const body = JSON.stringify('x'.repeat(5_000_000))
  const socket = connect({ port, host: '127.0.0.1' })
  socket.pause()
  const head = `POST /refused HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: ${body.length}\r\n\r\n`)
  for (let at = 0; at < body.length; at += 500_000) {
    await promisify((part: string, done: (error?: Error | null) => void) => socket.write(part, done))(
      body.slice(at, at + 500_000),
    )
  }
  expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 400 /)
})

test('bodies nested too deeply are 400', async () => {
  const payload = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const response = await app.inject({
    method: 'POST',
    url: '/echo',
    payload,
    headers: { 'content-type': 'application/json' },
  })
  expect(response.json()).toMatchObject({ status: 400, code: 'BODY_TOO_DEEP' })
})
