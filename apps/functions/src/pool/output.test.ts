import { expect, test } from 'vitest'
import type { ShimMessage } from '../runtime/shim/protocol.ts'
import { Output, type FunctionLine } from './output.ts'

/** Reads text at a moment and returns the result. */
function reading() {
  const seen = { lines: [] as FunctionLine[], messages: [] as ShimMessage[], throttled: [] as number[] }
  const output = new Output(
    {
      line: (line) => seen.lines.push(line),
      message: (message) => seen.messages.push(message),
      throttle: (ms) => seen.throttled.push(ms),
    },
    0,
  )
  return { seen, push: (text: string, now = 0) => output.push(Buffer.from(text), now) }
}
const log = (fields: object) => `${JSON.stringify({ t: 'log', ...fields })}\n`

test('messages and lines are told apart, also when they come in pieces', () => {
  const { seen, push } = reading()
  for (const char of `\n{"t":"ready"}\nplain text\n${log({ level: 'warn', text: 'a', call: '7' })}`) push(char)
  expect(seen.messages).toEqual([{ t: 'ready' }])
  expect(seen.lines).toEqual([
    { level: 'info', text: 'plain text', call: '', dropped: 0 },
    { level: 'warn', text: 'a', call: '7', dropped: 0 },
  ])
})

test('what looks like a message and is none does nothing worse than a line', () => {
  const { seen, push } = reading()
  push(
    '{"t":"pong"}\n{"t":"pong","n":"1"}\n{"t":"hold"}\n{"t":"failed","message":1,"stack":""}\n{"t":"constructor"}\n{"t":"\n[]\n',
  )
  expect(seen.messages).toEqual([])
  expect(seen.lines.map((line) => line.text)).toEqual(['{"t":"', '[]'])
  push(log({ level: 'loud', text: { a: 1 }, call: 5, dropped: -3 }))
  expect(seen.lines.at(-1)).toEqual({ level: 'info', text: '[object Object]', call: '', dropped: 0 })
})

test('lines over the rate are dropped and counted with the next one', () => {
  const { seen, push } = reading()
  push('x\n'.repeat(250))
  expect(seen.lines.length).toBe(200)
  push(log({ level: 'info', text: 'later', call: '', dropped: 3 }), 1000)
  expect(seen.lines.at(-1)).toMatchObject({ text: 'later', dropped: 53 })
})

test('a long line is cut, one without end is let go', () => {
  const { seen, push } = reading()
  push(`${'x'.repeat(20_000)}\n`)
  expect(seen.lines[0]!.text.length).toBe(10_000)
  push('y'.repeat(70_000))
  push('\nnext\n')
  expect(seen.lines.map((line) => line.text[0])).toEqual(['x', 'y', 'n'])
})

test('bytes over the rate make the writer wait', () => {
  const { seen, push } = reading()
  for (let i = 0; i < 5; i++) push('z'.repeat(1024 * 1024))
  expect(seen.throttled.at(-1)).toBeGreaterThan(900)
})
