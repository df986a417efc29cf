import type { Warnings } from '@terrane/core/errors'
import { askedType, type AskedTypes } from './asked-types.ts'
import type { CsvTable } from './csv-table.ts'
import type { ColumnReading, Doubt, TextColumn } from './text-column.ts'

const TO_CHOOSE = 'Name the type of the column in types to read it otherwise.'

/** Warnings about columns of ambiguous meaning; their names follow. */
const DOUBTS: Readonly<Record<Doubt, { readonly code: string; readonly message: string }>> = {
  'read as numbers': {
    code: 'NUMBERS_GUESSED',
    message: `Commas and points of numbers may separate fractions or thousands: columns were read as is most likely. ${TO_CHOOSE}`,
  },
  zone: {
    code: 'TIMES_GUESSED',
    message: 'Times without a zone were read as those of UTC, because others of their column have a zone.',
  },
  'day first': {
    code: 'DATES_GUESSED',
    message: 'Dates such as 3/4/2024 were read with the day first.',
  },
  'thousand or fraction': {
    code: 'NUMBERS_DOUBTFUL',
    message: `Columns stay text because their commas, points and blanks may separate fractions, thousands or digits of a code. ${TO_CHOOSE}`,
  },
  'day or month': {
    code: 'DATES_DOUBTFUL',
    message: `Columns stay text because day, month and year of their dates cannot be told apart. ${TO_CHOOSE}`,
  },
  shortened: {
    code: 'NUMBERS_SHORTENED',
    message:
      'Numbers such as 4.91511E+12 were shortened by a spreadsheet: the last digits of telephone numbers, codes and keys are not in the file. Export the column as text to keep them.',
  },
  'more than numbers': {
    code: 'VALUES_NOT_PLAIN',
    message: `Columns stay text because values have units, or words for no value, besides numbers or times. ${TO_CHOOSE}`,
  },
}

/**
 * How the columns of a table are read. An uncertain decision is a warning with the column's name.
 *
 * @param coordinates numbers of the columns of coordinates
 * @param types types that the caller requests
 */
export function readingsOf(
  columns: readonly TextColumn[],
  { names, delimiter }: Pick<CsvTable, 'names' | 'delimiter'>,
  { coordinates, types }: { readonly coordinates: readonly number[]; readonly types?: AskedTypes | undefined },
  warnings: Warnings,
): ColumnReading[] {
  const signs = new Set(columns.map(({ decimalSign }) => decimalSign).filter((sign) => sign !== null))
  const sign = signs.size === 1 ? [...signs][0]! : null
  const readings = columns.map((column, i) => {
    const place = { sign, isCoordinate: coordinates.includes(i), isCommaTable: delimiter === ',' }
    const asked = askedType(types, names[i]!)
    return asked === undefined ? column.decide(place) : column.cast(asked, place)
  })
  for (const [doubt, { code, message }] of Object.entries(DOUBTS)) {
    const doubtful = names.filter((_, i) => readings[i]!.doubt === doubt)
    if (doubtful.length > 0) warnings.add(code, message, doubtful.length, doubtful)
  }
  return readings
}
