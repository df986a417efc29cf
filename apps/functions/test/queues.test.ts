import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

let api: Server
let asked: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = []
let answer: { status: number; body: unknown } = { status: 200, body: 7 }
beforeAll(async () => {
  api = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      asked.push({ method: request.method!, url: request.url!, headers: request.headers, body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
    })
  })
  await once(api.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => api.close())
beforeEach(() => {
  asked = []
  answer = { status: 200, body: 7 }
})

for (const [runtime, profile] of [
  ['deno', 'standard'],
  ['node', 'standard'],
] as const) {
  const { probed, title } = await tryRuntime(runtime, profile)
  describe.skipIf(probed === null)(`terrane.queue on ${title}`, () => {
    const call = async (source: string) => {
      await using host = await startHost({
        ...probed!,
        projectApi: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      })
      await host.deploy('fn', source, { policy: { auth: 'anon', methods: ['GET'] } })
      const response = await fetch(host.url('fn'), { headers: { apikey: 'anon' } })
      // Read before the host ends.
      return await response.text()
    }

    test('sends as the function itself, with any caller', async () => {
      const send = `await terrane.queue('mail').send({ to: 'a' }, { delay: 60, key: 'k' })`
      expect(await call(`export default async () => Response.json(${send})`)).toBe('7')
      expect(asked).toHaveLength(1)
      expect(asked[0]).toMatchObject({ method: 'POST', url: '/rest/v1/rpc/send_message' })
      const { headers, body } = asked[0]!
      expect(headers).toMatchObject({ apikey: 'the-service-key', 'content-profile': 'geoembeddings' })
      expect(JSON.parse(body)).toEqual({ queue: 'mail', body: { to: 'a' }, delay_seconds: 60, key: 'k' })
    })

    test('hands its messages to queue of Workers, for the platform alone', async () => {
      const source = `let seen = []
        export default {
          async queue(batch, env, ctx) {
            ctx.waitUntil(Promise.resolve())
            for (const message of batch.messages) { seen.push([batch.queue, message.id, message.attempts, message.body, message.timestamp.getTime()]); message.body === 'again' ? message.retry() : message.ack() }
          },
          fetch: () => Response.json(seen),
        }`
      await using host = await startHost(probed!)
      await host.deploy('fn', source, { policy: { auth: 'none', methods: ['GET', 'POST'] } })
      const deliver = async (body: unknown, apikey: string) => {
        const messages = [{ id: 7, attempts: 2, created_at: '1970-01-01T00:00:01Z', body }]
        const headers = { apikey, 'x-terrane-queue': '1', 'content-type': 'application/json' }
        const options = { method: 'POST', headers, body: JSON.stringify({ type: 'queue', queue: 'mail', messages }) }
        return (await fetch(host.url('fn'), options)).status
      }
      expect(await deliver('forged', 'anon')).toBe(200)
      expect(await deliver({ to: 'a' }, 'service')).toBe(204)
      expect(await deliver('again', 'service')).toBe(500)
      const seen = [{ to: 'a' }, 'again'].map((body) => ['mail', '7', 2, body, 1000])
      expect(await (await fetch(host.url('fn'))).json()).toEqual(seen)
    })

    test('finds queue and scheduled of entry points that are classes, and a Worker without them fails', async () => {
      await using host = await startHost(probed!)
      const bindings = ['worker:crons={"0 3 * * 0":"0 3 * * 1"}']
      const deploy = (name: string, source: string) =>
        host.deploy(name, source, { policy: { auth: 'none', methods: ['GET', 'POST'], bindings } })
      await deploy(
        'class',
        `import { WorkerEntrypoint } from 'cloudflare:workers'
        const seen = []
        export default class extends WorkerEntrypoint {
          queue(batch) { seen.push([batch.queue, typeof this.ctx.waitUntil]); batch.ackAll(); throw new Error('after all of them') }
          scheduled({ cron }) { seen.push(cron) }
          fetch(request) { return Response.json([...seen, request.cf]) }
        }`,
      )
      await deploy('fetch', `export default { fetch: () => new Response('taken') }`)
      const messages = [{ id: 7, attempts: 1, created_at: '1970-01-01T00:00:01Z', body: 1 }]
      const post = async (name: string, headers: Record<string, string>) => {
        const body = JSON.stringify({ queue: 'mail', messages })
        return (await fetch(host.url(name), { method: 'POST', headers: { apikey: 'service', ...headers }, body }))
          .status
      }
      const tick = {
        'x-terrane-cron': encodeURIComponent(JSON.stringify({ name: '', cron: '0 3 * * 0', scheduledTime: 0 })),
      }
      expect([await post('class', { 'x-terrane-queue': '1' }), await post('class', tick)]).toEqual([204, 204])
      // The host knows no facts about the connection, but Workers read members of them.
      expect(await (await fetch(host.url('class'))).json()).toEqual([['mail', 'function'], '0 3 * * 1', {}])
      expect([await post('fetch', { 'x-terrane-queue': '1' }), await post('fetch', tick)]).toEqual([500, 500])
      expect(await post('fetch', {})).toBe(200)
    })

    test('says why a message was not taken', async () => {
      answer = { status: 400, body: { message: 'queue is a name', hint: null } }
      const source = `export default () => terrane.queue('No').send(1).catch((error) => new Response(error.message))`
      expect(await call(source)).toBe(`queue 'No': queue is a name`)
    })

    test('is no other way to the project with the service key', async () => {
      const source = `export default async () => {
        await fetch('http://queue.internal/rest/v1/secrets?select=*', { headers: { apikey: 'mine', 'content-profile': 'public' } })
        return new Response('done') }`
      expect(await call(source)).toBe('done')
      expect(asked[0]).toMatchObject({
        url: '/rest/v1/rpc/send_message',
        headers: { 'content-profile': 'geoembeddings' },
      })
    })
  })
}
