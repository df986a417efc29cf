import { createServer } from 'node:net'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRandom } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { InvalidResponse, ResponseReader } from './response-reader.ts'

/** The reader's output for the bytes: heads, body and ends in order, or the error. */
function read(
  bytes: Buffer,
  options: { bodiless?: boolean; switches?: boolean; cuts?: readonly number[]; closed?: boolean } = {},
) {
  const reader = new ResponseReader()
  const seen = { status: 0, headers: [] as string[], body: '', ended: 0, error: '', reusable: false }
  const body: Buffer[] = []
  reader.expect(
    {
      onHead: (status, headers) => Object.assign(seen, { status, headers }),
      onData: (chunk) => body.push(chunk),
      onEnd: () => seen.ended++,
    },
    options.bodiless ? 'head' : options.switches ? 'switch' : 'body',
  )
  try {
    let at = 0
    for (const cut of [...(options.cuts ?? []), bytes.length]) {
      reader.push(bytes.subarray(at, cut))
      at = cut
    }
    if (options.closed) reader.close()
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error
    seen.error = error.message
  }
  return { ...seen, body: Buffer.concat(body).toString('latin1'), reusable: reader.reusable }
}
const text = (...lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1')

test.each([
  ['with a length', text('HTTP/1.1 200 OK', 'content-length: 3', '', 'abc'), 'abc'],
  ['with the same length twice', text('HTTP/1.1 200 OK', 'content-length: 3', 'Content-Length: 3', '', 'abc'), 'abc'],
  ['of length zero', text('HTTP/1.1 200 OK', 'content-length: 0', '', ''), ''],
  [
    'in chunks',
    text('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '3', 'abc', 'A;x=y', '0123456789', '0', '', ''),
    'abc0123456789',
  ],
  [
    'in chunks with trailers',
    text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '1', 'a', '0', 'x: y', '', ''),
    'a',
  ],
  ['without a reason phrase', text('HTTP/1.1 200 ', 'content-length: 1', '', 'a'), 'a'],
  [
    'after interim ones',
    text(
      'HTTP/1.1 103 Early',
      'link: x',
      '',
      'HTTP/1.1 100 Continue',
      '',
      'HTTP/1.1 200 OK',
      'content-length: 1',
      '',
      'a',
    ),
    'a',
  ],
])('a response %s', (_, bytes, body) => {
  const expected = { status: 200, body, ended: 1, error: '', reusable: true }
  expect(read(bytes)).toMatchObject(expected)
  const everywhere = Array.from({ length: bytes.length - 1 }, (_each, i) => i + 1)
  expect(read(bytes, { cuts: everywhere })).toMatchObject(expected)
})

test('a response that ends with its connection', () => {
  const bytes = text('HTTP/1.1 200 OK', '', 'abc')
  expect(read(bytes)).toMatchObject({ body: 'abc', ended: 0 })
  expect(read(bytes, { closed: true })).toMatchObject({ body: 'abc', ended: 1, reusable: false, error: '' })
})

test('a response without a body by its nature', () => {
  for (const status of ['204 No Content', '304 Not Modified'])
    expect(read(text(`HTTP/1.1 ${status}`, 'content-length: 5', '', ''))).toMatchObject({ ended: 1, body: '' })
  expect(read(text('HTTP/1.1 200 OK', 'content-length: 5', '', ''), { bodiless: true })).toMatchObject({
    ended: 1,
    body: '',
  })
})

test('a connection that is to be closed is not used again', () => {
  expect(read(text('HTTP/1.1 200 OK', 'connection: close', 'content-length: 1', '', 'a')).reusable).toBe(false)
})

describe('what is refused', () => {
  test.each([
    ['another protocol', text('HTTP/1.0 200 OK', '', '')],
    ['no protocol', text('ICY 200 OK', '', '')],
    ['a status of two digits', text('HTTP/1.1 20 OK', '', '')],
    ['a status of four digits', text('HTTP/1.1 2000 OK', '', '')],
    ['a protocol switch', text('HTTP/1.1 101 Switching Protocols', 'upgrade: x', '', '')],
    ['both length and chunks', text('HTTP/1.1 200 OK', 'content-length: 3', 'transfer-encoding: chunked', '', 'abc')],
    ['two lengths', text('HTTP/1.1 200 OK', 'content-length: 3', 'content-length: 4', '', 'abcd')],
    ['a list of lengths', text('HTTP/1.1 200 OK', 'content-length: 3, 3', '', 'abc')],
    ['a negative length', text('HTTP/1.1 200 OK', 'content-length: -1', '', '')],
    ['a length in hex', text('HTTP/1.1 200 OK', 'content-length: 0x3', '', 'abc')],
    ['a length beyond measure', text('HTTP/1.1 200 OK', 'content-length: 9999999999999999', '', '')],
    ['an unknown coding', text('HTTP/1.1 200 OK', 'transfer-encoding: gzip', '', '')],
    ['a coding before chunked', text('HTTP/1.1 200 OK', 'transfer-encoding: gzip, chunked', '', '')],
    ['a folded header', text('HTTP/1.1 200 OK', 'a: b', ' c', '', '')],
    ['a header without a colon', text('HTTP/1.1 200 OK', 'abc', '', '')],
    ['a header without a name', text('HTTP/1.1 200 OK', ': b', '', '')],
    ['a space before the colon', text('HTTP/1.1 200 OK', 'content-length : 3', '', 'abc')],
    ['a bare line feed', text('HTTP/1.1 200 OK', 'a: b\nc: d', '', '')],
    ['a bare carriage return', text('HTTP/1.1 200 OK', 'a: b\rc: d', '', '')],
    ['a null character', text('HTTP/1.1 200 OK', 'a: b\0c', '', '')],
    ['a chunk size that is none', text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', 'x', '')],
    ['a chunk size with a sign', text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '+3', 'abc', '0', '', '')],
    ['a chunk that is too long', text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '1', 'abc', '0', '', '')],
    ['a chunk line without end', text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '1'.repeat(300))],
    ['bytes after the end', text('HTTP/1.1 200 OK', 'content-length: 1', '', 'abHTTP/1.1 200 OK')],
    [
      'a second response',
      text('HTTP/1.1 200 OK', 'content-length: 0', '', 'HTTP/1.1 200 OK', 'content-length: 0', '', ''),
    ],
    ['a head without end', Buffer.concat([text('HTTP/1.1 200 OK', 'a: '), Buffer.alloc(40_000, 'x')])],
    ['headers without end', text('HTTP/1.1 200 OK', ...Array.from({ length: 3000 }, (_, i) => `h${i}: value`))],
  ])('%s', (_, bytes) => {
    expect(read(bytes)).toMatchObject({ error: expect.stringMatching(/./) as string, ended: 0 })
  })

  test.each([
    ['in the head', text('HTTP/1.1 200 OK', 'content-le')],
    ['in the body', text('HTTP/1.1 200 OK', 'content-length: 5', '', 'ab')],
    ['between chunks', text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '1', 'a', '')],
    ['in the trailers', text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '0', '')],
  ])('an end %s', (_, bytes) => {
    expect(read(bytes, { closed: true })).toMatchObject({ error: 'the response was cut short', ended: 0 })
  })
})

describe('against Node’s own client', () => {
  test('random responses, cut at random, are read alike; damaged ones are read alike or refused', async () => {
    const random = seededRandom(20_261)
    const pick = (count: number) => Math.floor(random() * count)
    const current: { bytes: Buffer } = { bytes: Buffer.alloc(0) }
    const server = createServer((socket) => {
      socket.once('data', () => socket.end(current.bytes))
      socket.on('error', () => {})
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const misread: unknown[] = []
    for (let round = 0; round < 400; round++) {
      const body = Buffer.from(Array.from({ length: pick(60) }, () => pick(256)))
      const damaged = round % 2 === 1
      current.bytes = compose(body, pick)
      if (damaged) for (let i = 0; i <= pick(3); i++) current.bytes[pick(current.bytes.length)] = pick(256)
      const cuts = Array.from({ length: pick(4) }, () => pick(current.bytes.length)).toSorted((a, b) => a - b)
      const ours = read(current.bytes, { cuts, closed: true })
      const whole = ours.error === '' && ours.ended === 1 && ours.body === body.toString('latin1')
      const theirs = ours.error === '' ? await viaNode(port) : null
      const alike = theirs === null || (theirs.status === ours.status && theirs.body === ours.body)
      if (!alike || (!damaged && !whole)) misread.push({ round, bytes: current.bytes.toString('latin1'), ours, theirs })
    }
    expect(misread).toEqual([])
    server.close()
  })
})

function compose(body: Buffer, pick: (count: number) => number): Buffer {
  const headers = Array.from({ length: pick(5) }, (_, i) => `x-h${i}: ${'v'.repeat(pick(20))}`)
  const start = [`HTTP/1.1 ${200 + pick(3) * 100} Reason`, ...headers]
  switch (pick(3)) {
    case 0:
      return Buffer.concat([text(...start, `content-length: ${body.length}`, '', ''), body])
    case 1:
      return Buffer.concat([text(...start, 'connection: close', '', ''), body])
    default: {
      const parts: Buffer[] = [text(...start, 'transfer-encoding: chunked', '', '')]
      for (let at = 0; at < body.length;) {
        const size = 1 + pick(body.length - at)
        parts.push(text(size.toString(16), ''), body.subarray(at, at + size), text('', ''))
        at += size
      }
      return Buffer.concat([...parts, text('0', '', '')])
    }
  }
}

/** Status and body as Node reads them; null when it refuses them. */
function viaNode(port: number): Promise<{ status: number; body: string } | null> {
  return new Promise((resolve) => {
    const call = request({ port, host: '127.0.0.1', agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => resolve(null))
      response.on('end', () =>
        resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString('latin1') }),
      )
    })
    call.on('error', () => resolve(null))
    call.end()
  })
}
