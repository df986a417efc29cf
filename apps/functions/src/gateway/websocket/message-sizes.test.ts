import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { MessageSizes } from './message-sizes.ts'

/** A WebSocket frame with this many bytes of payload (RFC 6455, 5.2), masked like those of callers. */
function frame(opcode: number, bytes: number, isLast = true): Buffer {
  const first = (isLast ? 0x80 : 0) | opcode
  const long = Buffer.alloc(8)
  long.writeBigUInt64BE(BigInt(bytes))
  const size = bytes < 126 ? [0x80 | bytes] : bytes < 65_536 ? [0xfe, ...long.subarray(6)] : [0xff, ...long]
  return Buffer.concat([Buffer.from([first, ...size, 1, 2, 3, 4]), Buffer.alloc(bytes, 0xff)])
}

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])(
  'a message of %i bytes passes, one byte more does not',
  (bytes) => {
    const stream = Buffer.concat([frame(1, bytes), frame(2, bytes)])
    expect(new MessageSizes(bytes).accept(stream)).toBe(true)
    expect(new MessageSizes(bytes).accept(Buffer.concat([stream, frame(1, bytes + 1)]))).toBe(false)
  },
)

test('frames of one message are added up, and control frames between them are not', () => {
  const parts = [frame(1, 40, false), frame(9, 20), frame(0, 40, false), frame(10, 125)]
  const sizes = new MessageSizes(130)
  expect(sizes.accept(Buffer.concat([...parts, frame(0, 50)]))).toBe(true)
  expect(sizes.accept(Buffer.concat([frame(1, 100, false), frame(0, 31)]))).toBe(false)
})

test('a length of 63 bits is refused at its head', () => {
  expect(
    new MessageSizes(1e9).accept(Buffer.from([0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0])),
  ).toBe(false)
})

test('however the bytes are cut, the verdict is the same', () => {
  const random = seededRandom(7)
  for (let round = 0; round < 300; round++) {
    const frames = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
      frame(Math.floor(random() * 16), Math.floor(random() * 300), random() < 0.5),
    )
    const whole = Buffer.concat(frames)
    const expected = new MessageSizes(400).accept(whole)
    const sizes = new MessageSizes(400)
    let verdict = true
    for (let at = 0; at < whole.length && verdict;) {
      const end = at + 1 + Math.floor(random() * 200)
      verdict = sizes.accept(whole.subarray(at, end))
      at = end
    }
    expect(verdict).toBe(expected)
  }
})
