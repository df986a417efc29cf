// Sends a gigabyte to a function that reads it as a stream, and measures how much the host's memory grows.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { ANON_KEY, startHost } from './support/host.ts'

const MIB = 1024 * 1024
const source = `export default async (req: Request) => {
  let bytes = 0
  for await (const chunk of req.body!) bytes += chunk.length
  return Response.json(bytes)
}`
await using host = await startHost(
  { reader: { source, policy: { stream_body: true, body_bytes: 1024 * MIB, timeout_ms: 400_000 } } },
  { TERRANE_SETTINGS: JSON.stringify({ functions: { ceilings: { stream_bytes: 1024 * MIB } } }) },
)
const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${host.pid}/status`, 'latin1'))![1]) / 1024

for (let i = 0; i < 3; i++) assert.equal(await upload(16 * MIB), 16 * MIB)
const before = rssMb()
let peak = before
const sampler = setInterval(() => (peak = Math.max(peak, rssMb())), 20)
try {
  assert.equal(await upload(1024 * MIB), 1024 * MIB)
} finally {
  clearInterval(sampler)
}
console.log(
  `1 GiB handed on: the host had ${before.toFixed(0)} MB and grew by ${(peak - before).toFixed(0)} MB at most   (goal < 50)`,
)

/** Sends a number of bytes; resolves with the number that the function has counted. */
async function upload(bytes: number): Promise<number> {
  const headers = { apikey: ANON_KEY, 'content-length': String(bytes) }
  const sending = request(host.url('reader'), { method: 'POST', headers })
  const answered = new Promise<number>((resolve, reject) => {
    sending.on('error', reject)
    sending.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => (response.statusCode === 200 ? resolve(Number(text)) : reject(new Error(text))))
    })
  })
  const part = Buffer.alloc(MIB / 4)
  for (let sent = 0; sent < bytes; sent += part.length)
    if (!sending.write(part)) await Promise.race([new Promise((resolve) => sending.once('drain', resolve)), answered])
  sending.end()
  return answered
}
