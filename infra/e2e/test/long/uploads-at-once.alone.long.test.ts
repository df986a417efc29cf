import { readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'
import { begin, send } from '../support/tus.ts'

const MB = 1024 ** 2
const UPLOADS = 20
const EACH_BYTES = 48 * MB
const MOST_GROWTH = 100 * MB

describe('uploads at once', () => {
  let folder: string
  let stack: RunningStack
  let key: string
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrane-uploads-'))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    stack = closing.use(await startStack({ GEOEMBEDDINGS_MAX_GEOTIFF_BYTES: '0' }))
    key = stack.keys['serviceRoleKey'] ?? ''
    await ask('POST', '/storage/v1/bucket', { name: 'uploads', public: false })
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())

  const ask = (method: string, path: string, body?: unknown) =>
    fetch(`${stack.urls.origin}${path}`, {
      method,
      headers: { apikey: key, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  test(`${UPLOADS} at once keep the origin within ${MOST_GROWTH / MB} MB of what it had`, async () => {
    const path = join(folder, 'some.bin')
    await using file = await open(path, 'w')
    const part = Buffer.alloc(MB)
    for (let i = 0; i < EACH_BYTES / MB; i++) await file.write(part.fill(i))
    const target = (object: string) => ({ origin: stack.urls.origin, key, bucket: 'uploads', object })
    // Memory of code that is loaded once does not count as growth.
    await send(await begin(target('first.bin'), EACH_BYTES), key, path)
    const before = originBytes(stack.pid)
    let most = before
    const timer = setInterval(() => (most = Math.max(most, originBytes(stack.pid))), 50)
    const urls = await Promise.all(
      Array.from({ length: UPLOADS }, (_, i) => begin(target(`at-once-${i}.bin`), EACH_BYTES)),
    )
    await Promise.all(urls.map((url) => send(url, key, path)))
    clearInterval(timer)
    console.log(`origin: ${Math.round(before / MB)} MB before, ${Math.round(most / MB)} MB at most`)
    const { metadata } = (await (await ask('GET', '/storage/v1/object/info/uploads/at-once-19.bin')).json()) as {
      metadata?: { size?: number }
    }
    expect(metadata?.size ?? EACH_BYTES).toBe(EACH_BYTES)
    expect(most - before).toBeLessThan(MOST_GROWTH)
  })
})

/** Memory of the origin, found among the child processes of a stack. */
function originBytes(stackPid: number): number {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
      if (!command.includes('apps/origin')) continue
      const status = readFileSync(`/proc/${entry}/status`, 'utf8')
      if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) !== stackPid) continue
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
    } catch {
      // The process ended during the reading.
    }
  }
  throw new Error('the stack has no process of the origin')
}
