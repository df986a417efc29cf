import { expect, test } from 'vitest'
import { Thread, type ThreadOptions } from '../src/threads/index.ts'
import type { WordMethods } from './fixtures/words.worker.ts'

const open = (options: Partial<ThreadOptions<string>> = {}) =>
  new Thread<WordMethods, string>(new URL('./fixtures/words.worker.ts', import.meta.url), {
    setup: {},
    toLostError: (why) => new Error(`lost: ${why}`),
    toError: (why) => new Error(`failed: ${why}`),
    ...options,
  })

test('each call has its own answer, whatever the order in which they come', async () => {
  await using thread = open()
  const later = thread.call('countLater', { text: 'a b c', ms: 50 })
  expect(await thread.call('count', 'a b')).toBe(2)
  expect(await later).toBe(3)
})

test('events are told before the answer of the call that made them', async () => {
  const words: string[] = []
  await using thread = open({ onEvent: (word) => words.push(word) })
  await thread.call('count', 'the quick fox')
  expect(words).toEqual(['the', 'quick', 'fox'])
})

test('an error of a catalogue arrives whole, any other one by its message; the thread goes on', async () => {
  await using thread = open()
  await expect(thread.call('refuse', null)).rejects.toMatchObject({
    code: 'TOO_MANY_WORDS',
    kind: 'too_large',
    hint: 'Send less.',
  })
  await expect(thread.call('fail', null)).rejects.toThrow('failed: out of words')
  expect(await thread.call('count', 'a')).toBe(1)
})

test('what the preparation throws is the error of every call', async () => {
  await using thread = open({ setup: { faulty: true } })
  const early = thread.call('count', 'a')
  await expect(thread.ready).rejects.toMatchObject({ code: 'TOO_MANY_WORDS' })
  await expect(early).rejects.toMatchObject({ code: 'TOO_MANY_WORDS' })
  await expect(thread.call('count', 'a')).rejects.toMatchObject({ code: 'TOO_MANY_WORDS' })
  expect(thread.hasEnded).toBe(true)
})

test('a thread that ends by itself fails what waits for it, and what comes after', async () => {
  await using thread = open()
  const waiting = thread.call('countLater', { text: 'a', ms: 60_000 })
  const exit = thread.call('exit', 3)
  await expect(waiting).rejects.toThrow('lost: it exited with code 3')
  await expect(exit).rejects.toThrow('lost: it exited with code 3')
  await expect(thread.call('count', 'a')).rejects.toThrow('lost: it exited with code 3')
})

test('a thread that is closed fails what waits for it', async () => {
  const thread = open()
  await thread.ready
  const waiting = thread.call('countLater', { text: 'a', ms: 60_000 })
  waiting.catch(() => undefined)
  await thread[Symbol.asyncDispose]()
  await expect(waiting).rejects.toThrow('lost: it was closed')
})

test('an abort ends the thread with the reason of the signal; after it no thread begins', async () => {
  const stop = new AbortController()
  await using thread = open({ signal: stop.signal })
  const waiting = thread.call('countLater', { text: 'a', ms: 60_000 })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(thread.hasEnded).toBe(true)
  expect(() => open({ signal: stop.signal })).toThrow('enough')
})

test('what a listener of events throws ends the thread and fails the call', async () => {
  await using thread = open({
    onEvent: () => {
      throw new Error('not this word')
    },
  })
  await expect(thread.call('count', 'a')).rejects.toThrow('not this word')
  expect(thread.hasEnded).toBe(true)
})

test('the memory of transferred buffers moves both ways', async () => {
  await using thread = open()
  const bytes = new Uint8Array(1000)
  const sent = thread.call('exchange', bytes, [bytes.buffer])
  expect(bytes.length).toBe(0)
  expect((await sent).bytes.length).toBe(1000)
  const next = new Uint8Array(10)
  expect((await thread.call('exchange', next, [next.buffer])).left).toBe(0)
})
