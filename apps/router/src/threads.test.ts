import { expect, test } from 'vitest'
import { threadsGiven } from './threads.ts'

test.each([
  ['a core each where memory is plenty', 8, 64 * 2 ** 30, 8],
  ['as many as the memory of the container holds', 32, 2 * 2 ** 30, 8],
  ['one in the smallest container', 32, 128 * 2 ** 20, 1],
  ['a core each without a limit', 32, 0, 32],
  ['a core each where the limit is none', 16, 2 ** 63, 16],
])('%s', (_, cores, memoryBytes, threads) => {
  expect(threadsGiven(cores, memoryBytes)).toBe(threads)
})
