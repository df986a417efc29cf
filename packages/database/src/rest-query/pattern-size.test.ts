import { expect, test } from 'vitest'
import { parseQuery } from './parse-query.ts'
import { expandedSize } from './pattern-size.ts'

test.each([
  ['', 0],
  ['abc', 3],
  ['a*b+c?', 3],
  ['x{3}', 3],
  ['x{2,5}y', 6],
  ['x{4,}', 5],
  ['x{0}', 1],
  ['(ab){3}', 6],
  ['(a|bc){2}', 6],
  ['(x{1,200}){1,200}', 40_000],
  ['((x{9}){9}){9}', 729],
  ['(?:(a{5})b){5}', 30],
  ['[a-z]{1,255}', 255],
  ['[]{9}]{2}', 2],
  ['[^][:alpha:]{9}]{2}', 2],
  [String.raw`\({7}\[{2}`, 9],
  ['a{,3}', 5],
  ['(x{9}', 9],
  ['x{100}{100}', 10_000],
  ['(x*){3}', 9],
  ['((x*){1,31}){1,31}', 923_521],
  ['(x*y){3}', 6],
  ['(x?y?){3}', 18],
  ['(xy|z*){3}', 27],
  ['(x{0,2}){3}', 18],
  ['(^|$){3}', 18],
  ['(?:(?=xy)){3}', 18],
  ['(\\1){3}', 9],
  ['a*{4}', 16],
])('%s has %i characters once it is written out', (pattern, size) => {
  expect(expandedSize(pattern)).toBe(size)
})

test('a filter whose regular expression grows beyond its bound is refused, wherever it stands', () => {
  for (const pattern of [
    '(x{1,200}){1,200}',
    '((x{1,20}){1,20}){1,20}',
    '((x*){1,31}){1,31}',
    '(x{9}){99}'.repeat(20),
  ]) {
    for (const query of [
      [['name', `match.${pattern}`]],
      [['name', `not.imatch.${pattern}`]],
      [['name', `match(any).{a,"${pattern}"}`]],
      [['or', `(id.eq.1,name.match."${pattern}")`]],
    ]) {
      const refused = expect.objectContaining({ code: 'PGRST100', details: expect.stringContaining('1000') as string })
      expect(() => parseQuery(new URLSearchParams(query as [string, string][]))).toThrow(refused)
    }
  }
  for (const pattern of ['^[a-z0-9._-]{1,255}@(\\w{1,60}\\.){1,4}$', 'x'.repeat(5000), '(\\d{1,3}\\.){3}\\d{1,3}'])
    expect(parseQuery(new URLSearchParams([['name', `match.${pattern}`]])).conditions).toHaveLength(1)
  expect(parseQuery(new URLSearchParams([['name', 'eq.(x{1,200}){1,200}']])).conditions).toHaveLength(1)
})
