import { expect, test } from 'vitest'

import { ProtobufWriter } from './protobuf.ts'

const hex = (writer: ProtobufWriter): string => Buffer.from(writer.finish()).toString('hex')

test('integers are varints: the example of the encoding guide, a negative one, and one beyond 32 bits', () => {
  expect(hex(new ProtobufWriter().int(1, 150))).toBe('089601')
  expect(hex(new ProtobufWriter().int(1, -1))).toBe('08ffffffffffffffffff01')
  expect(hex(new ProtobufWriter().int(2, 2 ** 40))).toBe('10808080808020')
})

test('texts, floats and nested messages carry their field number and length', () => {
  expect(hex(new ProtobufWriter().string(2, 'testing'))).toBe('120774657374696e67')
  expect(hex(new ProtobufWriter().float(3, 1))).toBe('1d0000803f')
  expect(hex(new ProtobufWriter().message(3, (inner) => inner.int(1, 150)))).toBe('1a03089601')
})

test('a message longer than the first buffer is whole', () => {
  const bytes = new Uint8Array(5000).fill(7)
  const out = new ProtobufWriter().int(1, 1).bytes(2, bytes).finish()
  expect(out.length).toBe(2 + 3 + 5000)
  expect(out.subarray(5).every((byte) => byte === 7)).toBe(true)
})

test('a number that is no safe integer is refused', () => {
  expect(() => new ProtobufWriter().int(1, 0.5)).toThrow(RangeError)
})
