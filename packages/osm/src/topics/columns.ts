/** What a column holds, and so how its text is read. */
export type ColumnKind =
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
  /** 1 along the way, -1 against it, 0 both ways or without the tag. */
  | 'oneway'

export type ColumnValue = string | number | boolean | null

/** Reads the value of a tag; null when the tag is absent or does not say what the column holds. */
export function readColumn(kind: ColumnKind, text: string | null): ColumnValue {
  switch (kind) {
    case 'text':
      return text
    case 'integer':
      return readInteger(text)
    case 'number':
      return readNumber(text)
    case 'metres':
      return readMetres(text)
    case 'kmh':
      return readKmh(text)
    case 'flag':
      return text === null ? null : !['no', 'false', '0'].includes(text)
    case 'oneway':
      return text === '-1' || text === 'reverse' ? -1 : text === 'yes' || text === 'true' || text === '1' ? 1 : 0
  }
}

function readInteger(text: string | null): number | null {
  if (text === null) return null
  const value = /^[+-]?\d[\d ,']*$/.test(text) ? Number(text.replaceAll(/[ ,']/g, '')) : Number.NaN
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null
}

function readNumber(text: string | null): number | null {
  const digits = text === null ? null : /^\s*([+-]?\d{1,15}(?:[.,]\d{1,15})?)/.exec(text)
  return digits?.[1] === undefined ? null : Number(digits[1].replace(',', '.'))
}

function readMetres(text: string | null): number | null {
  const value = readNumber(text)
  if (value === null || text === null) return null
  const feet = /^\s*\d+\s*'\s*(?:(\d+(?:\.\d+)?)\s*")?/.exec(text)
  if (feet) return value * 0.3048 + Number(feet[1] ?? 0) * 0.0254
  const unit = /[a-z]+\s*$/i.exec(text)?.[0].trim().toLowerCase()
  if (unit === undefined || unit === 'm') return value
  if (unit === 'ft' || unit === 'feet') return value * 0.3048
  if (unit === 'km') return value * 1000
  return null
}

function readKmh(text: string | null): number | null {
  const value = readNumber(text)
  if (value === null || text === null) return null
  const rounded = Math.round(/mph/i.test(text) ? value * 1.609344 : /knots/i.test(text) ? value * 1.852 : value)
  return rounded > 0 && rounded < 1000 ? rounded : null
}
