import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Stored {
  readonly body: Buffer
  readonly headers: Record<string, string>
  readonly modified: Date
}

/** As much of S3's API as the store uses, in memory, on loopback; pages of two keys, so that paging is exercised. */
export async function startFakeS3(): Promise<AsyncDisposable & { endpoint: string; unsigned: string[] }> {
  const objects = new Map<string, Stored>()
  const unsigned: string[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
      const url = new URL(request.url ?? '/', 'http://s3')
      if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=AK/'))
        unsigned.push(`${request.method} ${url.pathname}`)
      const key = decodeURIComponent(url.pathname.replace(/^\/bucket\/?/, ''))
      if (url.searchParams.get('list-type') === '2') list(url, response)
      else if (request.method === 'PUT') put(request, key, body, response)
      else if (request.method === 'DELETE') response.writeHead(objects.delete(key) ? 204 : 204).end()
      else read(request, key, response)
    })()
  })

  function put(request: IncomingMessage, key: string, body: Buffer, response: ServerResponse): void {
    const source = request.headers['x-amz-copy-source']
    if (typeof source === 'string') {
      const from = objects.get(decodeURIComponent(source.replace(/^\/bucket\//, '')))
      if (!from) return void response.writeHead(404).end()
      objects.set(key, from)
      return void response.end('<CopyObjectResult/>')
    }
    if (request.headers['if-none-match'] === '*' && objects.has(key)) return void response.writeHead(412).end()
    const md5 = request.headers['content-md5']
    if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64'))
      return void response.writeHead(400).end()
    const headers: Record<string, string> = {}
    for (const name of ['content-type', 'cache-control', 'x-amz-meta-terrane']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers[name] = value
    }
    objects.set(key, { body, headers, modified: new Date() })
    response.end()
  }

  function read(request: IncomingMessage, key: string, response: ServerResponse): void {
    const stored = objects.get(key)
    if (!stored) return void response.writeHead(404).end()
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    const part = range ? stored.body.subarray(Number(range[1]), Number(range[2]) + 1) : stored.body
    response.writeHead(range ? 206 : 200, {
      ...stored.headers,
      'content-length': String(part.length),
      'last-modified': stored.modified.toUTCString(),
      etag: `"${createHash('md5').update(stored.body).digest('hex')}"`,
      ...(range && { 'content-range': `bytes ${range[1]}-${range[2]}/${stored.body.length}` }),
    })
    response.end(request.method === 'HEAD' ? undefined : part)
  }

  function list(url: URL, response: ServerResponse): void {
    const prefix = url.searchParams.get('prefix') ?? ''
    const after = url.searchParams.get('continuation-token') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted()
    const page = keys.slice(0, 2)
    const contents = page
      .map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key><Size>1</Size></Contents>`)
      .join('')
    const next = keys.length > 2 ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    response.end(`<?xml version="1.0"?><ListBucketResult>${contents}${next}</ListBucketResult>`)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unsigned,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
