import { expect, test } from 'vitest'
import { OnnxGraph } from './graph.ts'

test('an attribute that is no safe integer is refused', () => {
  expect(() => new OnnxGraph('g').op('Neg', ['x'], { axis: 0.5 })).toThrow(RangeError)
})

test('negative and large integers are written as the runtime reads them', () => {
  const graph = new OnnxGraph('g')
  const encoded = (value: number) => {
    graph.op('Neg', ['x'], { axis: value })
    return Buffer.from(graph.encode()).toString('hex')
  }
  // Two's complement in ten bytes, and 2^40, by the encoding guide of Protocol Buffers.
  expect(encoded(-1)).toContain('18ffffffffffffffffff01')
  expect(encoded(2 ** 40)).toContain('18808080808020')
})
