/** Conversion of the text of a tag. */
export type TextType =
  /** The text, unchanged. */
  | 'text'
  /** A whole number of 32 bits: `2`, `-1`, `12 000`; null for other text. */
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

/** Reads the value of a tag; null when the tag is absent or its value does not fit the column. */
export function readText(type: TextType, whole: string | null): ColumnValue {
  if (type === 'text' || whole === null) return type === 'oneway' ? 0 : whole
  // Values of OpenStreetMap are never longer; the limit bounds the time for others.
  const text = whole.length > MOST_CHARACTERS ? whole.slice(0, MOST_CHARACTERS) : whole
  switch (type) {
    case 'integer':
      return readInteger(text)
    case 'number':
      return readQuantity(text)?.value ?? null
    case 'metres':
      return readMetres(text)
    case 'kmh':
      return readKmh(text)
    case 'flag':
      return !isFalse(text)
    case 'bool':
      return isTrue(text) ? true : isFalse(text) ? false : null
    case 'oneway':
      return text === '-1' || text === 'reverse' ? -1 : isTrue(text) ? 1 : 0
  }
}

const MOST_CHARACTERS = 255

function isTrue(text: string): boolean {
  return text === 'yes' || text === 'true' || text === '1'
}

function isFalse(text: string): boolean {
  return text === 'no' || text === 'false' || text === '0'
}

/** Commas occur only between groups of three digits. */
const INTEGER = /^[+-]?(?:\d[\d ']*|\d{1,3}(?:,\d{3})+)$/

function readInteger(text: string): number | null {
  const value = INTEGER.test(text) ? Number(text.replaceAll(/[ ,']/g, '')) : Number.NaN
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null
}

interface Quantity {
  readonly value: number
  /** Letters right after the number, with a further "/h", in lower case; an empty text without any. */
  readonly unit: string
}

/** A number with an optional unit, then the end or a separator, but no further digits. */
const QUANTITY = /^\s*([+-]?\d{1,15}(?:[.,]\d{1,15})?)\s*([a-z]*(?:\/h)?)(?![a-z]|\s*\d)/i
/** A comma that may be a thousands separator or a decimal one. */
const GROUPED = /^[+-]?[1-9]\d{0,2},\d{3}$/

function readQuantity(text: string): Quantity | null {
  const [, digits, unit] = QUANTITY.exec(text) ?? []
  if (digits === undefined || GROUPED.test(digits)) return null
  return { value: Number(digits.replace(',', '.')), unit: unit!.toLowerCase() }
}

const METRES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['m', 1],
  ['ft', 0.3048],
  ['feet', 0.3048],
  ['km', 1000],
])
const KMH_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['km/h', 1],
  ['kmh', 1],
  ['kph', 1],
  ['mph', 1.609344],
  ['knots', 1.852],
])

function readMetres(text: string): number | null {
  const feet = /^\s*(\d{1,15})\s*'\s*(?:(\d{1,15}(?:\.\d{1,15})?)\s*")?/.exec(text)
  if (feet) return Number(feet[1]) * 0.3048 + Number(feet[2] ?? 0) * 0.0254
  return readIn(METRES_PER_UNIT, text)
}

function readKmh(text: string): number | null {
  const rounded = Math.round(readIn(KMH_PER_UNIT, text) ?? 0)
  return rounded > 0 && rounded < 1000 ? rounded : null
}

/** A quantity with one of some units. */
function readIn(units: ReadonlyMap<string, number>, text: string): number | null {
  const quantity = readQuantity(text)
  const factor = quantity && units.get(quantity.unit)
  return quantity && factor ? quantity.value * factor : null
}
