import { expect, test } from 'vitest'
import { findTables } from './find-tables.ts'

test('tables are found by all words of a search, whatever their case', () => {
  const tables = [{ name: 'public.porto_streets' }, { name: 'public.porto_pois' }, { name: 'public.Lisbon' }]
  const found = (search: string) => findTables(tables, search).map(({ name }) => name)
  expect(found('porto STREET')).toEqual(['public.porto_streets'])
  expect(found('lisbon')).toEqual(['public.Lisbon'])
  expect(found('  ')).toHaveLength(3)
  expect(found('porto lisbon')).toEqual([])
})
