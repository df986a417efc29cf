import { conversionFailed } from '../../errors.ts'
import type { FieldType } from '../../feature-stream.ts'
import { decimalText, isoOfCount } from '../instants.ts'

/** Julian day number of 1970-01-01; FoxPro stores days as Julian day numbers. */
const DAYS_TO_1970 = 2_440_588
const DAY_MS = 86_400_000n
const CENTS_OF_CENTS = 4
/** Types of columns with binary cells by their letters, and the size of a cell in bytes. */
const TYPES: Readonly<Record<string, readonly [FieldType, number]>> = {
  I: ['int4', 4],
  Y: ['numeric', 8],
  T: ['timestamp', 8],
  B: ['float8', 8],
}

/** The type of a column with binary cells; null for one with text cells, or of another width. */
export function foxproType(letter: string, width: number): FieldType | null {
  const [type, bytes] = TYPES[letter] ?? []
  return type !== undefined && bytes === width ? type : null
}

/**
 * The value of a binary cell: whole numbers, money with four decimals, times without a zone, and doubles, all
 * little-endian.
 */
export function foxproValue(letter: string, cell: Buffer): unknown {
  switch (letter) {
    case 'I':
      return cell.readInt32LE()
    case 'Y':
      return decimalText(cell.readBigInt64LE(), CENTS_OF_CENTS)
    case 'B':
      return cell.readDoubleLE()
    default: {
      const isEmpty = cell.every((byte) => byte === 0) || cell.every((byte) => byte === 0x20)
      const days = BigInt(cell.readInt32LE() - DAYS_TO_1970)
      return isEmpty ? null : isoOfCount(days * DAY_MS + BigInt(cell.readInt32LE(4)), 1000n)
    }
  }
}

/**
 * Refuses a column with binary cells, which the engine would read as texts.
 *
 * @param version the first byte of the table
 * @throws CONVERSION_FAILED
 */
export function refuseBytes({ name, letter, width }: { name: string; letter: string; width: number }, version: number) {
  const isMemoOfFoxpro = /[MGP]/.test(letter) && width === 4
  if (!/[IYT@+OQVW0]/.test(letter) && !(letter === 'B' && width === 8) && !isMemoOfFoxpro) return
  const reason = `column ${name} of a table of dBASE or FoxPro (version ${version}) has the type ${letter}, which is not read here: save it as CSV`
  throw conversionFailed({ reason })
}
