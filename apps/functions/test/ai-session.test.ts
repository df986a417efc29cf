import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const VECTOR = { model: 'gte-small', dims: 2, embedding: [0.6, 0.8] }
let api: Server
let asked: { url: string; headers: IncomingHttpHeaders; body: string }[] = []
let answer: { status: number; body: unknown }
beforeAll(async () => {
  api = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      asked.push({ url: request.url!, headers: request.headers, body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
    })
  })
  await once(api.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => api.close())
beforeEach(() => {
  asked = []
  answer = { status: 200, body: VECTOR }
})

for (const runtime of ['deno', 'node'] as const) {
  const { probed, title } = await tryRuntime(runtime, 'standard')
  describe.skipIf(probed === null)(`Supabase.ai.Session on ${title}`, () => {
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
    const run = (
      text: string,
      options = '',
    ) => `export default () => new Supabase.ai.Session('gte-small').run(${text}${options})
      .then((found) => Response.json(found), (error) => new Response(error.message))`

    test('gets the vector of a text from the worker, with any caller', async () => {
      expect(JSON.parse(await call(run("'a quay'", ', { mean_pool: true, normalize: true }')))).toEqual([0.6, 0.8])
      expect(asked).toEqual([expect.objectContaining({ url: '/worker/embed/text' })])
      expect(asked[0]!.headers).toMatchObject({ apikey: 'the-service-key', authorization: 'Bearer the-service-key' })
      expect(JSON.parse(asked[0]!.body)).toEqual({ modelName: 'gte-small', text: 'a quay' })
    })

    test('says what the worker refused, and what it does not do', async () => {
      answer = { status: 404, body: { message: 'no model gte-small', hint: 'Add it.' } }
      expect(await call(run("'a'"))).toBe("Supabase.ai.Session 'gte-small': no model gte-small. Add it.")
      expect(await call(run("'a'", ', { normalize: false }'))).toContain('leave out mean_pool and normalize')
      expect(await call(run('[{ role: "user" }]'))).toContain('run takes one text')
      expect(asked).toHaveLength(1)
    })

    test('is no way to other addresses of the worker with the service key', async () => {
      const source = `export default async () => {
        await fetch('http://ai.internal/worker/jobs?limit=1', { headers: { apikey: 'mine' } })
        return new Response('done') }`
      expect(await call(source)).toBe('done')
      expect(asked.map(({ url }) => url)).toEqual(['/worker/embed/text'])
    })
  })
}
