import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { StallTimeout, pump } from './stall-timeout.ts'

const LIMITS = { stallMs: 1000, bytesPerSecond: 100 }

test('a client at the minimum rate keeps its time, a slower one uses it up, and a faster one earns no more than all', () => {
  const timeout = new StallTimeout(LIMITS)
  for (let i = 0; i < 50; i++) timeout.took(50, 500)
  expect(timeout.leftMs).toBe(1000)
  for (let i = 0; i < 4; i++) timeout.took(25, 500)
  expect(timeout.leftMs).toBe(0)
  timeout.took(1_000_000, 1)
  expect(timeout.leftMs).toBe(1000)
})

async function* pieces(count: number) {
  for (let i = 0; i < count; i++) yield Buffer.alloc(100_000, i)
}

test('bytes come out whole, and in order', async () => {
  const body = new PassThrough()
  const read = buffer(body)
  await pump(pieces(5), body, new StallTimeout(LIMITS), new AbortController().signal)
  body.end()
  expect(await read).toEqual(Buffer.concat(await Array.fromAsync(pieces(5))))
})

test('a client that takes nothing is left, and one that goes is not waited for', async () => {
  const given = { count: 0 }
  async function* counted() {
    for await (const piece of pieces(100)) {
      given.count++
      yield piece
    }
  }
  const timeout = new StallTimeout({ stallMs: 20, bytesPerSecond: 1e9 })
  const waiting = pump(counted(), new PassThrough(), timeout, new AbortController().signal)
  await expect(waiting).rejects.toMatchObject({ code: 'CLIENT_TOO_SLOW' })
  expect(given.count).toBe(1)
  const gone = new PassThrough()
  const left = pump(pieces(1), gone, new StallTimeout({ ...LIMITS, stallMs: 2 ** 30 }), new AbortController().signal)
  gone.destroy()
  await expect(left).rejects.toMatchObject({ name: 'AbortError' })
})
