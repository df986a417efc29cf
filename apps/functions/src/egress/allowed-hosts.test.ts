import { expect, test } from 'vitest'
import { allowing, isListed } from './allowed-hosts.ts'

test.each([
  ['a.example', 'A.example', 443, true, true],
  ['a.example', 'a.example', 443, false, false],
  ['a.example', 'a.example', 80, true, false],
  ['a.example:80', 'a.example', 80, false, true],
  ['a.example:80', 'a.example', 443, true, false],
  ['*.example', 'a.b.example', 443, true, true],
  ['*.example', 'example', 443, true, false],
  ['*.example', 'badexample', 443, true, false],
  ['*.example:587', 'mail.example', 587, false, true],
  ['*', '198.51.100.1', 25, false, true],
  ['a.example:80', 'a.example', null, true, true],
  ['a.example:80', 'b.example', null, true, false],
])('%s lists %s:%s (secure %s): %s', (entry, host, port, secure, listed) => {
  expect(isListed([entry], host, port, secure)).toBe(listed)
})

test.each([
  [['*'], []],
  [['*', 'a.private:80'], ['a.private']],
  [['*', '*.private:80'], ['a.private']],
  [['*', 'a.private:81'], []],
  [['b.private:80'], []],
])('of the private hosts of the operator, %j reaches %j', (net, allowHosts) => {
  const wanted = { hostname: 'a.private', port: 80, secure: false }
  expect(allowing({ allowHosts: ['a.private'] }, net, wanted)).toEqual({ allowHosts })
})

test('a host that the operator named with its port is reached by that port alone', () => {
  const allowed = (port: number) =>
    allowing({ allowHosts: ['a.private:80'] }, ['a.private:80', 'a.private:81'], {
      hostname: 'a.private',
      port,
      secure: false,
    }).allowHosts
  expect([allowed(80), allowed(81)]).toEqual([['a.private:80', 'a.private'], ['a.private:80']])
})
