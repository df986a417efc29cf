import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const FLOOD = 64 * 1024 * 1024

/** Requests to the service behind the origin, and the service's ends of the WebSockets. */
const asked: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = []
const sockets: Socket[] = []
let flooded = 0

const service = createServer((request, response) => {
  asked.push({ url: request.url!, headers: request.headers })
  response.writeHead(request.url!.endsWith('/refuses') ? 403 : 200, { 'set-cookie': 'a=1', 'x-own': 'kept' })
  response.end('no sockets here')
})
service.on('upgrade', (request: IncomingMessage, socket: Socket) => {
  const { url, headers } = request
  asked.push({ url: url!, headers })
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  if (url!.endsWith('/refuses')) {
    socket.end('HTTP/1.1 403 Forbidden\r\nset-cookie: a=1\r\nx-own: kept\r\nconnection: close\r\n\r\nno sockets here')
    return
  }
  sockets.push(socket)
  const accept = createHash('sha1')
    .update(headers['sec-websocket-key']! + GUID)
    .digest('base64')
  const chosen = headers['sec-websocket-protocol'] === undefined ? '' : 'sec-websocket-protocol: v2\r\n'
  const own = `sec-websocket-accept: ${accept}\r\n${chosen}set-cookie: a=1\r\nx-own: kept`
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${own}\r\n\r\n`)
  if (url!.endsWith('/floods')) flood(socket)
  else socket.on('data', (bytes: Buffer) => answer(socket, unmasked(bytes)))
})

/** Sends a frame back; after a close frame, the server ends the connection. */
function answer(socket: Socket, frame: Buffer): void {
  socket.write(frame)
  if ((frame[0]! & 0x0f) === 8) socket.end()
}

/** Writes as fast as the other end reads. */
function flood(socket: Socket): void {
  const chunk = Buffer.alloc(1 << 20, 'x')
  const more = () => {
    for (let taken = true; taken && flooded < FLOOD;) {
      taken = socket.write(chunk)
      flooded += chunk.length
    }
  }
  socket.on('drain', more)
  more()
}

/** The frames of a client as a server would send them; for texts of up to 125 bytes, with one frame per chunk. */
function unmasked(frame: Buffer): Buffer {
  const size = frame[1]! & 0x7f
  const mask = frame.subarray(2, 6)
  const body = frame.subarray(6, 6 + size).map((byte, i) => byte ^ mask[i % 4]!)
  return Buffer.concat([Buffer.from([frame[0]!, size]), body])
}

let origin: TestOrigin
let own: TestOrigin
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const TERRANE_FUNCTIONS_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  origin = await openOrigin({ TERRANE_FUNCTIONS_URL })
  own = await openOrigin({ TERRANE_FUNCTIONS_URL, TERRANE_FUNCTIONS_OWN_ORIGIN: 'true' }, origin)
})
afterAll(async () => {
  await own[Symbol.asyncDispose]()
  await origin[Symbol.asyncDispose]()
  service.closeAllConnections()
  service.close()
})
beforeEach(() => {
  asked.length = 0
  sockets.length = 0
  flooded = 0
})

/** Requests a WebSocket by hand; resolves when the head of the answer has arrived. */
async function raw({ url }: TestOrigin, path: string, headers: readonly string[] = ['upgrade: websocket'], key = KEY) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const lines = [`GET ${path} HTTP/1.1`, `host: ${hostname}`, 'connection: Upgrade', 'sec-websocket-version: 13']
  socket.write([...lines, `sec-websocket-key: ${key}`, ...headers, '', ''].join('\r\n'))
  let received = ''
  const hear = (chunk: Buffer) => (received += chunk.toString('latin1'))
  socket.on('data', hear)
  const closed = once(socket, 'close')
  await expect.poll(() => received.includes('\r\n\r\n') || socket.destroyed).toBe(true)
  const head = received.split('\r\n\r\n', 1)[0]!.toLowerCase()
  return { socket, head, status: Number(head.split(' ')[1]), closed, received: () => received, hear }
}

describe('WebSockets into functions', () => {
  test('messages pass both ways, with the path, the credentials and whom the origin saw', async () => {
    const socket = new WebSocket(`${origin.url.replace('http', 'ws')}/functions/v1/echo?room=1`, ['chat', 'v2'])
    await once(socket, 'open')
    expect(socket.protocol).toBe('v2')
    socket.close()
    expect(asked[0]).toMatchObject({
      url: '/functions/v1/echo?room=1',
      headers: { 'sec-websocket-protocol': 'chat, v2', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' },
    })

    const echo = new WebSocket(`${origin.url.replace('http', 'ws')}/functions/v1/echo`)
    const heard: unknown[] = []
    echo.addEventListener('message', ({ data }) => heard.push(data))
    await once(echo, 'open')
    echo.send('meow')
    await expect.poll(() => heard).toEqual(['meow'])
    echo.close(4000, 'bye')
    const [event] = (await once(echo, 'close')) as [CloseEvent]
    expect(event).toMatchObject({ code: 4000, reason: 'bye', wasClean: true })
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
  })

  test('an answer sets no header for a shared origin, nor does an accepted upgrade', async () => {
    const shared = await raw(origin, '/functions/v1/echo')
    expect([shared.status, shared.head.includes('set-cookie'), shared.head.includes('x-own: kept')]).toEqual([
      101,
      false,
      true,
    ])
    shared.socket.destroy()
    const alone = await raw(own, '/functions/v1/echo')
    expect(alone.head).toContain('set-cookie: a=1')
    alone.socket.destroy()
  })

  test('who is refused hears why', async () => {
    const refused = await raw(origin, '/functions/v1/refuses')
    await refused.closed
    expect(refused.status).toBe(403)
    expect(refused.received()).toContain('no sockets here')
    expect(refused.head).toContain('x-own: kept')
    expect(refused.head).not.toContain('set-cookie')
    expect(refused.head).toContain('content-security-policy')
  })

  test.each(['', 'bad', 'dGhlIHNhbXBsZSBub25jZR==', `${KEY}, ${KEY}`, 'dGhlIHNhbXBsZSBub25jZQ'])(
    'a handshake with the key %j is refused before the function sees it',
    async (key) => {
      const refused = await raw(origin, '/functions/v1/echo', ['upgrade: websocket'], key)
      await refused.closed
      expect(refused.status).toBe(400)
      expect(refused.head).toContain('sec-websocket-version: 13')
      expect(refused.received()).toContain('WEBSOCKET_HANDSHAKE')
      expect(asked).toEqual([])
    },
  )

  test('other upgrades, and those of other paths, are requests like any', async () => {
    const other = await raw(origin, '/functions/v1/echo', ['upgrade: h2c'])
    expect(other.status).toBe(200)
    other.socket.destroy()
    const elsewhere = await raw(origin, '/rest/v1/')
    expect(elsewhere.status).toBe(401)
    elsewhere.socket.destroy()
    const worker = await raw(origin, '/worker/jobs')
    expect(worker.status).toBe(503)
    worker.socket.destroy()
    expect(sockets).toEqual([])
  })

  test('when one end goes, the other hears of it', async () => {
    const left = await raw(origin, '/functions/v1/echo')
    left.socket.destroy()
    await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true])
    const dropped = await raw(origin, '/functions/v1/echo')
    sockets[1]!.destroy()
    await dropped.closed
  })

  test('a connection that is reset ends no process, and the other end hears of it', async () => {
    const left = await raw(origin, '/functions/v1/echo')
    // A rejection without a handler would end the run.
    left.socket.resetAndDestroy()
    await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true])
    const dropped = await raw(origin, '/functions/v1/echo')
    sockets[1]!.resetAndDestroy()
    await dropped.closed
  })

  test('a caller that reads slowly holds the function back, and loses nothing', async () => {
    const slow = await raw(origin, '/functions/v1/floods')
    slow.socket.off('data', slow.hear)
    slow.socket.pause()
    await expect
      .poll(async () => {
        const before = flooded
        await new Promise((resolve) => setTimeout(resolve, 100))
        return flooded === before
      })
      .toBe(true)
    expect(flooded).toBeLessThan(FLOOD)
    let bytes = slow.received().split('\r\n\r\n', 2)[1]!.length
    slow.socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
    slow.socket.resume()
    await expect.poll(() => bytes).toBe(FLOOD)
    slow.socket.destroy()
  })

  test('a service that does not answer is an error of its own; a stop ends what is open', async () => {
    const gone = await openOrigin({ TERRANE_FUNCTIONS_URL: 'http://127.0.0.1:9' }, origin)
    const refused = await raw(gone, '/functions/v1/echo')
    expect(refused.status).toBe(503)
    await refused.closed
    expect(refused.received()).toContain('SERVICE_DOWN')
    await gone[Symbol.asyncDispose]()

    const ends = await openOrigin(
      { TERRANE_FUNCTIONS_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}` },
      origin,
    )
    const open = await raw(ends, '/functions/v1/echo')
    expect(open.status).toBe(101)
    await ends[Symbol.asyncDispose]()
    await open.closed
    await expect.poll(() => sockets.at(-1)!.destroyed).toBe(true)
  })
})
