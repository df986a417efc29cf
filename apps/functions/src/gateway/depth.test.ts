import { expect, test } from 'vitest'
import { Depths, MAX_DEPTH } from './depth.ts'

test('a depth is read back by hosts of the same secret and by no other', () => {
  const depths = new Depths('secret')
  expect(depths.read(depths.next(0))).toBe(1)
  expect(depths.read(depths.next(3))).toBe(4)
  expect(new Depths('secret').read(depths.next(3))).toBe(4)
  expect(new Depths('other').read(depths.next(3))).toBe(0)
})

test('an unsigned header is a call from outside', () => {
  const depths = new Depths('secret')
  for (const forged of [undefined, '', '3', '3.x', ['1', '2'], depths.next(2).replace(/^3/, '0')])
    expect(depths.read(forged)).toBe(0)
})

test('a chain that is too deep stays too deep', () => {
  const depths = new Depths('secret')
  expect(depths.read(depths.next(MAX_DEPTH))).toBe(MAX_DEPTH + 1)
  expect(depths.read(depths.next(MAX_DEPTH + 5))).toBe(MAX_DEPTH + 1)
})
