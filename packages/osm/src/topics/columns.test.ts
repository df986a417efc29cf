import { expect, test } from 'vitest'
import { readColumn } from './columns.ts'
import type { ColumnKind, ColumnValue } from './columns.ts'

test.for<[ColumnKind, string | null, ColumnValue]>([
  ['text', 'as it is ', 'as it is '],
  ['text', null, null],
  ['integer', '2', 2],
  ['integer', '-1', -1],
  ['integer', '12 000', 12000],
  ['integer', '1,234,567', 1234567],
  ['integer', '2.5', null],
  ['integer', 'two', null],
  ['integer', '99999999999', null],
  ['integer', null, null],
  ['number', '2.5', 2.5],
  ['number', '2,5', 2.5],
  ['number', '3;4', 3],
  ['number', '1-3', 1],
  ['number', 'ground', null],
  ['metres', '12', 12],
  ['metres', '12.5 m', 12.5],
  ['metres', '40 ft', 12.192],
  ['metres', `6'2"`, 1.8796],
  ['metres', `10'`, 3.048],
  ['metres', '1.2 km', 1200],
  ['metres', '3 storeys', null],
  ['metres', null, null],
  ['kmh', '50', 50],
  ['kmh', '30 mph', 48],
  ['kmh', '10 knots', 19],
  ['kmh', 'DE:urban', null],
  ['kmh', 'none', null],
  ['kmh', '0', null],
  ['kmh', '99999', null],
  ['flag', 'yes', true],
  ['flag', 'viaduct', true],
  ['flag', 'no', false],
  ['flag', '0', false],
  ['flag', null, null],
  ['oneway', 'yes', 1],
  ['oneway', '-1', -1],
  ['oneway', 'no', 0],
  ['oneway', null, 0],
])('%s of %s is %s', ([kind, text, value]) => {
  const read = readColumn(kind, text)
  expect(typeof read === 'number' ? Number(read.toFixed(9)) : read).toBe(value)
})
