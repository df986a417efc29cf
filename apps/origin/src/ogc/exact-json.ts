import { parseForeignJson } from '@terrane/service'

/** `JSON.rawJSON` of ES2026, which is missing in the types. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

/** A number with more digits than a double can hold. */
export class Numeral {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }

  toJSON(): unknown {
    return JSON_NUMBER.test(this.text) ? rawJSON(this.text) : Number(this.text)
  }
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
/** Decimal digits that each double keeps (IEEE 754). */
const SAFE_DIGITS = 15

/** A number by its text; a {@link Numeral} where a double could round it. */
export function numberOf(text: string): number | Numeral {
  const isPlain = !/e/i.test(text)
  return isPlain && text.replaceAll(/\D/g, '').length > SAFE_DIGITS ? new Numeral(text) : Number(text)
}

/** JSON with numbers as {@link numberOf} reads them. @throws BODY_TOO_DEEP, BODY_TOO_WIDE, SyntaxError */
export function parseExactJson(text: string): unknown {
  return parseForeignJson(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? numberOf(source) : value,
  )
}

/** Whether a value is a finite number, of any size. */
export function isFiniteNumber(value: unknown): boolean {
  return Number.isFinite(value instanceof Numeral ? Number(value.text) : value)
}
