import { expect, test } from 'vitest'
import type { FieldType } from '../feature-stream.ts'
import type { AskedTypes } from './asked-types.ts'
import { readingsOf } from './column-readings.ts'
import { TextColumn } from './text-column.ts'
import { Warnings } from '@terrane/core/errors'

/** The type of a column, its values, and the code of its warning. */
function columnOf(
  cells: readonly string[],
  name = 'c',
  { beside = [] as readonly string[], delimiter = ';', types = undefined as AskedTypes | undefined } = {},
) {
  const columns = [new TextColumn(name, types !== undefined), new TextColumn('beside')]
  for (const cell of cells) columns[0]!.add(cell)
  for (const cell of beside) columns[1]!.add(cell)
  const warnings = new Warnings()
  const [reading] = readingsOf(columns, { names: [name, 'beside'], delimiter }, { coordinates: [], types }, warnings)
  const said = warnings.take().find(({ examples }) => examples?.includes(name))
  return [reading!.type, cells.map((cell) => reading!.read(cell)), said?.code ?? null]
}

test.each<
  [what: string, cells: readonly string[], type: string, values: readonly unknown[] | null, code: string | null]
>([
  ['telephone numbers', ['+34123456789', '+4915112345678'], 'text', null, null],
  ['telephone numbers beside others', ['+34123456789', '612345678'], 'text', null, null],
  ['signed numbers', ['+5', '-12', '+1.5'], 'float8', [5, -12, 1.5], null],
  ['postcodes with leading zeros', ['01067', '80331'], 'text', null, null],
  ['an IBAN', ['DE89370400440532013000'], 'text', null, null],
  ['an ISBN with a letter', ['316148410X', '3161484100'], 'text', null, null],
  ['codes with an E', ['12E3', '45E10'], 'text', null, null],
  ['colours', ['00FF00', '123456', '1E5000'], 'text', null, null],
  ['scientific notation', ['1.5e3', '1e+21', '2E-3'], 'float8', [1500, 1e21, 0.002], null],
  ['decimal commas', ['519,25', '34,0', '12'], 'float8', [519.25, 34, 12], null],
  ['a decimal comma in scientific notation', ['4,9E+3'], 'float8', [4900], null],
  [
    'long numbers that a spreadsheet shortened',
    ['4.91511E+12', '4915112345678'],
    'float8',
    [4.91511e12, 4915112345678],
    'NUMBERS_SHORTENED',
  ],
  [
    'the same with decimal commas',
    ['4,91511E+12', '', '5E+11'],
    'float8',
    [4.91511e12, null, 5e11],
    'NUMBERS_SHORTENED',
  ],
  ['shortened numbers beside keys', ['4,91511E+12', '0170123456'], 'text', null, 'NUMBERS_SHORTENED'],
  [
    'measurements with large exponents',
    ['1.98892E+30', '5.97E+24', '7.34E+22'],
    'float8',
    [1.98892e30, 5.97e24, 7.34e22],
    null,
  ],
  ['large measurements beside small ones', ['4.5E+12', '0.25'], 'float8', [4.5e12, 0.25], null],
  ['decimal commas beside points', ['12,5', '12.5'], 'text', null, 'NUMBERS_DOUBTFUL'],
  ['thousands with commas', ['1,234,567', '1,234', '12'], 'int8', [1_234_567n, 1234n, 12n], null],
  ['thousands with commas and fractions', ['1,234.5', '7'], 'float8', [1234.5, 7], null],
  ['thousands with points and fractions', ['1.234,5', '7'], 'float8', [1234.5, 7], null],
  ['thousands with apostrophes', ["1'234.50", '7.00'], 'float8', [1234.5, 7], null],
  ['thousands with narrow spaces', ['1\u202f234,5', '12\u00a0000'], 'float8', [1234.5, 12_000], null],
  ['thousands with blanks beside fractions', ['1 234,5', '12 345', '7'], 'float8', [1234.5, 12_345, 7], null],
  ['thousands with blanks alone', ['1 234', '12 345'], 'text', null, 'NUMBERS_DOUBTFUL'],
  ['groups beside days', ['1 234', '31.12.2024'], 'text', null, null],
  ['groups beside a key', ['1 234,5', '12 345', '007'], 'text', null, null],
  ['groups beside both signs', ['1 234,5', '1 234.5'], 'text', null, 'NUMBERS_DOUBTFUL'],
  ['what may be thousands or fractions', ['1,234', '5,678'], 'text', null, 'NUMBERS_DOUBTFUL'],
  ['lists of numbers', ['5,7', '3,5,7'], 'text', null, null],
  ['percentages', ['12 %', '12,5 %'], 'text', null, 'VALUES_NOT_PLAIN'],
  ['amounts of money', ['€ 12,50', '7 €', '$3.20'], 'text', null, 'VALUES_NOT_PLAIN'],
  ['numbers with words for none', ['12', 'N/A', '7'], 'text', null, 'VALUES_NOT_PLAIN'],
  ['words for none alone', ['-', 'N/A'], 'text', null, null],
  ['versions', ['1.2.3', '1.10'], 'text', null, null],
  ['addresses of hosts', ['192.168.1.1', '10.0.0.1'], 'text', null, null],
  ['truth', ['true', 'FALSE'], 'bool', [true, false], null],
  ['truth in words', ['ja', 'nein'], 'text', null, null],
  ['days of ISO', ['2024-02-29', '2024/03/01'], 'date', ['2024-02-29', '2024-03-01'], null],
  ['months beyond a year', ['2024-13-01'], 'text', null, null],
  ['dotted days', ['29.2.2024', '01.03.2024'], 'date', ['2024-02-29', '2024-03-01'], null],
  ['days before months', ['13/4/2024', '3/4/2024'], 'date', ['2024-04-13', '2024-04-03'], null],
  ['months before days', ['4/13/2024', '3/4/2024'], 'date', ['2024-04-13', '2024-03-04'], null],
  ['days or months', ['3/4/2024', '5/6/2024'], 'text', null, 'DATES_DOUBTFUL'],
  ['both orders', ['13/4/2024', '4/13/2024'], 'text', null, 'DATES_DOUBTFUL'],
  ['years of two digits', ['31.12.24'], 'text', null, 'DATES_DOUBTFUL'],
  ['dotted days with a time', ['31.12.2024 7:30', '1.1.2025'], 'timestamp', ['2024-12-31T07:30', '2025-01-01'], null],
  ['local times', ['2024-02-29 13:45:10'], 'timestamp', ['2024-02-29 13:45:10'], null],
  ['times with a zone', ['2024-02-29T13:45:10+01:00'], 'timestamptz', ['2024-02-29T13:45:10+01:00'], null],
  [
    'times with a zone behind a blank',
    ['2024-02-29 13:45:10 +0100', '2024-02-29 13:45:10 UTC'],
    'timestamptz',
    ['2024-02-29 13:45:10+0100', '2024-02-29 13:45:10Z'],
    null,
  ],
  [
    'times with and without a zone',
    ['2024-02-29T13:45:10+01:00', '2024-02-29 13:45:10'],
    'timestamptz',
    ['2024-02-29T13:45:10+01:00', '2024-02-29 13:45:10'],
    'TIMES_GUESSED',
  ],
  ['times of day', ['14:30', '7:05'], 'time', ['14:30', '07:05'], null],
  ['times of half days', ['2:30 PM', '12:05 am'], 'time', ['14:30', '00:05'], null],
  ['timetables beyond midnight', ['23:10:00', '25:10:00'], 'text', null, null],
  ['durations', ['4:33', '3:21'], 'text', null, null],
  ['nothing', ['', ''], 'text', ['', ''], null],
])('%s are right, or said to be doubtful: %j', (_, cells, type, values, code) => {
  expect(columnOf(cells)).toEqual([type, values ?? cells, code])
})

test.each<[what: string, cells: readonly string[], name: string, type: string]>([
  ['a telephone number without a plus', ['4915112345678'], 'Telefon', 'text'],
  ['telephone numbers in groups', ['123 456', '123\u00a0456', '7'], 'phone', 'text'],
  ['an ISBN of digits', ['9783161484100'], 'ISBN-13', 'text'],
  ['versions of two parts', ['1.9', '1.10'], 'app_version', 'text'],
  ['whole versions, as of OpenStreetMap', ['1', '12'], 'version', 'int4'],
  ['numbers of a hotel', ['12', '13'], 'hotel', 'int4'],
])('the name of a column tells digits that are names: %s', (_, cells, name, type) => {
  expect(columnOf(cells, name)[0]).toBe(type)
})

test('other columns tell what points and commas of a column are, and that is said', () => {
  expect(columnOf(['1,234'], 'c', { beside: ['519,25'] })).toEqual(['float8', [1.234], 'NUMBERS_GUESSED'])
  expect(columnOf(['1,234'], 'c', { beside: ['519.25'] })).toEqual(['int8', [1234n], 'NUMBERS_GUESSED'])
  expect(columnOf(['1.234', '56'], 'c', { beside: ['519,25'] })).toEqual(['int8', [1234n, 56n], 'NUMBERS_GUESSED'])
  expect(columnOf(['5e+3', '7'], 'c', { beside: ['519,25'] })).toEqual(['float8', [5000, 7], null])
  expect(columnOf(['1.234', '0.5'], 'c', { beside: ['519,25'] })).toEqual(['float8', [1.234, 0.5], null])
  expect(columnOf(['519,25'], 'c', { delimiter: ',' })).toEqual(['float8', [519.25], 'NUMBERS_GUESSED'])
})

test.each<[type: FieldType, cells: readonly string[], values: readonly unknown[], code: string | null]>([
  ['text', ['1.10', ' 007'], ['1.10', ' 007'], null],
  ['bool', ['ja', 'nein', '1', '', '2'], [true, false, true, null, undefined], null],
  ['float8', ['1,234', '5,6'], [1.234, 5.6], null],
  ['int8', ['1,234', '5,678'], [1234n, 5678n], null],
  ['float8', ['12 %', '€ 1.234,50', 'N/A', 'NaN'], [12, 1234.5, undefined, NaN], null],
  ['numeric', ['0.10', '1e2', 'x'], ['0.10', '1e2', undefined], null],
  ['date', ['3/4/2024', '31.12.69', '2024-02-30'], ['2024-04-03', '2069-12-31', undefined], 'DATES_GUESSED'],
  ['date', ['3/4/2024', '4/13/2024'], ['2024-03-04', '2024-04-13'], null],
  ['timestamp', ['3.4.2024 7:05'], ['2024-04-03T07:05'], null],
  ['time', ['7:05', '2:30 pm', '25:00'], ['07:05', '14:30', undefined], null],
  ['jsonb', ['{"a":1}', '{'], [{ a: 1 }, undefined], null],
])('a column is read as %s where the caller says so: %j', (type, cells, values, code) => {
  expect(columnOf(cells, 'c', { types: { C: type } })).toEqual([type, values, code])
})

test.each<[type: FieldType, cells: Readonly<Record<string, unknown>>, code: string | null]>([
  ['date', { unknown: undefined, '12/31/2024': '2024-12-31', '3/4/2024': '2024-03-04' }, null],
  ['date', { unknown: undefined, '3/4/2024': '2024-04-03' }, 'DATES_GUESSED'],
  ['float8', { unknown: undefined, '1.234': 1.234, '0.5': 0.5, 'N/A': undefined }, null],
  ['float8', { unknown: undefined, '1.234': 1234, '0,5': 0.5, '7 %': 7 }, null],
])('all rows say how a column is written whose type is asked for, in any order: %s %j', (type, values, code) => {
  const cells = Object.keys(values)
  for (const i of cells.keys()) {
    const turned = [...cells.slice(i), ...cells.slice(0, i)]
    const expected = [type, turned.map((cell) => values[cell]), code]
    expect(columnOf(turned, 'c', { types: { c: type } })).toEqual(expected)
  }
})

test('a decimal point of a column whose type is asked for stays one beside columns with decimal commas', () => {
  const asked = (cells: readonly string[], type: FieldType = 'float8') =>
    columnOf(cells, 'c', { beside: ['519,25'], types: { c: type } })[1]
  expect(asked(['unknown', '2.25', '-.5', '1.5e3'])).toEqual([undefined, 2.25, -0.5, 1500])
  expect(asked(['2.25', '5,5', '€ 3.20', '1.234,5'])).toEqual([2.25, 5.5, 3.2, 1234.5])
  expect(asked(['unknown', '2.25', '12'], 'int8')).toEqual([undefined, undefined, 12n])
})
