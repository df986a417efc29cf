import { expect, test } from 'vitest'
import { readDeltas, readSignedVarint, readSmallDeltas, readUnsigned, Wire } from './wire.ts'
import { WireWriter } from './wire-writer.ts'

/** Whole numbers beside each power of 128, where another byte begins, and their negatives. */
const NUMBERS = [7, 14, 21, 28, 31, 32, 35, 42, 49, 53]
  .flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])
  .flatMap((value) => [value, -value])
  .concat(0, 1, -1)
  .filter(Number.isSafeInteger)

/** As the specification says it, digit by digit. */
function varint(value: bigint): number[] {
  const rest = value >> 7n
  const low = Number(value & 127n)
  return rest === 0n ? [low] : [low | 128, ...varint(rest)]
}
const zigzag = (value: bigint): bigint => (value < 0n ? -2n * value - 1n : 2n * value)

test.each(NUMBERS)('%d is written and read by the rules of protobuf', (value) => {
  const plain = varint(BigInt.asUintN(64, BigInt(value)))
  const [one, zigzagged] = [new WireWriter(), new WireWriter()]
  one.raw(value)
  zigzagged.rawZigzag(value)
  const bytes = one.finish()
  const delta = zigzagged.finish()
  expect([[...bytes], [...delta]]).toEqual([plain, varint(zigzag(BigInt(value)))])
  expect(readSignedVarint(bytes, 0, bytes.length)).toBe(value)
  const sums = new Float64Array(1)
  expect([readDeltas(delta, 0, delta.length, sums, 0), sums[0]]).toEqual([1, value])
  const small = new Int32Array(1)
  const isSmall = Math.abs(value) < 2 ** 31
  expect(readSmallDeltas(delta, 0, delta.length, small, 0, 2 ** 31 - 1)).toBe(isSmall ? 1 : -1)
  expect(small[0]).toBe(isSmall ? value : 0)
  const unsigned = new Uint32Array(1)
  readUnsigned(bytes, 0, bytes.length, unsigned, 0)
  expect(unsigned[0]).toBe(Number(BigInt.asUintN(32, BigInt(value))))
})

test.each([127, 128, 16_383, 16_384])('a field of %d bytes is written and read whole', (length) => {
  const wire = new Wire(new WireWriter().text(20, 'x'.repeat(length)).varint(1, 5).finish())
  expect([wire.next(), wire.is(20, 2), wire.text().length]).toEqual([true, true, length])
  expect([wire.next(), wire.is(1, 0), wire.int64(), wire.next()]).toEqual([true, true, 5, false])
})
