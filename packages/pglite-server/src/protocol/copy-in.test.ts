import { expect, test } from 'vitest'
import { copiesIn } from './copy-in.ts'

test('a COPY from the client is known by its words', () => {
  expect(copiesIn('/* c */ COPY "from stdin" (a) FROM STDIN')).toBe('alone')
  expect(copiesIn(`copy t from stdin with (format csv, null 'x;y');`)).toBe('alone')
  expect(copiesIn('begin; copy t from stdin')).toBe('among others')
  expect(copiesIn(`select 'copy t from stdin'`)).toBe('no')
  expect(copiesIn(`copy t to stdout`)).toBe('no')
  expect(copiesIn(`copy t from 'stdin'`)).toBe('no')
})
