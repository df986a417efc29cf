import { expect, test } from 'vitest'
import { Frames } from './frames.ts'

const message = (type: string, body: string) => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, Buffer.from(body)])
}
const MESSAGES = [
  ['Z', 'I'],
  ['C', 'SELECT 1'],
  ['n', ''],
  ['D', 'x'.repeat(3000)],
  ['Z', 'T'],
  ['X', ''],
] as const
const bytes = Buffer.concat(MESSAGES.map(([type, body]) => message(type, body)))

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
  const begins = MESSAGES.map(([type, body]) => (begin += message(type, body).length) - message(type, body).length)
  expect(places).toEqual(begins)
})

test('a length that no message has is refused', () => {
  expect(() => new Frames().push(Buffer.from([81, 0, 0, 0, 3]))).toThrow(RangeError)
})
