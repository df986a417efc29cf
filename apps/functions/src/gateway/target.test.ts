import { expect, test } from 'vitest'
import { readTarget } from './target.ts'

test.each([
  ['/functions/v1/hello', { name: 'hello', rest: '' }],
  ['/functions/v1/hello/', { name: 'hello', rest: '/' }],
  ['/functions/v1/hello/a/b?c=d', { name: 'hello', rest: '/a/b?c=d' }],
  ['/functions/v1/hello?c=/d', { name: 'hello', rest: '?c=/d' }],
  ['/functions/v1/a-b_9', { name: 'a-b_9', rest: '' }],
  [`/functions/v1/${'a'.repeat(63)}`, { name: 'a'.repeat(63), rest: '' }],
  [`/functions/v1/${'a'.repeat(64)}`, null],
  ['http://127.0.0.1:8001/functions/v1/hello/a?b', { name: 'hello', rest: '/a?b' }],
  ['HTTPS://app.example/functions/v1/hello', { name: 'hello', rest: '' }],
  ['ftp://app.example/functions/v1/hello', null],
  ['/functions/v1/', null],
  ['/functions/v1/_shared', null],
  ['/functions/v1/Hello', { name: 'Hello', rest: '' }],
  ['/functions/v1/-hello', null],
  ['/functions/v1/..', null],
  ['/functions/v1/%68ello', null],
  ['/functions/v2/hello', null],
])('%s', (url, target) => {
  expect(readTarget(url)).toEqual(target)
})
