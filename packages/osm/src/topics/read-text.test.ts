import { expect, test } from 'vitest'
import { readText } from './read-text.ts'
import type { TextType, ColumnValue } from './read-text.ts'

test.for<[TextType, string | null, ColumnValue]>([
  ['text', 'as it is ', 'as it is '],
  ['text', null, null],
  ['integer', '2', 2],
  ['integer', '-1', -1],
  ['integer', '12 000', 12000],
  ['integer', '1,234,567', 1234567],
  ['integer', '12,5', null],
  ['integer', '1,2345', null],
  ['integer', '2.5', null],
  ['integer', 'two', null],
  ['integer', '99999999999', null],
  ['integer', null, null],
  ['number', '2.5', 2.5],
  ['number', '2,5', 2.5],
  ['number', '3;4', 3],
  ['number', '1-3', 1],
  ['number', '1.', 1],
  ['number', 'ground', null],
  ['number', '0x10', null],
  ['number', '1e3', null],
  ['number', '12 000', null],
  ['metres', '12', 12],
  ['metres', '12.5 m', 12.5],
  ['metres', '40 ft', 12.192],
  ['metres', `6'2"`, 1.8796],
  ['metres', `10'`, 3.048],
  ['metres', '1.2 km', 1200],
  ['metres', '12m', 12],
  ['metres', '7;9', 7],
  ['metres', '5 m above ground', 5],
  ['metres', '3 storeys', null],
  ['metres', '10 constructor', null],
  ['metres', '1,000 m', null],
  ['metres', '0,125 m', 0.125],
  ['metres', `${'9'.repeat(400)}'`, null],
  ['metres', '12 000', null],
  ['metres', '1e3', null],
  ['metres', null, null],
  ['kmh', '50', 50],
  ['kmh', '30 mph', 48],
  ['kmh', '30mph;20mph', 48],
  ['kmh', '80 km/h', 80],
  ['kmh', '10 knots', 19],
  ['kmh', '50 constructor', null],
  ['kmh', '50 m', null],
  ['kmh', '1 000', null],
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
  const read = readText(kind, text)
  expect(typeof read === 'number' ? Number(read.toFixed(9)) : read).toBe(value)
})

test('a long text takes no longer', () => {
  const text = `1${' '.repeat(1e6)}2`
  const started = performance.now()
  for (const type of ['integer', 'number', 'metres', 'kmh'] as const) readText(type, text)
  expect(performance.now() - started).toBeLessThan(500)
})
