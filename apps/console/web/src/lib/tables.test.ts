import { expect, test } from 'vitest'
import { callOf, type Table } from './tables.ts'

test('the command for QGIS names a table of any schema, in words of a shell', () => {
  const of = (schema: string, name: string) =>
    callOf({ table_schema: schema, table_name: name } as Table, 'qgis').replace('terrane qgis ', '')
  expect(of('public', 'shops')).toBe('shops --role service --file shops.qlr')
  expect(of('topo', 'roads')).toBe('roads --schema topo --role service --file roads.qlr')
  expect(of('public', "it's; rm")).toBe(`'it'\\''s; rm' --role service --file 'it'\\''s; rm.qlr'`)
})
