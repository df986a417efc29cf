import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { outcome } from './support/http.ts'
import { tryRuntime } from './support/runtimes.ts'

const MIB = 1024 * 1024
const { probed, title } = await tryRuntime('deno', 'standard')

describe.skipIf(!probed)(`request bodies: ${title}`, () => {
  let host: TestHost

  beforeAll(async () => {
    host = await startHost({ ...probed!, bufferBytes: 4 * MIB, bodyTimeoutMs: 20_000 })
    await host.deploy('held', `export default async (r: Request) => new Response(String((await r.bytes()).length))`)
    await host.deploy(
      'gate',
      `let open = () => {}; const gate = new Promise<void>((r) => { open = r })
       export default async (r: Request) => {
         if (r.method === 'GET') { open(); return new Response() }
         await gate; let n = 0; for await (const c of r.body!) n += c.length; return new Response(String(n))
       }`,
      { policy: { stream_body: true, body_bytes: 1024 * MIB, max: 1 } },
    )
    await host.deploy(
      'early',
      `export default async (r: Request) => { const reader = r.body!.getReader(); await reader.read(); return new Response('enough', { status: 202 }) }`,
      { policy: { stream_body: true, body_bytes: 64 * MIB } },
    )
    await host.deploy(
      'echo',
      `export default (r: Request) => new Response(r.body, { headers: { 'x-length': r.headers.get('content-length') ?? 'none' } })`,
      { policy: { stream_body: true, body_bytes: 2 * MIB } },
    )
  })
  afterAll(() => host[Symbol.asyncDispose]())

  /** A request whose head is sent and whose body the test writes. */
  function open(name: string, headers: Record<string, string> = {}) {
    const request = httpRequest(host.url(name), { method: 'POST', headers })
    const answer = new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>(
      (resolve, reject) => {
        request.on('error', reject)
        request.on('response', (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
          response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
          response.on('error', reject)
        })
      },
    )
    answer.catch(() => {})
    return { request, answer }
  }

  test('bodies that were announced have their place, and who finds none is told when to come again', async () => {
    const size = 1.5 * MIB
    const first = [0, 1].map(() => open('held', { 'content-length': String(size) }))
    for (const { request } of first) request.write(Buffer.alloc(1000))
    // A third does not fit beside two of 1.5 MiB, although almost none of their bytes have arrived.
    let third = await outcome(await fetch(host.url('held'), { method: 'POST', body: Buffer.alloc(size) }))
    await expect
      .poll(async () => {
        third = await outcome(await fetch(host.url('held'), { method: 'POST', body: Buffer.alloc(size) }))
        return third.status
      })
      .toBe(503)
    expect(third.code).toBe('FUNCTION_BUSY')
    const refused = await fetch(host.url('held'), { method: 'POST', body: Buffer.alloc(size) })
    expect(refused.headers.get('retry-after')).toBe('1')
    for (const { request } of first) request.end(Buffer.alloc(size - 1000))
    for (const { answer } of first) expect(await answer).toMatchObject({ status: 200, text: String(size) })
    const later = await fetch(host.url('held'), { method: 'POST', body: Buffer.alloc(size) })
    expect([later.status, await later.text()]).toEqual([200, String(size)])
  })

  test('bodies that were not announced take their place as they come', async () => {
    const parts = (count: number) =>
      new ReadableStream({
        pull(controller) {
          if (count-- > 0) controller.enqueue(new Uint8Array(MIB / 2))
          else controller.close()
        },
      })
    const post = (count: number) => fetch(host.url('held'), { method: 'POST', body: parts(count), duplex: 'half' })
    const fits = await post(6)
    expect([fits.status, await fits.text()]).toEqual([200, String(3 * MIB)])
    const refused = await post(11)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([503, 'FUNCTION_BUSY'])
    const again = await post(6)
    expect(again.status).toBe(200)
    await again.text()
  })

  test('many small parts arrive whole and in order', async () => {
    const { request, answer } = open('held')
    for (let i = 0; i < 500; i++) request.write(Buffer.alloc(100))
    request.end()
    expect(await answer).toMatchObject({ status: 200, text: '50000' })
  })

  test('a streamed body is handed on as it comes, announced or not', async () => {
    const { request, answer } = open('echo')
    request.write('one,')
    // The answer begins while the request is still being sent.
    const begun = new Promise<void>((resolve) => {
      request.once('response', (response) => response.once('data', () => resolve()))
    })
    await begun
    request.end('two')
    expect(await answer).toMatchObject({ status: 200, text: 'one,two', headers: { 'x-length': 'none' } })
    const announced = await fetch(host.url('echo'), { method: 'POST', body: 'x'.repeat(100_000) })
    expect(announced.headers.get('x-length')).toBe('100000')
    expect((await announced.text()).length).toBe(100_000)
    const empty = await fetch(host.url('echo'), { method: 'POST' })
    expect(await empty.text()).toBe('')
  })

  test('an answer before the end of the body reaches the caller, and the next call is well', async () => {
    const { request, answer } = open('early', { 'content-length': String(8 * MIB) })
    request.write(Buffer.alloc(100_000))
    expect(await answer).toMatchObject({ status: 202, text: 'enough' })
    request.end(Buffer.alloc(8 * MIB - 100_000))
    for (let i = 0; i < 5; i++) {
      const response = await fetch(host.url('early'), { method: 'POST', body: 'x' })
      expect([response.status, await response.text()]).toEqual([202, 'enough'])
    }
  })

  test('a streamed body is bounded by body_bytes, announced or not', async () => {
    const announced = await fetch(host.url('echo'), { method: 'POST', body: Buffer.alloc(2 * MIB + 1) })
    expect(announced.status).toBe(413)
    await announced.text()
    const { request, answer } = open('early')
    request.write(Buffer.alloc(1000))
    expect(await answer).toMatchObject({ status: 202 })
    request.destroy()
  })

  test('a caller who leaves in the middle of a streamed body takes it out of the function', async () => {
    const { request } = open('gate', { 'content-length': String(MIB) })
    request.on('error', () => {})
    request.write(Buffer.alloc(1000))
    await expect.poll(() => [...host.functions.get('test', 'gate')!.pool][0]?.inflight).toBe(1)
    request.destroy()
    await expect.poll(() => [...host.functions.get('test', 'gate')!.pool][0]?.inflight).toBe(0)
  })

  test('a function that does not read holds the sender back: the host keeps none of it', async () => {
    const { request, answer } = open('gate')
    let sent = 0
    const part = Buffer.alloc(MIB / 4)
    const isHeld = () => {
      sent += part.length
      if (request.write(part)) return false
      return new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), 1000)
        request.once('drain', () => {
          clearTimeout(timer)
          resolve(false)
        })
      })
    }
    for (let i = 0; i < 1024; i++) if (await isHeld()) break
    expect(sent).toBeLessThan(32 * MIB)
    await fetch(host.url('gate'))
    request.end()
    expect(await answer).toMatchObject({ status: 200, text: String(sent) })
  })
})
