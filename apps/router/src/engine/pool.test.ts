import { DEFAULT_LIMITS, RouteProblem, type Network } from '@terrane/routing'
import { createLogger } from '@terrane/service'
import { expect, onTestFinished, test } from 'vitest'
import { ANSWERS, Refusal } from '../errors.ts'
import { Pool, type PoolOptions } from './pool.ts'

const NETWORK = { file: { buffer: new SharedArrayBuffer(8) } } as unknown as Network

async function openPool(options: Partial<PoolOptions> = {}, onFinished = onTestFinished) {
  const lost: string[] = []
  const pool = await Pool.open(NETWORK, {
    threads: 1,
    limits: DEFAULT_LIMITS,
    costings: 1,
    search: 'hierarchy',
    queue: 100,
    timeoutMs: 60_000,
    logger: createLogger({ name: 'test', level: 'silent' }),
    program: new URL('../../test/fixtures/obedient.worker.ts', import.meta.url),
    onThreadLost: (reason) => lost.push(reason),
    ...options,
  })
  onFinished(() => pool.close())
  return { pool, lost }
}

test('every request gets its own answer, whatever thread it goes to', async () => {
  const { pool } = await openPool({ threads: 2 })
  const texts = Array.from({ length: 50 }, (_, i) => `request ${i}`)
  const answers = await Promise.all(texts.map((text) => pool.answer(text)))
  expect(answers).toEqual(texts.map((text) => ({ status: 200, body: text.toUpperCase() })))
})

test.concurrent('a request that takes too long is refused, and those behind it are answered by another thread', async (context) => {
  const { pool, lost } = await openPool({ timeoutMs: 5000 }, context.onTestFinished)
  const [hanging, ...others] = await Promise.allSettled(['hang', 'a', 'b', 'c'].map((text) => pool.answer(text)))
  expect(hanging).toEqual({ status: 'rejected', reason: new Refusal(ANSWERS.tookTooLong) })
  expect(others.map((other) => other.status === 'fulfilled' && other.value.body)).toEqual(['A', 'B', 'C'])
  expect(lost).toEqual(['timeout'])
})

test.each(['die', 'leave'])('a thread that ends (%s) costs the request it worked on and no other', async (text) => {
  const { pool, lost } = await openPool()
  const [first, ...others] = await Promise.allSettled([text, 'a', 'b', 'c'].map((each) => pool.answer(each)))
  expect(first).toEqual({ status: 'rejected', reason: new RouteProblem(199) })
  expect(others.map((other) => other.status === 'fulfilled' && other.value.body)).toEqual(['A', 'B', 'C'])
  expect(lost).toEqual(['crash'])
})

test('a computation that fails is answered as unknown, and the thread goes on', async () => {
  const { pool, lost } = await openPool()
  await expect(pool.answer('fail')).rejects.toEqual(new RouteProblem(199))
  expect((await pool.answer('a')).body).toBe('A')
  expect(lost).toEqual([])
})

test.concurrent('more requests than the queue takes are refused at once', async (context) => {
  const { pool } = await openPool({ queue: 3, timeoutMs: 5000 }, context.onTestFinished)
  // One in work, one ahead, three waiting.
  const accepted = ['hang', 'a', 'b', 'c', 'd'].map((text) => pool.answer(text))
  for (const answer of accepted) answer.catch(() => {})
  await expect(pool.answer('e')).rejects.toEqual(new Refusal(ANSWERS.busy))
  expect(pool.waiting).toBe(3)
  expect((await accepted[4])?.body).toBe('D')
})

test('a request whose client has left is not computed', async () => {
  const { pool } = await openPool()
  const asked = [pool.answer('a'), pool.answer('b'), pool.answer('die', () => false)]
  const [first, second, unwanted] = await Promise.allSettled(asked)
  expect([first, second].map((each) => each?.status)).toEqual(['fulfilled', 'fulfilled'])
  expect(unwanted).toMatchObject({ status: 'rejected', reason: expect.any(Refusal) })
  expect((await pool.answer('c')).body).toBe('C')
})

test('closing waits for what was asked before', async () => {
  const { pool } = await openPool()
  const asked = ['a', 'b', 'c', 'd'].map((text) => pool.answer(text))
  await pool.close()
  expect((await Promise.all(asked)).map(({ body }) => body)).toEqual(['A', 'B', 'C', 'D'])
})
