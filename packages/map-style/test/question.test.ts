import { expect, test } from 'vitest'
import { sharedColumn } from '../src/question.ts'

const table = (...columns: string[]) => ({ table: 'public.t', columns, geometry: 'geom' })

test('tables are joined by a column of their data, not by keys that imports number', () => {
  expect(sharedColumn(table('id', 'name', 'district', 'geom'), table('id', 'district', 'income'))).toBe('district')
  // A file with an id of its own has another key.
  expect(sharedColumn(table('fid', 'id', 'geom'), table('fid', 'id', 'income'))).toBe('id')
  expect(sharedColumn(table('id', 'district', 'geom'), table('fid', 'id', 'income'))).toBeNull()
  expect(sharedColumn(table('id', 'geom'), table('id', 'geom'))).toBeNull()
})
