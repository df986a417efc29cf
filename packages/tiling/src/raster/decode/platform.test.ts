import { randomBytes } from 'node:crypto'
import { deflateSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import * as browser from './platform.browser.ts'
import * as node from './platform.ts'

// Small and large blocks, compressible and incompressible.
const BLOCKS = [new Uint8Array(1), new Uint8Array(300_000), randomBytes(70_000), Buffer.from('terrane '.repeat(9000))]

describe.each([
  ['Node', node],
  ['a browser', browser],
])('decoders of %s', (_, platform) => {
  test.each([
    ['deflate', deflateSync, platform.inflate],
    ['Zstandard', zstdCompressSync, platform.unzstd],
  ])('%s gives back what was stored, and no more than the limit', (_name, compress, decompress) => {
    for (const block of BLOCKS) {
      const stored = compress(block)
      expect(Buffer.from(decompress(stored, block.length + 64)).equals(block)).toBe(true)
      expect(() => decompress(stored, block.length - 1)).toThrow(/./)
    }
    expect(() => decompress(randomBytes(64).fill(7, 0, 4), 1000)).toThrow(/./)
  })

  test('deflate that is cut off gives what it holds', () => {
    const block = BLOCKS[2]!
    const stored = deflateSync(block)
    const part = platform.inflate(stored.subarray(0, stored.length - 5000), block.length + 64)
    expect(part.length).toBeGreaterThan(0)
    expect(part.length).toBeLessThan(block.length)
    expect(Buffer.from(part).equals(block.subarray(0, part.length))).toBe(true)
  })

  test.each([2, 4, 8])('the bytes of samples of %i bytes are reversed in their place', (size) => {
    const bytes = Uint8Array.from({ length: 24 }, (_value, i) => i)
    platform.swapBytes(bytes.subarray(8), 16 / size, size)
    expect([...bytes.subarray(0, 8)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect([...bytes.subarray(8, 8 + size)]).toEqual(Array.from({ length: size }, (_value, i) => 7 + size - i))
  })
})
