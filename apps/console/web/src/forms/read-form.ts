import { IDENTIFIER_PATTERN } from '@terrane/contracts/names'
import { readAoi, TerraneError } from '@terrane/core'
import { exampleOf } from './layouts.ts'
import { isInteger, optionsOf, type Field, type ListField, type PlainField } from './fields.ts'
import type { RowsField, VariantsField } from './fields.ts'

/** Members of an object of the request body. */
export type Group = Readonly<Record<string, unknown>>

/** Messages by JSON pointer. */
export type Problems = Map<string, string>

/** Values entered in a form. */
export interface FormState {
  /** The request body, in which entered values are texts until they are parsed. */
  readonly body: Group
  /** Index of the chosen variant by JSON pointer; -1 for none. */
  readonly variants: Readonly<Record<string, number>>
}

/** Limits that the values of a form are checked against, and the problems that were found. */
export interface FormCheck extends Pick<FormState, 'variants'> {
  readonly problems: Problems
  /** Largest area that a form accepts, in km²; 0 for no limit. */
  readonly maxAreaKm2: number
  /** Maximum positions of an area; absent when the worker does not state it. */
  readonly maxVertices?: number | undefined
}

/** The value to send; undefined when nothing was entered. Problems are added by the pointer of their field. */
export function readField(field: Field, value: unknown, check: FormCheck): unknown {
  const read = valueOf(field, value ?? undefined, check)
  if (read === undefined && field.required && !check.problems.has(field.pointer) && field.kind !== 'group') {
    check.problems.set(field.pointer, 'is required')
  }
  return read
}

function valueOf(field: Field, value: unknown, check: FormCheck): unknown {
  const { problems } = check
  switch (field.kind) {
    case 'constant':
      return field.value
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'choice':
      return value === '' ? undefined : value
    case 'choices':
      return readChoices(field, value, problems)
    case 'text':
      return readText(field, textOf(field, value), problems)
    case 'number':
      return readNumber(field, textOf(field, value), problems)
    case 'list':
      return readList(field, textOf(field, value), problems)
    case 'area':
      return readArea(field, value, check)
    case 'json':
      return readJson(field, value, problems)
    case 'rows':
      return readRows(field, rowsOf(value), check)
    case 'variants': {
      const variant = field.variants[chosenVariant(field, value, check.variants)]
      return variant && readField(variant.field, value, check)
    }
    case 'group': {
      // The required fields of an optional group apply once something in it is entered.
      if (!field.required && !isEntered(field, value)) return undefined
      const group = groupOf(value)
      const entries = field.fields.map((inner) => [inner.name, readField(inner, group[inner.name], check)] as const)
      return Object.fromEntries(entries.filter(([, read]) => read !== undefined))
    }
  }
}

/** The text of a field's control for a value. */
export function textOf({ kind }: Field, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (kind === 'list') return Array.isArray(value) ? value.map(String).join(', ') : ''
  return JSON.stringify(value, null, kind === 'json' ? 2 : undefined)
}

/** The members of an object; empty for other values. */
export function groupOf(value: unknown): Group {
  return typeof value === 'object' && value !== null ? (value as Group) : {}
}

/** The entries of a list; empty for other values. */
export function rowsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** True when a value has something entered in it, at any depth. */
export function isGiven(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isGiven)
  return value !== undefined && value !== null && value !== ''
}

/** True when a person has entered something in a field. Constants of an earlier request are not entered. */
function isEntered(field: Field, value: unknown): boolean {
  if (field.kind === 'constant') return false
  if (field.kind === 'rows') return rowsOf(value).length > 0
  if (field.kind !== 'group') return isGiven(value)
  const group = groupOf(value)
  return field.fields.some((inner) => isEntered(inner, group[inner.name]))
}

/** Index of the chosen variant, or of the first one that matches the value; -1 for none. */
export function chosenVariant(field: VariantsField, value: unknown, variants: FormState['variants']): number {
  const chosen = variants[field.pointer]
  if (chosen !== undefined) return chosen
  if (!isGiven(value)) return field.required ? 0 : -1
  const text = sortedJson(value)
  const check = { problems: new Map(), variants: {}, maxAreaKm2: 0 }
  return field.variants.findIndex((variant) => sortedJson(readField(variant.field, value, check)) === text)
}

/** The chosen variants after an entry of a list was removed; the indexes of later entries decrease by one. */
export function withoutRow(variants: FormState['variants'], list: string, index: number): FormState['variants'] {
  const moved = Object.entries(variants).flatMap(([pointer, variant]) => {
    const [row = '', ...rest] = pointer.startsWith(`${list}/`) ? pointer.slice(list.length + 1).split('/') : []
    if (row === '' || Number(row) < index) return [[pointer, variant] as const]
    return Number(row) === index ? [] : [[[list, Number(row) - 1, ...rest].join('/'), variant] as const]
  })
  return Object.fromEntries(moved)
}

/** Placeholders that a schedule replaces with the day and time of each run. */
const TOKEN = /\{(?:date|time)\}/g

function readText(field: PlainField, text: string, problems: Problems): string | undefined {
  if (text === '') return undefined
  const { pattern, minLength = 0, maxLength = Infinity } = field.schema
  if (text.length < minLength) problems.set(field.pointer, `needs at least ${minLength} characters`)
  else if (text.length > maxLength) problems.set(field.pointer, `has more than ${maxLength} characters`)
  else if (pattern !== undefined && !new RegExp(pattern, 'u').test(text.replaceAll(TOKEN, '0')))
    problems.set(field.pointer, patternProblem(field))
  return text
}

/** Message about the format of a text field. It gives an example, because people do not read patterns. */
function patternProblem({ name, schema }: PlainField): string {
  const example = exampleOf(name)
  if (schema.pattern === IDENTIFIER_PATTERN)
    return `must have only lower-case letters, digits and _, and begin with a letter, such as ${example ?? 'my_table'}`
  return example === undefined ? 'has characters that are not allowed here' : `must look like ${example}`
}

function readNumber({ pointer, schema }: PlainField, text: string, problems: Problems): number | undefined {
  if (text.trim() === '') return undefined
  const value = Number(text)
  const { minimum = schema.exclusiveMinimum ?? -Infinity, maximum = schema.exclusiveMaximum ?? Infinity } = schema
  if (!Number.isFinite(value)) problems.set(pointer, 'must be a number')
  else if (isInteger(schema) && !Number.isInteger(value)) problems.set(pointer, 'must be a whole number')
  else if (value < minimum) problems.set(pointer, `must be at least ${minimum}`)
  else if (value > maximum) problems.set(pointer, `must be at most ${maximum}`)
  return value
}

function readList({ item, pointer, schema }: ListField, text: string, problems: Problems): unknown {
  const parts = text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (parts.length === 0) return undefined
  const values = parts.map((part) =>
    item.kind === 'number' ? readNumber(item, part, problems) : readText(item, part, problems),
  )
  const { minItems = 0, maxItems = Infinity, uniqueItems: isUnique = false } = schema
  if (parts.length < minItems) problems.set(pointer, `needs at least ${minItems} values`)
  else if (parts.length > maxItems) problems.set(pointer, `has more than ${maxItems} values`)
  else if (isUnique && new Set(parts).size < parts.length) problems.set(pointer, 'names a value twice')
  return values
}

function readRows(field: RowsField, rows: readonly unknown[], check: FormCheck): unknown {
  if (rows.length === 0) return undefined
  const { minItems = 0, maxItems = Infinity } = field.schema
  if (rows.length < minItems) check.problems.set(field.pointer, `needs at least ${minItems} entries`)
  if (rows.length > maxItems) check.problems.set(field.pointer, `has more than ${maxItems} entries`)
  return rows.map((row, i) => readField(field.item(i), row, check))
}

function readChoices({ item, pointer, schema }: ListField, value: unknown, problems: Problems): unknown {
  const chosen = rowsOf(value).map(String)
  if (chosen.length === 0) return undefined
  const { minItems = 0 } = schema
  if (chosen.length < minItems) problems.set(pointer, `needs at least ${minItems} entries`)
  return optionsOf(item).filter((option) => chosen.includes(option))
}

/** Reads an area with the worker's own code, so that errors are shown before anything is sent. */
function readArea(field: PlainField, value: unknown, { problems, maxAreaKm2, maxVertices }: FormCheck): unknown {
  const read = readJson(field, value, problems)
  if (read === undefined || problems.has(field.pointer)) return read
  try {
    const limits = { maxVertices: maxVertices ?? Number.MAX_SAFE_INTEGER, maxAreaKm2: maxAreaKm2 || Number.MAX_VALUE }
    readAoi(read, limits, field.pointer)
  } catch (error) {
    problems.set(field.pointer, error instanceof TerraneError ? error.message : 'is not an area')
  }
  return read
}

function readJson({ pointer }: PlainField, value: unknown, problems: Problems): unknown {
  if (typeof value !== 'string') return value
  if (value.trim() === '') return undefined
  try {
    return JSON.parse(value) as unknown
  } catch (error) {
    problems.set(pointer, `is not valid JSON: ${(error as Error).message}`)
    return null
  }
}

/** JSON of a value with sorted members of objects. */
function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
