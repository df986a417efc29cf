import { createServer, type RequestListener, type Server } from 'node:http'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Socket, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { downloadToFile } from './download.ts'
import type { DialTarget } from './dial.ts'
import { createGuardedFetch } from './guarded-fetch.ts'

/** Resolves names from a table and records connections without opening any. */
function recordingNetwork(names: Record<string, string[]> = {}) {
  const dialled: DialTarget[] = []
  const fetch = createGuardedFetch({
    allowHttp: true,
    resolver: async (host) => names[host] ?? [],
    dialer: (target) => {
      dialled.push(target)
      return Promise.reject(new Error('recorded, not dialled'))
    },
  })
  return { dialled, fetch }
}

describe('addresses that are not public are never dialled', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://0.0.0.0/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2001:db9::5efe:7f00:1]/',
    'http://[2a00:1450::200:5efe:a00:1]/',
    'http://[::7f00:1]/',
    'http://[::a00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[4000::1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[ff02::1]/',
  ])('%s', async (url) => {
    const { dialled, fetch } = recordingNetwork()
    await expect(fetch(url)).rejects.toMatchObject({ code: 'URL_REFUSED', kind: 'invalid' })
    expect(dialled).toEqual([])
  })

  test.each([
    ['a loopback', ['127.0.0.1']],
    ['a metadata', ['169.254.169.254']],
    ['one private among public', ['93.184.215.14', '10.0.0.1']],
    ['an IPv6 unique local', ['fd12::1']],
  ])('a name that leads to %s address', async (_, addresses) => {
    const { dialled, fetch } = recordingNetwork({ 'innocent.example': addresses })
    await expect(fetch('https://innocent.example/a.tif')).rejects.toMatchObject({ code: 'URL_REFUSED' })
    expect(dialled).toEqual([])
  })

  test('a public name is dialled at the address that was checked', async () => {
    const { dialled, fetch } = recordingNetwork({ 'public.example': ['93.184.215.14'] })
    await expect(fetch('https://public.example:8443/a.tif')).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' })
    expect(dialled).toEqual([{ address: '93.184.215.14', port: 8443, hostname: 'public.example', tls: true }])
  })
})

test.each([
  ['file:///etc/passwd', 'only https'],
  ['ftp://public.example/a', 'only https'],
  ['https://user:pass@public.example/', 'user name or password'],
  ['not a url', 'not a URL'],
  ['https://', 'not a URL'],
])('%s is refused', async (url, reason) => {
  const { fetch } = recordingNetwork({ 'public.example': ['93.184.215.14'] })
  await expect(fetch(url)).rejects.toMatchObject({
    code: 'URL_REFUSED',
    message: expect.stringContaining(reason) as string,
  })
})

test('http is refused unless the operator allows it', async () => {
  const strict = createGuardedFetch({
    resolver: async () => ['93.184.215.14'],
    dialer: () => Promise.reject(new Error('no')),
  })
  await expect(strict('http://public.example/')).rejects.toMatchObject({ code: 'URL_REFUSED' })
})

describe('with a server of the test on loopback, allowed by name', () => {
  const open: Server[] = []
  const folders: string[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
    for (const path of folders.splice(0)) await rm(path, { recursive: true })
  })

  async function serve(listener: RequestListener, names: Record<string, string[]> = {}) {
    const server = createServer(listener)
    open.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const dialled: DialTarget[] = []
    const fetch = createGuardedFetch({
      allowHttp: true,
      allowHosts: [`files.test:${port}`],
      resolver: async (host) => (host === 'files.test' ? ['127.0.0.1'] : (names[host] ?? [])),
      dialer: (target) => {
        dialled.push(target)
        if (target.hostname !== 'files.test') return Promise.reject(new Error('recorded, not dialled'))
        return new Promise((resolve) => {
          const socket = new Socket().connect(target.port, target.address, () => resolve(socket))
        })
      },
    })
    return { url: `http://files.test:${port}`, fetch, dialled }
  }

  async function folder() {
    const path = await mkdtemp(join(tmpdir(), 'terrane-fetch-'))
    folders.push(path)
    return path
  }

  async function read(body: AsyncIterable<Uint8Array>) {
    return Buffer.concat(await Array.fromAsync(body)).toString()
  }

  test('the body, status and headers come through', async () => {
    const { url, fetch } = await serve((request, response) =>
      response.setHeader('etag', '"x"').end(`hello ${request.url}`),
    )
    const response = await fetch(`${url}/a?b=1`)
    expect(response).toMatchObject({ status: 200, headers: { etag: '"x"' } })
    expect(await read(response.body)).toBe('hello /a?b=1')
  })

  test('an encoded body is decoded, and the cap counts the decoded bytes', async () => {
    const { url, fetch } = await serve((_, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(1_000_000))),
    )
    expect((await read((await fetch(url)).body)).length).toBe(1_000_000)
    const capped = await fetch(url, { maxBytes: 10_000 })
    await expect(read(capped.body)).rejects.toMatchObject({ code: 'DOWNLOAD_TOO_LARGE' })
  })

  test('an encoded body that grows more than data do is refused before it is whole', async () => {
    const bytes: Record<string, Buffer> = {
      '/bomb': Buffer.alloc(20_000_000),
      '/data': Buffer.from(Array.from({ length: 400_000 }, (_, i) => `${i},${i * i}`).join('\n')),
    }
    const { url, fetch } = await serve((request, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync(bytes[request.url!]!)),
    )
    await expect(read((await fetch(`${url}/bomb`)).body)).rejects.toMatchObject({
      code: 'DOWNLOAD_TOO_LARGE',
      message: expect.stringContaining('100 times') as string,
    })
    expect(await read((await fetch(`${url}/data`)).body)).toBe(bytes['/data']!.toString())
  })

  test('an announced size over the cap is refused before the body', async () => {
    const { url, fetch } = await serve((_, response) =>
      response.setHeader('content-length', '5000').end(Buffer.alloc(5000)),
    )
    await expect(fetch(url, { maxBytes: 4999 })).rejects.toMatchObject({
      code: 'DOWNLOAD_TOO_LARGE',
      message: 'The server announces 5000 bytes, more than the limit of 4999',
    })
  })

  test('a body without a size is cut at the first byte over the cap and the file is removed', async () => {
    let sent = 0
    const { url, fetch } = await serve((_, response) => {
      const send = () => {
        while (response.write(Buffer.alloc(1000)) && sent < 1e9) sent += 1000
      }
      response.on('drain', send)
      send()
    })
    const dir = await folder()
    await expect(downloadToFile(fetch, url, join(dir, 'a'), { maxBytes: 100_000 })).rejects.toMatchObject({
      code: 'DOWNLOAD_TOO_LARGE',
      kind: 'too_large',
    })
    expect(await readdir(dir)).toEqual([])
    expect(sent).toBeLessThan(50_000_000)
  })

  test('a body shorter than announced is an error, not a short file', async () => {
    const { url, fetch } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('abc')
      setTimeout(() => response.destroy(), 20)
    })
    const dir = await folder()
    await expect(downloadToFile(fetch, url, join(dir, 'a'))).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' })
    expect(await readdir(dir)).toEqual([])
  })

  test('a download writes every byte and reports how far it is', async () => {
    const { url, fetch } = await serve((_, response) => response.end(Buffer.alloc(300_000, 7)))
    const path = join(await folder(), 'a')
    const steps: number[] = []
    expect(await downloadToFile(fetch, url, path, { onBytes: (done) => steps.push(done) })).toBe(300_000)
    expect((await readFile(path)).equals(Buffer.alloc(300_000, 7))).toBe(true)
    expect(steps.at(-1)).toBe(300_000)
  })

  test.each([
    ['to a private address', 'http://10.0.0.7/x', {}],
    ['to the metadata address', 'http://169.254.169.254/', {}],
    ['to loopback on another port', 'http://127.0.0.1:1/', {}],
    ['to a name that leads inside', 'https://inside.example/', { 'inside.example': ['192.168.0.9'] }],
    ['to a file', 'file:///etc/passwd', {}],
  ])('a redirect %s is refused and not dialled', async (_, location, names) => {
    const { url, fetch, dialled } = await serve((__, response) => response.writeHead(302, { location }).end(), names)
    await expect(fetch(url)).rejects.toMatchObject({ code: 'URL_REFUSED' })
    expect(dialled.map((target) => target.hostname)).toEqual(['files.test'])
  })

  test('redirects are followed, at most five of them', async () => {
    const { url, fetch, dialled } = await serve((request, response) => {
      const n = Number(request.url?.slice(1))
      if (n > 0) response.writeHead(301, { location: `/${n - 1}` }).end()
      else response.end('there')
    })
    expect(await read((await fetch(`${url}/5`)).body)).toBe('there')
    dialled.length = 0
    await expect(fetch(`${url}/6`)).rejects.toMatchObject({
      message: expect.stringContaining('more than 5 times') as string,
    })
    expect(dialled).toHaveLength(6)
  })

  test('credentials do not follow a redirect to another host', async () => {
    const { url, fetch } = await serve(
      (_, response) => response.writeHead(302, { location: 'https://other.example/' }).end(),
      {
        'other.example': ['93.184.215.14'],
      },
    )
    const seen: (string | undefined)[] = []
    const { url: second, fetch: direct } = await serve((request, response) => {
      seen.push(request.headers.authorization)
      response.end()
    })
    await expect(fetch(url, { headers: { authorization: 'Bearer k' } })).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
    })
    const response = await direct(second, { headers: { authorization: 'Bearer k' } })
    response.cancel()
    expect(seen).toEqual(['Bearer k'])
  })

  test.each([
    [404, 'DOWNLOAD_REFUSED', false],
    [403, 'DOWNLOAD_REFUSED', false],
    [500, 'DOWNLOAD_FAILED', true],
    [429, 'DOWNLOAD_FAILED', true],
  ])('HTTP status %i is %s', async (status, code, retryable) => {
    const { url, fetch } = await serve((_, response) => response.writeHead(status).end())
    await expect(fetch(url)).rejects.toMatchObject({ code, retryable })
  })

  test('a server that does not answer in time is a timeout', async () => {
    const { url, fetch } = await serve(() => {})
    await expect(fetch(url, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'DOWNLOAD_TIMEOUT' })
  })

  test('the caller can stop it', async () => {
    const { url, fetch } = await serve(() => {})
    const stop = new AbortController()
    const pending = fetch(url, { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(pending).rejects.toThrow('enough')
  })
})
