import { request as httpRequest } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { functionsFor, startApp, type AppProcess } from '../support/processes.ts'

const MIB = 1024 * 1024
const UPLOADS = 16
const UPLOAD_BYTES = 45 * MIB
/** `functions.bufferBytes`, and the additional memory of a process for sockets and answers. */
const BUFFER_BYTES = 512 * MIB
const BESIDES_BYTES = 128 * MIB
const KEY = 'the-key-of-the-operator'

const opened = new AsyncDisposableStack()
let host: AppProcess
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-uploads-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  host = await startApp(opened, 'functions', {
    TERRANE_HOME: join(folder, 'home'),
    TERRANE_METRICS_KEY: KEY,
    TERRANE_SERVICE_ROLE_KEY: 'a service-role key of the tests',
    TERRANE_FUNCTIONS_DIR: await functionsFor(folder, {
      // Handles one request at a time, so that the others wait with their bodies.
      slow: [
        { auth: 'none', body_bytes: 50 * MIB, concurrency: 1, max: 1, memory_mb: 400, timeout_ms: 300_000 },
        `export default async (request) => {
           await new Promise((resolve) => setTimeout(resolve, 1000))
           return new Response(String((await request.arrayBuffer()).byteLength))
         }`,
      ],
    }),
  })
})
afterAll(() => opened.disposeAsync())

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${host.url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })).text()
  return Number(/^process_resident_memory_bytes\{.*\} (\S+)$/m.exec(text)?.[1])
}

function upload(body: Buffer): Promise<{ status: number; retryAfter: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': body.length }
    const request = httpRequest(
      `${host.url}/functions/v1/slow`,
      { method: 'POST', headers, agent: false },
      (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () =>
          resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'], text }),
        )
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

test('16 uploads of 45 MB to one function: the host holds as many as it says, and the others are told to come again', async () => {
  expect(await upload(Buffer.alloc(10))).toMatchObject({ status: 200, text: '10' })
  await host.collect()
  const before = await residentBytes()
  const body = Buffer.alloc(UPLOAD_BYTES, 'a')
  const ended = new AbortController()
  let peak = before
  const watching = (async () => {
    while (!ended.signal.aborted) {
      peak = Math.max(peak, await residentBytes())
      await sleep(20)
    }
  })()
  const answers = await Promise.all(Array.from({ length: UPLOADS }, () => upload(body)))
  ended.abort()
  await watching
  const served = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 503)
  process.stdout.write(
    `${served.length} uploads served, ${refused.length} refused with 503; the host held ${Math.round(before / MIB)} MiB before ` +
      `and ${Math.round(peak / MIB)} MiB at most\n`,
  )
  expect(served.length + refused.length).toBe(UPLOADS)
  expect(served.length).toBeLessThanOrEqual(Math.floor(BUFFER_BYTES / UPLOAD_BYTES))
  expect(served.every(({ text }) => text === String(UPLOAD_BYTES))).toBe(true)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true)
  expect(peak - before).toBeLessThan(BUFFER_BYTES + BESIDES_BYTES)
})
