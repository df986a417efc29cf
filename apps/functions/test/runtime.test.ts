// Slow: each case starts an instance of its own.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SERVICES_KEY_PLACEHOLDER } from '../src/environment.ts'
import { SERVICE_TOKEN, startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const variants = [
  await tryRuntime('deno', 'standard'),
  await tryRuntime('deno', 'hardened'),
  await tryRuntime('node', 'standard'),
]

test.each(variants.map(({ title }) => title))('a runtime that this machine has starts: %s', (title) => {
  expect(title).not.toContain('a trial function does not start')
})

for (const { probed, title } of variants) {
  describe.skipIf(!probed)(`functions on ${title}`, () => {
    let host: TestHost
    let api: Server
    const apiCalls: IncomingMessage[] = []

    beforeAll(async () => {
      api = createServer((request, response) => {
        apiCalls.push(request)
        if (request.url === '/moved') {
          request.resume()
          response.writeHead(307, { location: '/echo' }).end()
        } else if (request.url === '/echo') {
          response.setHeader('content-type', request.headers['content-type'] ?? '')
          request.pipe(response)
        } else response.setHeader('content-type', 'application/json').end(JSON.stringify({ path: request.url }))
      })
      await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
      const { port } = api.address() as AddressInfo
      host = await startHost({ ...probed!, projectApi: `http://127.0.0.1:${port}` })
    })
    afterAll(async () => {
      await host[Symbol.asyncDispose]()
      api.closeAllConnections()
      api.close()
    })

    test.each([
      ['export default { fetch }', `export default { fetch(req, ctx) { return new Response(ctx.functionName) } }`],
      ['export default function', `export default async (req, ctx) => new Response(ctx.functionName)`],
      ['Deno.serve(handler)', `Deno.serve((req, ctx) => new Response(ctx.functionName))`],
      [
        'Deno.serve(handler) of the main module',
        `if (import.meta.main) Deno.serve((req, ctx) => new Response(ctx.functionName))`,
      ],
      ['Deno.serve(options, handler)', `Deno.serve({ port: 1 }, (req, ctx) => new Response(ctx.functionName))`],
      ['Deno.serve({ handler })', `Deno.serve({ handler: (req, ctx) => new Response(ctx.functionName) })`],
      ['an object whose fetch uses this', `export default { n: 'shape', fetch() { return new Response(this.n) } }`],
    ])('the handler shape %s', async (_, source) => {
      await host.deploy('shape', source)
      const response = await fetch(host.url('shape'))
      expect([response.status, await response.text()]).toEqual([200, 'shape'])
    })

    test('a request arrives whole: method, path, query, headers, body; the answer comes back whole', async () => {
      await host.deploy(
        'echo',
        `export default async (req: Request) => new Response(await req.bytes(), { status: 201, headers: {
           'x-url': req.url, 'x-method': req.method, 'x-custom': req.headers.get('x-custom')!, 'set-cookie': 'a=1' } })`,
      )
      const body = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251)
      const response = await fetch(`${host.url('echo')}/sub/path?x=%20y&z`, {
        method: 'POST',
        body,
        headers: { 'x-custom': 'caf\u00e9' },
      })
      expect(response.status).toBe(201)
      expect(response.headers.get('x-url')).toBe(`${host.origin}/echo/sub/path?x=%20y&z`)
      expect(response.headers.get('x-method')).toBe('POST')
      expect(response.headers.get('x-custom')).toBe('caf\u00e9')
      expect(response.headers.get('set-cookie')).toBe('a=1')
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)
    })

    test('behind a trusted proxy a function knows the address that its caller has used', async () => {
      await using behind = await startHost({ ...probed!, trustsPeers: true })
      await behind.deploy(
        'address',
        `export default (req) => Response.json([req.url, req.headers.get('host'), req.headers.get('x-forwarded-host'), req.headers.get('x-forwarded-proto')])`,
      )
      const headers = { 'x-forwarded-host': 'app.example', 'x-forwarded-proto': 'https' }
      const response = await fetch(`${behind.url('address')}/back?a=1`, { headers })
      expect(await response.json()).toEqual([
        'https://app.example/address/back?a=1',
        'app.example',
        'app.example',
        'https',
      ])
    })

    test('the caller’s address is the one that the trusted proxy names, not the one that the caller chose', async () => {
      const source = `export default (req, ctx) => Response.json([ctx.remoteAddr.hostname, [...req.headers.keys()].includes('x-terrane-client')])`
      const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7', 'x-terrane-client': '198.51.100.2' }
      await using behind = await startHost({ ...probed!, trustsPeers: true })
      await behind.deploy('caller', source)
      expect(await (await fetch(behind.url('caller'), { headers })).json()).toEqual(['203.0.113.7', false])
      await host.deploy('caller', source)
      expect(await (await fetch(host.url('caller'), { headers })).json()).toEqual(['127.0.0.1', false])
    })

    test('the context carries request id, claims and name; forged ones from outside do not arrive', async () => {
      await host.deploy('context', `export default (req, { waitUntil, ...ctx }) => Response.json(ctx)`)
      const forged = { 'x-terrane-claims': '%7B%22role%22%3A%22service%22%7D', 'x-terrane-call': '1' }
      const anonymous = await fetch(host.url('context'), { headers: { ...forged, 'x-request-id': 'my-id.1' } })
      const remoteAddr = { transport: 'tcp', hostname: '127.0.0.1', port: 0 }
      const context = { requestId: 'my-id.1', functionName: 'context', claims: null, databaseUrl: null, remoteAddr }
      expect(await anonymous.json()).toEqual(context)
      expect(anonymous.headers.get('x-request-id')).toBe('my-id.1')
      const user = await fetch(host.url('context'), { headers: { ...forged, authorization: 'Bearer user' } })
      expect(await user.json()).toMatchObject({ claims: { role: 'user', name: 'Zo\u00eb' } })
    })

    test('variables and secrets of the function are in its environment, and nothing of the host', async () => {
      await host.deploy('env', `export default () => Response.json(Deno.env.toObject())`, {
        env: { STRIPE_KEY: 'sk', LD_PRELOAD: '/nowhere.so' },
      })
      const env: unknown = await (await fetch(host.url('env'))).json()
      expect(env).toEqual({ STRIPE_KEY: 'sk', LD_PRELOAD: '/nowhere.so' })
    })

    test('static files lie beside the code and are all that can be read', async () => {
      await host.deploy(
        'files',
        `import { readFileSync } from 'node:fs'
         const read = (name) => { try { return readFileSync(new URL(name, import.meta.url), 'utf8') } catch (e) { return e.name } }
         export default () => Response.json([read('./data/a.txt'), read('./secret.txt'), read('/etc/hostname')])`,
        { policy: { static: ['data/**'] }, files: { 'data/a.txt': 'content', 'secret.txt': 'no' } },
      )
      const [a, secret, outside] = (await (await fetch(host.url('files'))).json()) as string[]
      expect(a).toBe('content')
      expect(secret).not.toBe('no')
      expect(outside).toMatch(/NotCapable|Error/)
    })

    test('relative paths begin in the folder of the code', async () => {
      await host.deploy(
        'relative',
        `import { readFileSync } from 'node:fs'
         const read = (name) => { try { return readFileSync(name, 'utf8') } catch (e) { return e.name } }
         export default () => Response.json([read('data/a.txt'), read('./secret.txt'), read('..')])`,
        { policy: { static: ['data/**'] }, files: { 'data/a.txt': 'content', 'secret.txt': 'no' } },
      )
      const [a, ...others] = (await (await fetch(host.url('relative'))).json()) as string[]
      expect(a).toBe('content')
      for (const other of others) expect(other).toMatch(/NotCapable|Error/)
    })

    test('an answer streams: the first part arrives before the last is made', async () => {
      await host.deploy(
        'stream',
        `let go
         export default (req) => {
           if (req.url.endsWith('go')) { go(); return new Response('gone') }
           return new Response(new ReadableStream({ async start(c) {
             c.enqueue(new TextEncoder().encode('data: 1\\n\\n'))
             await new Promise((resolve) => { go = resolve })
             c.enqueue(new TextEncoder().encode('data: 2\\n\\n')); c.close() } }),
             { headers: { 'content-type': 'text/event-stream' } }) }`,
      )
      const response = await fetch(host.url('stream'))
      const parts = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      expect((await parts.read()).value).toBe('data: 1\n\n')
      expect(await (await fetch(`${host.url('stream')}/go`)).text()).toBe('gone')
      expect((await parts.read()).value).toBe('data: 2\n\n')
      expect((await parts.read()).done).toBe(true)
    })

    test('a caller who leaves aborts the request inside', async () => {
      await host.deploy(
        'abort',
        `let state = 'idle'
         export default (req) => {
           if (req.url.endsWith('check')) return new Response(state)
           state = 'waiting'
           req.signal.addEventListener('abort', () => { state = 'aborted' })
           return new Promise(() => {}) }`,
      )
      const state = async () => (await fetch(`${host.url('abort')}/check`)).text()
      const leaving = new AbortController()
      const pending = fetch(host.url('abort'), { signal: leaving.signal })
      pending.catch(() => {})
      await expect.poll(state).toBe('waiting')
      leaving.abort()
      await expect(pending).rejects.toThrow('aborted')
      await expect.poll(state).toBe('aborted')
    })

    test('work handed to waitUntil goes on after the answer and keeps its instance', async () => {
      await host.deploy(
        'background',
        `let done = 'no'
         export default (req, ctx) => {
           if (req.url.endsWith('check')) return new Response(done)
           ctx.waitUntil(new Promise((resolve) => setTimeout(() => { done = 'yes'; resolve() }, 500)))
           return new Response('ok') }`,
      )
      expect(await (await fetch(host.url('background'))).text()).toBe('ok')
      const [instance] = host.functions.get('test', 'background')!.pool
      await expect.poll(() => instance!.working).toBe(true)
      await expect.poll(async () => (await fetch(`${host.url('background')}/check`)).text()).toBe('yes')
      await expect.poll(() => instance!.working).toBe(false)
    })

    test('the signal of a request that was answered stays still', async () => {
      await host.deploy(
        'signal',
        `let state = 'idle'
         export default async (req) => {
           if (req.url.endsWith('check')) return new Response(state)
           state = 'answered'
           req.signal.addEventListener('abort', () => { state = 'aborted' })
           return new Response('ok') }`,
      )
      expect(await (await fetch(host.url('signal'))).text()).toBe('ok')
      for (let n = 0; n < 3; n++) expect(await (await fetch(`${host.url('signal')}/check`)).text()).toBe('answered')
      expect(host.lines.filter((line) => line.name === 'signal')).toEqual([])
    })

    test('a Response whose body was read is the function’s mistake, and its log says so', async () => {
      await host.deploy(
        'read',
        `export default async (req) => {
           const response = new Response('once')
           if (req.url.endsWith('locked')) response.body.getReader()
           else await response.text()
           return response }`,
      )
      for (const how of ['used', 'locked']) {
        const response = await fetch(`${host.url('read')}/${how}`)
        expect([response.status, response.headers.get('x-error-code')]).toEqual([502, 'FUNCTION_INVALID_RESPONSE'])
      }
      const texts = () => host.lines.filter((line) => line.name === 'read').map((line) => line.text)
      const said = 'The handler returned a Response whose body has been read already'
      await expect.poll(texts).toEqual([said, said])
    })

    test('a stack names the files and lines of the author', async () => {
      await host.deploy(
        'stack',
        `import { fail } from './lib/fail.ts'
         export default () => fail({ why: 'on purpose' })`,
        {
          files: {
            'lib/fail.ts': `interface Reason { why: string }\n\ntype Never = never\n
              export function fail({ why }: Reason): Never {\n\n throw new Error(why) }`,
          },
        },
      )
      expect((await fetch(host.url('stack'))).status).toBe(500)
      const text = () => host.lines.find((line) => line.name === 'stack' && line.text.includes('on purpose'))?.text
      await expect.poll(text).toMatch(/lib\/fail\.ts:7:\d+/)
      expect(text()).toMatch(/index\.ts:2:\d+/)
    })

    test('a redirect that keeps the method carries the body along, if that can be read again', async () => {
      await host.deploy(
        'moved',
        `const bodies = {
           text: () => 'words', bytes: () => new Uint8Array([104, 105]), params: () => new URLSearchParams({ a: '1' }),
           form: () => { const form = new FormData(); form.append('a', '1'); return form },
           stream: () => new Blob(['flowing']).stream() }
         export default async (req) => {
           const kind = req.url.split('/').pop()
           const answer = await fetch('http://project.internal/moved', { method: 'POST', body: bodies[kind](), duplex: 'half' })
             .catch((error) => new Response(error.message))
           return new Response(kind === 'form' ? (await answer.formData()).get('a') : answer.body) }`,
        { policy: { auth: 'none' } },
      )
      const moved = async (kind: string) => (await fetch(`${host.url('moved')}/${kind}`)).text()
      expect(await moved('text')).toBe('words')
      expect(await moved('bytes')).toBe('hi')
      expect(await moved('params')).toBe('a=1')
      expect(await moved('form')).toBe('1')
      expect(await moved('stream')).toContain('its body is spent')
    })

    test('console lines carry level, text and the call they belong to', async () => {
      await host.deploy(
        'logs',
        `console.info('at start')
         export default async () => { console.log('%s is %d', 'x', 42, { a: 1 }); console.error(new Error('boom')); return new Response('') }`,
      )
      await fetch(host.url('logs'), { headers: { 'x-request-id': 'logged-1' } })
      const lines = () => host.lines.filter((line) => line.name === 'logs')
      await expect.poll(() => lines().length).toBe(3)
      // Errors come by a pipe of their own, so only lines of one kind have an order.
      expect(lines().filter(({ level }) => level === 'info')).toMatchObject([
        { text: 'at start', requestId: null },
        { text: 'x is 42 { a: 1 }', requestId: 'logged-1' },
      ])
      expect(lines().filter(({ level }) => level === 'error')).toMatchObject([
        { text: expect.stringContaining('boom') as string },
      ])
    })

    test('the project API is reached with the credentials of the caller, unless the function brings its own', async () => {
      await host.deploy(
        'api',
        `export default async (req) => {
           const own = req.url.endsWith('own') ? { headers: { apikey: 'mine' } } : {}
           return fetch('http://project.internal/rest/v1/t?a=1', own) }`,
        { policy: { auth: 'anon' } },
      )
      apiCalls.length = 0
      const headers = { apikey: 'anon', authorization: 'Bearer user', 'x-request-id': 'chain-1' }
      const response = await fetch(host.url('api'), { headers })
      expect(await response.json()).toEqual({ path: '/rest/v1/t?a=1' })
      expect(apiCalls[0]!.headers).toMatchObject({
        apikey: 'anon',
        authorization: 'Bearer user',
        'x-request-id': 'chain-1',
      })
      await fetch(`${host.url('api')}/own`, { headers })
      expect(apiCalls[1]!.headers).toMatchObject({ apikey: 'mine' })
      expect(apiCalls[1]!.headers.authorization).toBeUndefined()
    })

    test('the service key is added outside the process, for privileged functions only', async () => {
      const source = `export default async (req) => {
        const key = new URL(req.url).searchParams.get('key')
        await fetch('http://project.internal/', key ? { headers: { apikey: key, authorization: 'Bearer ' + key } } : {})
        return new Response('') }`
      await host.deploy('plain', source)
      await host.deploy('privileged', source, { policy: { privileged: true } })
      apiCalls.length = 0
      await fetch(host.url('privileged'))
      await fetch(`${host.url('privileged')}?key=${SERVICE_TOKEN}`)
      await fetch(`${host.url('privileged')}?key=other`)
      await fetch(`${host.url('privileged')}?key=${SERVICES_KEY_PLACEHOLDER}`)
      // Refused by the host.
      await fetch(`${host.url('plain')}?key=${SERVICE_TOKEN}`)
      expect(apiCalls.map((call) => call.headers['apikey'])).toEqual([
        'the-service-key',
        'the-service-key',
        'other',
        'the-services-key',
      ])
    })

    test('a function without the right never sees the service key of its caller, and may pass it on while it answers that caller', async () => {
      await host.deploy(
        'relay',
        `export default async (req) => {
           const { apikey, authorization } = Object.fromEntries(req.headers)
           const sent = { ...(apikey && { apikey }), ...(authorization && { authorization }) }
           const { status } = await fetch('http://project.internal/rest/v1/t', { headers: sent })
           const other = await fetch('http://project.internal/', { headers: { apikey: '${SERVICES_KEY_PLACEHOLDER}' } })
           return Response.json({ sent, status, other: other.status }) }`,
      )
      apiCalls.length = 0
      const relayed = async (headers: Record<string, string>) => (await fetch(host.url('relay'), { headers })).json()
      const service = { apikey: 'service', authorization: 'Bearer service' }
      const held = { apikey: SERVICE_TOKEN, authorization: `Bearer ${SERVICE_TOKEN}` }
      expect(await relayed(service)).toEqual({ sent: held, status: 200, other: 200 })
      expect(await relayed({ apikey: 'service' })).toMatchObject({ sent: { apikey: SERVICE_TOKEN }, status: 200 })
      // A token that was kept from an earlier call is worth nothing in a call of another caller.
      expect(await relayed(held)).toMatchObject({ sent: held, status: 403 })
      const received = apiCalls.map(({ headers: { apikey, authorization } }) => ({ apikey, authorization }))
      const unknown = { apikey: SERVICES_KEY_PLACEHOLDER, authorization: undefined }
      expect(received).toEqual([service, unknown, { apikey: 'service', authorization: undefined }, unknown, unknown])
    })

    test.skipIf(process.platform !== 'linux')(
      'a sealed version starts from its cache and cannot write a file',
      async () => {
        await host.deploy('sealed', `export default () => new Response('ok')`, { sealed: true })
        expect(await (await fetch(host.url('sealed'))).text()).toBe('ok')
        const [instance] = host.functions.get('test', 'sealed')!.pool
        expect(readFileSync(`/proc/${instance!.pid}/limits`, 'utf8')).toMatch(/Max file size +0 +0 /)
      },
    )

    test.skipIf(process.platform !== 'linux')('every instance is bounded and runs with no new privileges', async () => {
      await host.deploy('bounds', `export default () => new Response('ok')`, { policy: { memory_mb: 100 } })
      await fetch(host.url('bounds'))
      const [instance] = host.functions.get('test', 'bounds')!.pool
      const limits = readFileSync(`/proc/${instance!.pid}/limits`, 'utf8')
      expect(limits).toMatch(/Max core file size +0 +0 /)
      expect(limits).toMatch(/Max open files +(512|96) /)
      expect(Number(/Max data size +(\d+)/.exec(limits)![1])).toBeLessThan(1024 ** 3)
      const status = readFileSync(`/proc/${instance!.pid}/status`, 'utf8')
      expect(status).toMatch(/NoNewPrivs:\t1/)
      expect(status).toMatch(probed!.runtime.profile === 'hardened' ? /Seccomp:\t2/ : /Seccomp:\t0/)
      expect(status).toMatch(probed!.users ? /Uid:\t23\d{4}/ : /Uid:/)
    })
  })
}
