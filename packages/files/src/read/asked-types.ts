import { fitsColumn } from '@terrane/core/columns'
import { Warnings } from '@terrane/core/errors'
import type { FeatureReader, FieldType } from '../feature-stream.ts'
import { clockText, dayText, formsOfText, isSurePoint, plainNumber, type DayOrder } from './text-forms.ts'
import { textOf, valueOfCell } from './value-types.ts'

/** Requested types, by the names of columns in any case. */
export type AskedTypes = Readonly<Record<string, FieldType>>

/** Notation of the numbers and days of a column. */
export interface Writing {
  readonly sign: ',' | '.'
  readonly order: DayOrder
}

const AS_PROGRAMS: Writing = { sign: '.', order: 'day first' }
const TRUE = /^(?:true|t|1|yes|y|ja|j|wahr|oui|vrai|s[ií]|sim|da|tak|x)$/i
const FALSE = /^(?:false|f|0|no|n|nein|falsch|non|faux|não|nie|nej|nee)$/i
const PLAIN_FRACTION = /^[+-]?\d*\.\d+(?:e[+-]?\d{1,4})?$/i
const UNITS = /^(?:€|\$|£|¥|EUR|USD|GBP|CHF)\s?|\s?(?:%|‰|€|\$|£|¥|EUR|USD|GBP|CHF)$/gi

/** The requested type of a column; undefined without one. */
export function askedType(types: AskedTypes | undefined, name: string): FieldType | undefined {
  const wanted = name.toLowerCase()
  return Object.entries(types ?? {}).find(([own]) => own.toLowerCase() === wanted)?.[1]
}

/** Parses a text as a type: null for an empty text, undefined for a text that the type does not hold. */
export function castText(text: string, type: FieldType, writing: Writing = AS_PROGRAMS): unknown {
  if (type === 'text') return text
  const plain = text.trim()
  if (plain === '') return null
  if (type === 'bool') return TRUE.test(plain) ? true : FALSE.test(plain) ? false : undefined
  if (type === 'jsonb') return parsed(plain)
  try {
    const value = valueOfCell(written(plain, type, writing), type)
    const isNumber = typeof value !== 'number' || !Number.isNaN(value) || /^[+-]?nan$/i.test(plain)
    return isNumber && fitsColumn(type, value as string | number | bigint) ? value : undefined
  } catch {
    return undefined
  }
}

/** Counts values that the requested type does not hold. */
export function countUnfit(name: string, row: number, warnings: Warnings): void {
  const message = `Values cannot be read as the type that types names, as of ${name}.`
  warnings.count('VALUES_UNREADABLE', message, row)
}

/** The layers of a reader with the requested types. */
export function withTypes(reader: FeatureReader, types: AskedTypes): FeatureReader {
  const warnings = new Warnings()
  const asked = reader.layers.map(({ fields }) => fields.map(({ name }) => askedType(types, name)))
  return {
    layers: reader.layers.map((layer, i) => ({
      ...layer,
      fields: layer.fields.map((field, at) => ({ ...field, type: asked[i]![at] ?? field.type })),
    })),
    async *read(layer) {
      const { fields } = reader.layers[layer]!
      const casts = fields.map(({ type }, at) => (asked[layer]![at] === type ? undefined : asked[layer]![at]))
      let row = 0
      for await (const batch of reader.read(layer)) {
        const columns = batch.columns.map((values, at) => {
          const type = casts[at]
          if (type === undefined) return values
          return values.map((value, i) => {
            const cast = castCell(value, type)
            if (cast === undefined) countUnfit(fields[at]!.name, row + i + 1, warnings)
            return cast ?? null
          })
        })
        row += batch.rows
        yield { ...batch, columns }
      }
    },
    takeWarnings: () => [...reader.takeWarnings(), ...warnings.take()],
  }
}

/** Converts a value to a type; undefined for a value that the type does not hold. */
function castCell(value: unknown, type: FieldType): unknown {
  if (value === null || value === undefined) return null
  return castText(value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : textOf(value), type)
}

function written(text: string, type: FieldType, { sign, order }: Writing): string {
  switch (type) {
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return dayText(text, order)
    case 'time':
      return clockText(text)
    default:
      return plainNumber(text.replaceAll(UNITS, ''), signOf(text.replaceAll(UNITS, '')) ?? sign)
  }
}

/** The decimal sign of a number; null when it could be either. */
function signOf(text: string): ',' | '.' | null {
  if (PLAIN_FRACTION.test(text) && isSurePoint(text)) return '.'
  const forms = formsOfText(text)
  if (forms.includes('comma fraction') || forms.includes('point groups')) return ','
  return forms.includes('comma groups') || forms.includes('point fraction') ? '.' : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
