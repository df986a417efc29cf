import { PbfReader, PbfWriter } from 'pbf'
import { expect, test } from 'vitest'
import { unzigzag, VarintReader, varintSize, writeVarint, writeVarint53, zigzag } from './varint.ts'

/** Whole numbers beside each power of 128, where another byte begins, and beside the powers of two of 32 and 53 bits. */
const NUMBERS = [7, 14, 21, 28, 31, 32, 35, 42, 49, 53]
  .flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])
  .concat(0, 300)
  .filter(Number.isSafeInteger)

/** The library that renderers read tiles with. */
function byLibrary(value: number): Uint8Array {
  const pbf = new PbfWriter()
  pbf.writeVarint(value)
  return pbf.finish()
}

test.each(NUMBERS)('%d is written and read as renderers do', (value) => {
  const expected = byLibrary(value)
  const bytes = new Uint8Array(12)
  expect([...bytes.subarray(1, writeVarint53(bytes, 1, value))]).toEqual([...expected])
  const reader = new VarintReader().open(bytes, 1)
  expect([reader.next(), reader.at]).toEqual([value, 1 + expected.length])
  expect(new PbfReader(bytes.subarray(1)).readVarint()).toBe(value)
  if (value >= 2 ** 32) return
  const short = new Uint8Array(12)
  expect([...short.subarray(1, writeVarint(short, 1, value))]).toEqual([...expected])
  expect(varintSize(value)).toBe(expected.length)
})

test.each([0, 1, -1, 63, -64, 64, -65, 2 ** 31 - 1, -(2 ** 31)])('%d is zigzagged and back', (value) => {
  const coded = zigzag(value)
  const pbf = new PbfWriter()
  pbf.writeVarint(coded)
  expect([unzigzag(coded), new PbfReader(pbf.finish()).readSVarint()]).toEqual([value, value])
})
