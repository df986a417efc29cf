import { createLogger } from '@terrane/service'
import { expect, test } from 'vitest'
import { LogBook, type LogEntry } from './log-book.ts'

const subject = { project: 'p', name: 'f', version: 3 }
const book = () => new LogBook(createLogger({ name: 'test', level: 'silent' }))

test('what a function says and what the host says stand side by side, and can be told apart', () => {
  const log = book()
  log.event('info', subject, 'call', { status: 200 }, 'r1')
  log.line(subject, { level: 'warn', text: 'status 500, says the function', call: '1', dropped: 2 }, null)
  expect(log.latest('p', 'f', 10)).toMatchObject([
    { source: 'host', message: 'call', request_id: 'r1', fields: { status: 200 }, version: 3 },
    {
      source: 'function',
      level: 'warn',
      message: 'status 500, says the function',
      request_id: null,
      fields: { dropped: 2 },
    },
  ])
  expect(log.latest('p', 'other', 10)).toEqual([])
  expect(log.latest('p', 'f', 0)).toEqual([])
  expect(log.latest('p', 'f', 1).length).toBe(1)
})

test('what is kept has a bound, in entries and in characters, and it is the newest that stays', () => {
  const many = book()
  for (let i = 0; i < 5000; i++) many.event('info', subject, `m${i}`)
  const kept = many.latest('p', 'f', 100_000)
  expect(kept.length).toBeLessThan(2000)
  expect(kept.at(-1)!.message).toBe('m4999')
  const large = book()
  for (let i = 0; i < 1000; i++) large.event('info', subject, 'x'.repeat(10_000))
  const chars = large.latest('p', 'f', 100_000).reduce((sum, entry) => sum + entry.message.length, 0)
  expect(chars).toBeLessThan(2 * 1024 * 1024)
  expect(chars).toBeGreaterThan(500_000)
})

test('a follower gets what comes until it leaves, and hears of the end', () => {
  const log = book()
  const seen: (LogEntry | null)[] = []
  const stop = log.follow('p', 'f', (entry) => seen.push(entry))
  log.event('info', subject, 'one')
  log.event('info', { ...subject, name: 'g' }, 'of another')
  log.close()
  stop()
  log.event('info', subject, 'two')
  expect(seen.map((entry) => entry?.message)).toEqual(['one', undefined])
})

const call = { version: 3, requestId: 'r1', status: 200, problem: '', ms: 1.5, bytesIn: 0, bytesOut: 7 }

test('calls stand among the other entries in their order; of each kind the newest thousand are kept', () => {
  const log = book()
  log.event('info', subject, 'version live')
  for (let n = 0; n < 1500; n++) log.call(subject, { ...call, requestId: `r${n}` })
  log.event('info', subject, 'instance ended')
  const kept = log.latest('p', 'f', 10_000)
  expect(kept).toHaveLength(1002)
  expect([kept[0]!.message, kept[1]!.request_id, kept[1000]!.request_id, kept[1001]!.message]).toEqual([
    'version live',
    'r500',
    'r1499',
    'instance ended',
  ])
  expect(kept[1]).toMatchObject({ source: 'host', fields: { status: 200, ms: 1.5, bytesIn: 0, bytesOut: 7 } })
})

test('entries are found by text, level and request; a follower hears of calls', () => {
  const log = book()
  const seen: (string | null | undefined)[] = []
  log.follow('p', 'f', (entry) => seen.push(entry?.request_id))
  log.call(subject, call)
  log.call(subject, { ...call, requestId: 'r2', status: 504, problem: 'timeout' })
  log.line(subject, { level: 'warn', text: 'Slow Answer', call: '1', dropped: 0 }, 'r2')
  const found = (filter: Parameters<LogBook['latest']>[3]) =>
    log.latest('p', 'f', 10, filter).map(({ message, request_id: id }) => `${message} ${id}`)
  expect(found({ search: 'slow' })).toEqual(['Slow Answer r2'])
  expect(found({ search: 'TIMEOUT' })).toEqual(['call r2'])
  expect(found({ requestId: 'r2' })).toEqual(['call r2', 'Slow Answer r2'])
  expect(found({ requestId: 'r2', level: 'info' })).toEqual(['call r2'])
  expect(seen).toEqual(['r1', 'r2', 'r2'])
})
