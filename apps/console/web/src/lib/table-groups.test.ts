import { expect, test } from 'vitest'
import { findTables, groupTables } from './table-groups.ts'

const listed = (...names: string[]) => names.map((name) => ({ name }))
const origin = (name: string, job: string | null) => ({
  table_schema: name.split('.')[0] ?? '',
  table_name: name.split('.')[1] ?? '',
  job_id: job,
  task: job && 'osmImportArea',
})

test('tables of one import are a group, and what stands alone comes first', () => {
  const tables = listed('public.porto_pois', 'public.porto_streets', 'public.roads', 'public.lone', 'survey.notes')
  const origins = [
    origin('public.porto_pois', 'a'),
    origin('public.porto_streets', 'a'),
    origin('public.lone', 'b'),
    origin('public.roads', null),
  ]
  expect(groupTables(tables, origins)).toEqual([
    { key: '', label: null, tables: listed('public.roads', 'public.lone', 'survey.notes') },
    { key: 'a', label: 'porto, OpenStreetMap import', tables: listed('public.porto_pois', 'public.porto_streets') },
  ])
  expect(groupTables(tables, [])).toEqual([{ key: '', label: null, tables }])
  expect(groupTables([], origins)).toEqual([])
})

test('a group of tables whose names begin differently is named by its task', () => {
  const tables = listed('public.a_b', 'public.c_d')
  expect(groupTables(tables, [origin('public.a_b', 'j'), origin('public.c_d', 'j')])[0]?.label).toBe(
    'OpenStreetMap import',
  )
})

test('a search finds names that hold all its words', () => {
  const tables = listed('public.porto_pois', 'public.porto_streets', 'public.roads')
  expect(findTables(tables, ' STREETS porto')).toEqual(listed('public.porto_streets'))
  expect(findTables(tables, '')).toEqual(tables)
  expect(findTables(tables, 'lisbon')).toEqual([])
})
