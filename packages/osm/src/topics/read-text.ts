/** How the text of a tag is read. */
export type TextType =
  /** The text as it is. */
  | 'text'
  /** A whole number of 32 bits: `2`, `-1`, `12 000`; null when it is none. */
  | 'integer'
  /** A number: `2.5`; of a list or range the first. */
  | 'number'
  /** Metres, from a bare number or one with a unit: `12`, `12 m`, `40 ft`, `6'2"`. */
  | 'metres'
  /** Kilometres per hour, from a bare number or one with a unit: `50`, `30 mph`. */
  | 'kmh'
  /** `yes`, `true` and `1` are true, and so is any value but `no`, `false` and `0`; null without the tag. */
  | 'flag'
  /** `yes`, `true` and `1` are true, `no`, `false` and `0` false; null for any other value. */
  | 'bool'
  /** 1 along the way, -1 against it, 0 both ways or without the tag. */
  | 'oneway'

export type ColumnValue = string | number | boolean | null

/** Reads the value of a tag; null when the tag is absent or does not say what the column holds. */
export function readText(type: TextType, text: string | null): ColumnValue {
  switch (type) {
    case 'text':
      return text
    case 'integer':
      return readInteger(text)
    case 'number':
      return readQuantity(text)?.value ?? null
    case 'metres':
      return readMetres(text)
    case 'kmh':
      return readKmh(text)
    case 'flag':
      return text === null ? null : !isFalse(text)
    case 'bool':
      return text === null ? null : isTrue(text) ? true : isFalse(text) ? false : null
    case 'oneway':
      return text === '-1' || text === 'reverse' ? -1 : isTrue(text) ? 1 : 0
  }
}

function isTrue(text: string | null): boolean {
  return text === 'yes' || text === 'true' || text === '1'
}

function isFalse(text: string): boolean {
  return text === 'no' || text === 'false' || text === '0'
}

function readInteger(text: string | null): number | null {
  if (text === null) return null
  const value = /^[+-]?\d[\d ,']*$/.test(text) ? Number(text.replaceAll(/[ ,']/g, '')) : Number.NaN
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null
}

interface Quantity {
  readonly value: number
  /** Letters that stand right behind the number, in lower case; the empty string when there are none. */
  readonly unit: string
}

/** A number with what may be its unit, then the end or what separates it from other things, but no further digits. */
const QUANTITY = /^\s*([+-]?\d{1,15}(?:[.,]\d{1,15})?)\s*([a-z]*)(?![a-z]|\s*\d)/i

function readQuantity(text: string | null): Quantity | null {
  const [, digits, unit] = (text === null ? null : QUANTITY.exec(text)) ?? []
  return digits === undefined ? null : { value: Number(digits.replace(',', '.')), unit: (unit ?? '').toLowerCase() }
}

const METRES_PER_UNIT: Readonly<Record<string, number>> = { '': 1, m: 1, ft: 0.3048, feet: 0.3048, km: 1000 }

function readMetres(text: string | null): number | null {
  const feet = /^\s*(\d+)\s*'\s*(?:(\d+(?:\.\d+)?)\s*")?/.exec(text ?? '')
  if (feet) return Number(feet[1]) * 0.3048 + Number(feet[2] ?? 0) * 0.0254
  const quantity = readQuantity(text)
  const metres = quantity === null ? undefined : METRES_PER_UNIT[quantity.unit]
  return metres === undefined ? null : quantity!.value * metres
}

function readKmh(text: string | null): number | null {
  const quantity = readQuantity(text)
  if (quantity === null) return null
  const { value, unit } = quantity
  const rounded = Math.round(unit === 'mph' ? value * 1.609344 : unit === 'knots' ? value * 1.852 : value)
  return rounded > 0 && rounded < 1000 ? rounded : null
}
