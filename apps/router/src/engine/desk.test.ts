import { RouteProblem, type Router, type Work } from '@terrane/routing'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Desk, type WorkNews } from './desk.ts'

/** A desk with work made from the text of requests, and a list of its messages. */
function openDesk(make: (text: string) => Work, timeoutMs = 60_000) {
  const posted: WorkNews[] = []
  const router = { work: make } as unknown as Router
  const desk = new Desk(router, (news) => posted.push(news), timeoutMs)
  const until = async (passes: (news: WorkNews) => boolean): Promise<WorkNews> => {
    for (;;) {
      const found = posted.find(passes)
      if (found !== undefined) return found
      await sleep(2)
    }
  }
  return { desk, posted, until }
}

const begin = (id: number, text: string) => ({ type: 'begin', id, action: 'sources_to_targets', text }) as const

/** Computes for about this many milliseconds. */
function compute(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until;);
}

test('a short answer comes whole', async () => {
  const { desk, until } = openDesk(function* (text) {
    yield text
    yield '!'
  })
  desk.take(begin(1, 'hello'))
  expect(await until(({ work }) => work === 1)).toEqual({
    work: 1,
    type: 'answer',
    answer: { status: 200, body: 'hello!' },
  })
})

test('works take turns: a short one ends before a long one that began earlier', async () => {
  const { desk, posted, until } = openDesk(function* (text) {
    for (let i = 0; i < (text === 'long' ? 60 : 2); i++) {
      compute(3)
      yield text
    }
  })
  desk.take(begin(1, 'long'))
  desk.take(begin(2, 'short'))
  await until(({ work, type }) => work === 1 && type === 'answer')
  const answers = posted.filter(({ type }) => type === 'answer').map(({ work }) => work)
  expect(answers).toEqual([2, 1])
})

test('an answer pauses while its parts are not taken, and goes on when one is', async () => {
  let steps = 0
  const { desk, posted, until } = openDesk(function* () {
    for (; steps < 40; steps++) yield 'x'.repeat(40_000)
  })
  desk.take(begin(1, ''))
  const parts = () => posted.filter(({ type }) => type === 'part').length
  await until(() => parts() === 4)
  const stood = steps
  for (let i = 0; i < 20; i++) await sleep(1)
  expect([parts(), steps]).toEqual([4, stood])
  desk.take({ type: 'more', id: 1 })
  await until(() => parts() === 5)
  for (let i = 0; i < 40; i++) desk.take({ type: 'more', id: 1 })
  await until(({ type }) => type === 'end')
  const text = posted.map((news) => (news.type === 'part' ? news.text : '')).join('')
  expect(text.length).toBe(40 * 40_000)
})

test('work stops when it is cancelled', async () => {
  let steps = 0
  const { desk, until } = openDesk(function* (text) {
    if (text === 'endless') {
      for (;;) {
        steps++
        compute(2)
        yield ''
      }
    }
    yield text
  })
  desk.take(begin(1, 'endless'))
  desk.take(begin(2, 'other'))
  await until(({ work }) => work === 2)
  desk.take({ type: 'cancel', id: 1 })
  const stopped = steps
  desk.take(begin(3, 'last'))
  await until(({ work }) => work === 3)
  expect(steps).toBe(stopped)
})

test('problems are answers, other errors are told, and what computes too long is ended', async () => {
  const { desk, until } = openDesk(function* (text) {
    if (text === 'problem') throw new RouteProblem(171)
    if (text === 'broken') throw new Error('broken as told')
    for (;;) {
      compute(5)
      yield ''
    }
  }, 30)
  for (const [i, text] of ['problem', 'broken', 'endless'].entries()) desk.take(begin(i, text))
  expect(await until(({ work }) => work === 0)).toMatchObject({ type: 'answer', answer: { status: 400 } })
  expect(await until(({ work }) => work === 1)).toMatchObject({
    type: 'failed',
    reason: expect.stringContaining('broken as told'),
  })
  expect(await until(({ work }) => work === 2)).toEqual({ work: 2, type: 'tookTooLong' })
})

test('what waits is asked again later, without holding up others', async () => {
  const gate = { ready: false }
  const { desk, until } = openDesk(function* (text) {
    if (text === 'waits') while (!gate.ready) yield null
    yield text
  })
  onTestFinished(() => desk.take({ type: 'cancel', id: 1 }))
  desk.take(begin(1, 'waits'))
  desk.take(begin(2, 'other'))
  await until(({ work }) => work === 2)
  gate.ready = true
  expect(await until(({ work }) => work === 1)).toMatchObject({ answer: { body: 'waits' } })
})
