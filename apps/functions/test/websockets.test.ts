// Slow: each connection starts an instance, and some wait for its limits.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

/** Echoes every message, and reports the headers that it received. */
const ECHO = `Deno.serve((request) => {
  if (request.headers.get('upgrade') !== 'websocket') return new Response('plain', { status: 426 })
  const names = [...request.headers.keys()].filter((name) => /terrane-(?!call)|extens/.test(name))
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 })
  socket.binaryType = 'arraybuffer'
  socket.onopen = () => socket.send(JSON.stringify(names))
  socket.onmessage = ({ data }) => { if (data === 'close') socket.close(4000, 'bye'); else socket.send(data) }
  return response
})`

/** The same over \`node:http\`, as the library ws does it: a frame whose text is short enough for one byte of length. */
const NODE_ECHO = `import { createServer } from 'node:http'
import { createHash } from 'node:crypto'
const server = createServer((_request, response) => response.end('plain'))
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  console.log('upgraded')
  const send = (text) => socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]))
  send(request.url)
  socket.on('data', (frame) => send(Buffer.from(frame.subarray(6)).map((byte, i) => byte ^ frame[2 + (i % 4)]).toString()))
})
server.listen(8080)`

/** The messages of a WebSocket in order, and how it was closed. */
function open(url: string, protocols: string[] = []) {
  const socket = new WebSocket(url.replace('http', 'ws'), protocols)
  const heard: unknown[] = []
  socket.addEventListener('message', ({ data }) => heard.push(data))
  const closed = once(socket, 'close').then(([event]) => event as CloseEvent)
  const opened = Promise.race([once(socket, 'open'), closed.then(() => Promise.reject(new Error('it did not open')))])
  opened.catch(() => {})
  return { socket, heard, closed, opened }
}

/** Asks for a WebSocket with other headers than a client would send; resolves with the head of the answer. */
async function raw(host: TestHost, name: string, headers: readonly string[] = [], after: Buffer = Buffer.alloc(0)) {
  const { hostname, port } = new URL(host.origin)
  const socket: Socket = connect(Number(port), hostname)
  const lines = [`GET /functions/v1/${name} HTTP/1.1`, `host: ${hostname}`, 'connection: Upgrade', 'upgrade: websocket']
  const asked = [...lines, 'sec-websocket-version: 13', `sec-websocket-key: ${KEY}`, ...headers, '', ''].join('\r\n')
  socket.write(Buffer.concat([Buffer.from(asked), after]))
  const chunks: Buffer[] = []
  const received = () => Buffer.concat(chunks).toString('latin1')
  const bytes = () => chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const closed = once(socket, 'close')
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await expect.poll(() => received().includes('\r\n\r\n') || socket.destroyed, { timeout: 15_000 }).toBe(true)
  const head = received().split('\r\n\r\n', 1)[0]!
  return { socket, head, status: Number(head.split(' ')[1]), closed, received, bytes }
}

/** A masked frame of the caller. */
function frame(opcode: number, text: string, isLast = true): Buffer {
  const body = Buffer.from(text)
  const size = body.length < 126 ? [0x80 | body.length] : [0xfe, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, ...size, 0, 0, 0, 0]), body])
}

for (const profile of ['standard', 'hardened'] as const) {
  const { probed, title } = await tryRuntime('deno', profile)
  describe.skipIf(!probed)(`WebSockets into functions: ${title}`, () => {
    let host: TestHost
    beforeAll(async () => {
      host = await startHost(probed!)
      await host.deploy('echo', ECHO)
    })
    afterAll(() => host[Symbol.asyncDispose]())

    test('messages go both ways, of any size and kind, and either end closes', async () => {
      const { socket, heard, opened, closed } = open(host.url('echo'))
      await opened
      socket.binaryType = 'arraybuffer'
      const large = 'x'.repeat(300_000)
      socket.send('meow')
      socket.send(large)
      socket.send(new Uint8Array([1, 2, 3]))
      await expect.poll(() => heard.length).toBe(4)
      // Nothing of the host's, and no extension of WebSocket.
      expect(heard.slice(0, 3)).toEqual(['[]', 'meow', large])
      expect([...new Uint8Array(heard[3] as ArrayBuffer)]).toEqual([1, 2, 3])
      socket.send('close')
      expect(await closed).toMatchObject({ code: 4000, reason: 'bye', wasClean: true })
      await expect.poll(() => host.finished.at(-1)).toMatchObject({ status: 101, problem: '' })

      const second = open(host.url('echo'))
      await second.opened
      second.socket.close(1000)
      expect(await second.closed).toMatchObject({ code: 1000, wasClean: true })
      await expect.poll(() => host.finished.filter(({ status }) => status === 101).length).toBe(2)
    })

    test('a server of node:http gets the upgrade with its own path, and its output is told of the call', async () => {
      await host.deploy('nodes', NODE_ECHO)
      const { socket, heard, opened } = open(`${host.url('nodes')}/room?a=1`)
      await opened
      socket.send('meow')
      await expect.poll(() => heard).toEqual(['/nodes/room?a=1', 'meow'])
      socket.close()
      expect(await (await fetch(host.url('nodes'))).text()).toBe('plain')
      await expect.poll(() => host.lines.find(({ text }) => text === 'upgraded')?.requestId).toBeTruthy()
    })

    test('a plain call, and an upgrade to anything else, get the plain answer', async () => {
      const plain = await fetch(host.url('echo'))
      expect([plain.status, await plain.text()]).toEqual([426, 'plain'])
      await host.deploy('deaf', `export default () => new Response('no sockets here', { status: 400 })`)
      const refused = await raw(host, 'deaf')
      expect(refused.status).toBe(400)
      await refused.closed
      expect(refused.received()).toContain('no sockets here')
    })

    test('credentials, methods, origins and the switch of the policy hold before the function hears of it', async () => {
      await host.deploy('guarded', ECHO, { policy: { auth: 'anon' } })
      await host.deploy('posts', ECHO, { policy: { methods: ['POST'] } })
      await host.deploy('off', ECHO, { policy: { websocket_ms: 0 } })
      await host.deploy('pages', ECHO, { policy: { cors: ['https://a.test'] } })
      const statusOf = async (name: string, headers: string[] = []) => {
        const { socket, status } = await raw(host, name, headers)
        socket.destroy()
        return status
      }
      expect(await statusOf('guarded')).toBe(401)
      expect(await statusOf('guarded', ['apikey: anon'])).toBe(101)
      expect(await statusOf('posts')).toBe(405)
      expect(await statusOf('off')).toBe(403)
      expect(await statusOf('absent')).toBe(404)
      expect(await statusOf('pages', ['origin: https://b.test'])).toBe(403)
      expect(await statusOf('pages', ['origin: https://a.test'])).toBe(101)
    })

    test('the subprotocol is agreed upon; extensions and headers of the host are not', async () => {
      const { head, socket } = await raw(host, 'echo', [
        'sec-websocket-extensions: permessage-deflate',
        'x-terrane-call: 1',
        'x-terrane-claims: {}',
      ])
      socket.destroy()
      const accept = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      expect(head.toLowerCase()).toContain(`sec-websocket-accept: ${accept.toLowerCase()}`)
      expect(head.toLowerCase()).not.toContain('extensions')
      expect(head.toLowerCase()).toContain('x-request-id')
    })

    test('what comes with the request itself is the beginning of the first message', async () => {
      const { received, socket } = await raw(host, 'echo', [], frame(1, 'early'))
      await expect.poll(() => received()).toContain('early')
      socket.destroy()
    })

    test('a message beyond body_bytes ends it, whole or in parts; many small ones do not', async () => {
      await host.deploy('small', ECHO, { policy: { body_bytes: 1000 } })
      const { socket, heard, opened, closed } = open(host.url('small'))
      await opened
      for (let i = 0; i < 50; i++) socket.send('y'.repeat(900))
      await expect.poll(() => heard.length).toBe(51)
      socket.send('z'.repeat(1001))
      expect(await closed).toMatchObject({ wasClean: false })
      await expect.poll(() => host.finished.at(-1)?.problem).toBe('message_bytes')

      const parts = Array.from({ length: 20 }, (_, i) => frame(i === 0 ? 1 : 0, 'p'.repeat(60), false))
      const inParts = await raw(host, 'small', [], Buffer.concat(parts))
      await inParts.closed
      await expect.poll(() => host.finished.filter(({ problem }) => problem === 'message_bytes').length).toBe(2)
    })

    test('one that stays silent, or open for longer than it may, is closed', async () => {
      await host.deploy('silent', ECHO, { policy: { idle_ms: 1000 } })
      await host.deploy('brief', ECHO, { policy: { websocket_ms: 1000 } })
      const silent = open(host.url('silent'))
      const brief = open(host.url('brief'))
      await Promise.all([silent.opened, brief.opened])
      const talk = setInterval(() => brief.socket.send('still here'), 50)
      await Promise.all([silent.closed, brief.closed])
      clearInterval(talk)
      const problems = () => host.finished.map(({ problem }) => problem)
      await expect.poll(problems).toEqual(expect.arrayContaining(['silent', 'timeout']))
    })

    test('half of the places are for requests, and an ended WebSocket frees its place', async () => {
      await host.deploy('few', ECHO, { policy: { concurrency: 4, max: 1 } })
      const first = [await raw(host, 'few'), await raw(host, 'few')]
      expect(first.map(({ status }) => status)).toEqual([101, 101])
      expect((await raw(host, 'few')).status).toBe(503)
      expect((await fetch(host.url('few'))).status).toBe(426)
      first[0]!.socket.destroy()
      const again = async () => {
        const { status, socket } = await raw(host, 'few')
        if (status !== 101) socket.destroy()
        return status
      }
      await expect.poll(again, { timeout: 10_000 }).toBe(101)
    })

    test('one whose instance ends is cut, and the next call is answered', async () => {
      await host.deploy(
        'dying',
        `Deno.serve((request) => {
           if (!request.headers.get('upgrade')) return new Response('alive')
           const { socket, response } = Deno.upgradeWebSocket(request)
           socket.onmessage = () => { for (;;); }
           return response
         })`,
        { policy: { block_ms: 300 } },
      )
      const { socket, opened, closed } = open(host.url('dying'))
      await opened
      socket.send('loop')
      expect(await closed).toMatchObject({ wasClean: false })
      expect(await (await fetch(host.url('dying'))).text()).toBe('alive')
    })

    test.each([
      ['no HTTP', `socket.write('no HTTP at all\\r\\n\\r\\n')`, 502],
      ['a switch with a body', `socket.write('HTTP/1.1 101 S\\r\\ncontent-length: 3\\r\\n\\r\\nabc')`, 502],
      [
        'a switch in chunks',
        `socket.write('HTTP/1.1 101 S\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n')`,
        502,
      ],
      ['a head without end', `for (let i = 0; i < 5000; i++) socket.write('x-' + i + ': y\\r\\n')`, 502],
      ['a header with a line break', `socket.write('HTTP/1.1 101 S\\r\\na: b\\nset-cookie: c=d\\r\\n\\r\\n')`, 502],
      ['nothing, and the end', `socket.destroy()`, 502],
      ['nothing at all', `0`, 504],
      [
        'headers of the host',
        `socket.write('HTTP/1.1 101 S\\r\\nx-request-id: forged\\r\\nx-terrane-held: 1\\r\\n\\r\\n'); socket.end()`,
        101,
      ],
    ])('a function that answers an upgrade with %s does no harm', async (_, answer, expected) => {
      await host.deploy(
        'rogue',
        `import http from 'node:http'
         const server = http.createServer((_request, response) => response.end('ok'))
         server.on('upgrade', (_request, socket) => { socket.on('error', () => {}); ${answer} })
         server.listen(1)`,
        { policy: { timeout_ms: 1500 } },
      )
      const { status, head, socket } = await raw(host, 'rogue')
      // Some versions of the runtime do not send answers that are not HTTP.
      expect(expected === 101 ? [101] : [502, 504]).toContain(status)
      expect(head).not.toMatch(/forged|terrane-held|set-cookie/)
      socket.destroy()
      expect(await (await fetch(host.url('rogue'))).text()).toBe('ok')
      expect((await fetch(host.url('echo'))).status).toBe(426)
    })

    test('a caller who does not read makes the function wait, not the host grow', async () => {
      await host.deploy(
        'flood',
        `Deno.serve((request) => {
           const { socket, response } = Deno.upgradeWebSocket(request)
           const block = new Uint8Array(1 << 20)
           let sent = 0
           socket.onopen = () => { const more = () => { if (sent < 24 && socket.bufferedAmount < 1 << 22) { socket.send(block); sent++ } setTimeout(more, 1) }; more() }
           return response
         })`,
      )
      const { socket, bytes } = await raw(host, 'flood')
      socket.pause()
      const before = process.memoryUsage().arrayBuffers
      // A caller of another function is served meanwhile, many times.
      for (let i = 0; i < 50; i++) await (await fetch(host.url('echo'))).text()
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20)
      socket.resume()
      await expect.poll(bytes).toBeGreaterThan(24 << 20)
      socket.destroy()
    })

    test('the host that ends closes what is open', async () => {
      const { opened, closed } = open(host.url('echo'))
      await opened
      host.gateway.closeSockets()
      expect(await closed).toMatchObject({ wasClean: false })
      expect((await raw(host, 'echo')).status).toBe(503)
    })
  })
}
