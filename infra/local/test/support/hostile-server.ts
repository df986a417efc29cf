import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

const MIB = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }

/** A server on loopback with answers that exploit its reader. */
export interface HostileServer extends AsyncDisposable {
  /** `127.0.0.1:{port}` */
  readonly host: string
  readonly url: string
  /** Requested paths, each once. */
  readonly asked: ReadonlySet<string>
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

function endless(head: string, chunk: string): Answer {
  const noise = Buffer.from(chunk.repeat(Math.ceil(65_536 / chunk.length)))
  return (_, response) => {
    response.write(head)
    const more = () => {
      while (!response.destroyed && response.write(noise));
      response.once('drain', more)
    }
    more()
  }
}

function drips(text: string): Answer {
  return (_, response) => {
    response.write(text)
    const timer = setInterval(() => response.write(' '), 1000)
    response.once('close', () => clearInterval(timer))
  }
}

/** 200 MB of JSON in 200 kB, with a header that requests decompression. */
const bomb = gzipSync(`{"type":"FeatureCollection","features":[${' '.repeat(200 * MIB)}]}`)
const state = (sequence: string) => `sequenceNumber=${sequence}\ntimestamp=2030-01-01T00\\:00\\:00Z\n`
const page = (links: readonly object[], features: string = '[]') =>
  `{"type":"FeatureCollection","features":${features},"links":${JSON.stringify(links)}}`
const place = (request: IncomingMessage) => URL.parse(request.url!, 'http://x')!

/** Answers by the first part of the path; any other path gives an endless answer. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  'stac-itself': (request, response) => response.end(page([{ rel: 'next', href: request.url }])),
  'stac-circle': (request, response) => {
    const next = Number(place(request).searchParams.get('p') ?? 0) + 1
    response.end(page([{ rel: 'next', href: `?p=${next % 5}` }]))
  },
  'stac-ever': (request, response) => {
    const next = Number(place(request).searchParams.get('p') ?? 0) + 1
    response.end(page([{ rel: 'next', href: `?p=${next}` }]))
  },
  'stac-grows': (request, response) => {
    const body = { [`k${request.url!.length}`]: 'x'.repeat(1000) }
    response.end(page([{ rel: 'next', href: `${request.url}/x`, method: 'POST', merge: true, body }]))
  },
  'stac-long': endless('{"type":"FeatureCollection","features":[', '{"type":"Feature"},'),
  'stac-dense': (_, response) => response.end(page([], `[${'[],'.repeat(20 * MIB)}[]]`)),
  'stac-deep': (_, response) => response.end(page([], '['.repeat(5 * MIB) + ']'.repeat(5 * MIB))),
  'stac-bomb': (_, response) => void response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bomb),
  'stac-drips': drips('{"type":"FeatureCollection",'),
  'stac-inside': (_, response) => response.end(page([{ rel: 'next', href: 'https://169.254.169.254/latest' }])),
  'stac-file': (_, response) => response.end(page([{ rel: 'next', href: 'file:///etc/passwd' }])),
  'state-endless': endless(state('9'), '#'),
  'state-drips': drips('sequenceNumber=9\n'),
  'state-huge': (request, response) =>
    void (request.url!.endsWith('/state.txt')
      ? response.end(state(String(Number.MAX_SAFE_INTEGER)))
      : response.writeHead(404).end()),
  'state-odd': (_, response) => response.end(state('1e400')),
  'redirect-inside': (_, response) => void response.writeHead(302, { location: 'https://169.254.169.254/x' }).end(),
  'redirect-file': (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  'redirect-round': (request, response) => void response.writeHead(302, { location: `${request.url}/x` }).end(),
  'encoded-bomb': (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  'packed-bomb': (_, response) => response.end(bomb),
  half: (_, response) => {
    response.writeHead(200, { 'content-length': '1000000' }).write('a,b\n')
    setTimeout(() => response.destroy(), 100)
  },
  headers: (_, response) => {
    response.socket!.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`)
    response.socket!.destroy()
  },
}

/** Starts the server; slow or endless answers continue until the reader disconnects. */
export async function openHostileServer(): Promise<HostileServer> {
  const asked = new Set<string>()
  const other = endless('{"a":[', '1,')
  const server = createServer((request, response) => {
    const name = place(request).pathname.split('/')[1] ?? ''
    asked.add(name)
    request.resume()
    const answer = Object.hasOwn(ANSWERS, name) ? ANSWERS[name]! : other
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
