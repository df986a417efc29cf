import { expect, test } from 'vitest'
import { Depths, MAX_DEPTH } from './depth.ts'

const depths = new Depths('secret')
const token = (depth: number) => depths.next('a', depth)

test('a depth is read back by hosts of the same secret and by no other', () => {
  expect(depths.read('a', token(0))).toBe(1)
  expect(depths.read('a', token(3))).toBe(4)
  expect(new Depths('secret').read('a', token(3))).toBe(4)
  expect(new Depths('other').read('a', token(3))).toBe(0)
})

test('a depth of one project counts as a call from outside in another', () => {
  expect(depths.read('b', token(MAX_DEPTH))).toBe(0)
})

test('an unsigned header is a call from outside', () => {
  for (const forged of [undefined, '', '3', '3.x', ['1', '2'], token(2).replace(/^3/, '0')])
    expect(depths.read('a', forged)).toBe(0)
})

test('the greatest real depth of several counts', () => {
  const forged = `9.${'x'.repeat(43)}`
  expect(depths.read('a', [token(1), forged, token(4), token(0)].join(', '))).toBe(5)
})

test('a chain that is too deep stays too deep', () => {
  expect(depths.read('a', token(MAX_DEPTH))).toBe(MAX_DEPTH + 1)
  expect(depths.read('a', token(MAX_DEPTH + 5))).toBe(MAX_DEPTH + 1)
})
