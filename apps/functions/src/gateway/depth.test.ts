import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { deepest, Depths, enter, MAX_DEPTH, OUTSIDE, type Depth } from './depth.ts'

const depths = new Depths('secret')
const at = (calls: number, steps = 0): Depth => ({ calls, steps })
const token = (calls: number, steps = 0) => depths.next('a', at(calls, steps))

/** The position that a chain of calls of functions with these `max_chain` ends at; null where it is refused. */
function follow(chain: readonly number[]): Depth | null {
  let depth = enter(OUTSIDE, chain[0]!)
  for (const maxChain of chain.slice(1)) depth &&= enter(depths.read('a', depths.next('a', depth)), maxChain)
  return depth
}

test('a depth is read back by hosts of the same secret and by no other', () => {
  expect(depths.read('a', token(0))).toEqual(at(1))
  expect(depths.read('a', token(3, 70_000))).toEqual(at(4, 70_000))
  expect(new Depths('secret').read('a', token(3))).toEqual(at(4))
  expect(new Depths('other').read('a', token(3))).toEqual(OUTSIDE)
})

test('a depth without steps has the form of earlier releases, which run beside this one during an update', () => {
  const signature = createHmac('sha256', 'secret').update('functions depth 4 a').digest('base64url')
  expect(token(3)).toBe(`4.${signature}`)
})

test('a depth of one project counts as a call from outside in another', () => {
  expect(depths.read('b', token(MAX_DEPTH))).toEqual(OUTSIDE)
})

test('an unsigned header is a call from outside', () => {
  const forged = [
    undefined,
    '',
    '3',
    '3.1.x',
    ['1', '2'],
    token(2).replace(/^3/, '0'),
    token(2, 5).replace('.5.', '.4.'),
  ]
  forged.push(token(2).replace('3.', '3.0.'), token(2).replace('3.', '03.'))
  for (const header of forged) expect(depths.read('a', header)).toEqual(OUTSIDE)
})

test('the greatest real depth of several counts', () => {
  const forged = `9.9.${'x'.repeat(43)}`
  expect(depths.read('a', [token(1, 7), forged, token(4), token(0)].join(', '))).toEqual(at(5, 7))
  expect(deepest(at(1, 7), at(5))).toEqual(at(5, 7))
})

test('a header is read up to a number of tokens that no batch of messages exceeds', () => {
  const ofBatch = Array.from({ length: 50 }, (_, steps) => token(0, steps))
  expect(depths.read('a', ofBatch.join(', '))).toEqual(at(1, 49))
  expect(depths.read('a', `${'x,'.repeat(100_000)}${token(0)}`)).toEqual(OUTSIDE)
})

test('a chain that is too deep stays too deep', () => {
  expect(depths.read('a', token(MAX_DEPTH))).toEqual(at(MAX_DEPTH + 1))
  expect(depths.read('a', token(MAX_DEPTH + 5))).toEqual(at(MAX_DEPTH + 1))
})

test('a chain ends after the calls that its last function may have', () => {
  expect(follow(Array<number>(9).fill(8))).toEqual(at(8))
  expect(follow(Array<number>(10).fill(8))).toBeNull()
  expect(follow(Array<number>(3).fill(2))).toEqual(at(2))
  expect(follow(Array<number>(4).fill(2))).toBeNull()
})

test('calls of a function with a longer chain are counted apart, and what it calls has the usual maximum', () => {
  expect(follow(Array<number>(101).fill(100))).toEqual(at(0, 100))
  expect(follow(Array<number>(102).fill(100))).toBeNull()
  const usual = Array<number>(MAX_DEPTH).fill(8)
  expect(follow([...Array<number>(50).fill(100), ...usual])).toEqual(at(8, 49))
  expect(follow([...Array<number>(50).fill(100), ...usual, 8])).toBeNull()
  // A loop of the two ends as well.
  expect(follow(Array.from({ length: 201 }, (_, index) => (index % 2 === 0 ? 100 : 8)))).toEqual(at(0, 100))
  expect(follow(Array.from({ length: 203 }, (_, index) => (index % 2 === 0 ? 100 : 8)))).toBeNull()
})
