import { expect, test } from 'vitest'
import { Frames, message } from './frames.ts'

const MESSAGES = [
  ['Z', 'I'],
  ['C', 'SELECT 1'],
  ['n', ''],
  ['D', 'x'.repeat(3000)],
  ['Z', 'T'],
  ['X', ''],
] as const
const PARTS = MESSAGES.map(([type, body]) => message(type, Buffer.from(body)))
const bytes = Buffer.concat(PARTS)

test.each([1, 2, 5, 6, 7, 64, 10_000])('messages are told wherever they are cut: chunks of %i bytes', (size) => {
  const frames = new Frames()
  const seen: string[] = []
  const places: number[] = []
  for (let at = 0; at < bytes.length; at += size)
    for (const { type, first, at: place } of frames.push(bytes.subarray(at, at + size))) {
      seen.push(String.fromCharCode(type) + (first < 0 ? '' : String.fromCharCode(first)))
      places.push(at + place)
    }
  expect(seen).toEqual(['ZI', 'CS', 'n', 'Dx', 'ZT', 'X'])
  let begin = 0
  const begins = PARTS.map(({ length }) => (begin += length) - length)
  expect(places).toEqual(begins)
})

test('a length that no message has is refused', () => {
  expect(() => new Frames().push(Buffer.from([81, 0, 0, 0, 3]))).toThrow(RangeError)
})
