import { expect, test } from 'vitest'
import { readTypes } from './type-check.ts'

const error = (code: string, text: string, place: string) =>
  `${code} [ERROR]: ${text}\nconst a = 1\n      ^\n    at ${place}\n\n`

test('errors are told by file, line and column of the function and of what it shares', () => {
  const said = `Check entry.ts\n${error('TS2322', `Type 'string' is not assignable.`, 'file:///f/fn/index.ts:3:7')}${error('TS2304', `Cannot find 'x'.`, 'file:///f/_shared/a%20b.ts:1:1')}\nFound 2 errors.\n`
  expect(readTypes(said, '/f/fn')).toEqual({
    errors: [`index.ts:3:7: TS2322 Type 'string' is not assignable.`, `../_shared/a b.ts:1:1: TS2304 Cannot find 'x'.`],
    unchecked: null,
  })
})

test('what packages and fetched modules have wrong is not told', () => {
  const said = `${error('TS1', 'a', 'file:///f/fn/node_modules/p/i.ts:1:1')}${error('TS2', 'b', 'https://deno.land/x/a.ts:1:1')}${error('TS3', 'c', 'file:///other/i.ts:1:1')}error: Type checking failed.`
  expect(readTypes(said, '/f/fn')).toEqual({ errors: [], unchecked: null })
})

test('what could not be looked at says why', () => {
  expect(readTypes('error: Specifier not found in cache: "npm:a"\n    at x', '/f/fn')).toEqual({
    errors: [],
    unchecked: 'Specifier not found in cache: "npm:a"',
  })
  expect(readTypes('', '/f/fn')).toEqual({ errors: [], unchecked: null })
})
