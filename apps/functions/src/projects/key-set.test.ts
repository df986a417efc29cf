import { expect, test } from 'vitest'
import { publicKeysOf } from './key-set.ts'

test('functions get public keys: no shared secret, and of a pair the public part', () => {
  const set = {
    keys: [
      { kty: 'EC', kid: 'a', crv: 'P-256', x: '1', y: '2', d: 'private' },
      { kty: 'RSA', kid: 'b', n: '1', e: 'AQAB', d: 'private', p: 'p', q: 'q', dp: '1', dq: '2', qi: '3' },
      { kty: 'oct', kid: 'c', k: 'secret' },
      null,
    ],
  }
  expect(publicKeysOf(set)).toEqual([
    { kty: 'EC', kid: 'a', crv: 'P-256', x: '1', y: '2' },
    { kty: 'RSA', kid: 'b', n: '1', e: 'AQAB' },
  ])
  for (const wrong of [null, [], { keys: 'x' }]) expect(publicKeysOf(wrong)).toEqual([])
})
