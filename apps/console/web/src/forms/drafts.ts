import { readAoi, TerraneError } from '@terrane/core'
import { exampleOf } from './designs.ts'
import type { ChoiceField, Field, ListField, NumberField, RowsField, TextField } from './fields.ts'

/**
 * Unsent input of a form: text for everything that is typed, null for a switch that was not touched. A draft also keeps
 * invalid input.
 */
export type Draft = string | boolean | null | readonly string[] | GroupDraft | RowsDraft | VariantsDraft
export interface GroupDraft {
  readonly group: Readonly<Record<string, Draft>>
}
export interface RowsDraft {
  readonly rows: readonly Draft[]
}
export interface VariantsDraft {
  /** -1 while none is chosen. */
  readonly chosen: number
  readonly drafts: readonly Draft[]
}

/** Messages by JSON pointer. */
export type Problems = Map<string, string>

/** Largest area that a form accepts, in km²; 0 for no limit. */
export interface FormLimits {
  readonly maxAreaKm2: number
}

/** Pattern of the API's identifiers. */
const IDENTIFIER_PATTERN = '^[a-z][a-z0-9_]{0,62}$'
const MAX_VERTICES = 100_000

/** An empty draft. */
export function emptyDraft(field: Field): Draft {
  switch (field.kind) {
    case 'boolean':
    case 'constant':
      return null
    case 'choices':
      return []
    case 'group':
      return { group: Object.fromEntries(field.fields.map((inner) => [inner.name, emptyDraft(inner)])) }
    case 'rows':
      return { rows: [] }
    case 'variants':
      return { chosen: field.required ? 0 : -1, drafts: field.variants.map(({ field: inner }) => emptyDraft(inner)) }
    default:
      return ''
  }
}

/** The draft of a request body that was sent before. */
export function draftOf(field: Field, value: unknown): Draft {
  if (value === undefined || value === null) return emptyDraft(field)
  switch (field.kind) {
    case 'constant':
      return null
    case 'boolean':
      return value === true
    case 'choices':
      return Array.isArray(value) ? value.map(String) : []
    case 'list':
      return Array.isArray(value) ? value.map(String).join(', ') : ''
    case 'group': {
      const given = value as Readonly<Record<string, unknown>>
      return { group: Object.fromEntries(field.fields.map((inner) => [inner.name, draftOf(inner, given[inner.name])])) }
    }
    case 'rows':
      return { rows: Array.isArray(value) ? value.map((row, i) => draftOf(field.item(i), row)) : [] }
    case 'variants': {
      const drafts = field.variants.map(({ field: inner }) => draftOf(inner, value))
      const fits = drafts.findIndex((draft, i) => sameJson(readDraft(field.variants[i]?.field as Field, draft), value))
      return { chosen: fits, drafts }
    }
    case 'area':
    case 'json':
      return JSON.stringify(value, null, field.kind === 'json' ? 2 : undefined)
    default:
      return typeof value === 'string' ? value : JSON.stringify(value)
  }
}

/** The value of a draft; undefined for an empty one. Problems are added by the pointer of their field. */
export function readDraft(
  field: Field,
  draft: Draft,
  problems: Problems = new Map(),
  limits: FormLimits = { maxAreaKm2: 0 },
): unknown {
  const value = valueOf(field, draft, problems, limits)
  if (value === undefined && field.required && !problems.has(field.pointer) && field.kind !== 'group') {
    problems.set(field.pointer, 'is required')
  }
  return value
}

function valueOf(field: Field, draft: Draft, problems: Problems, limits: FormLimits): unknown {
  switch (field.kind) {
    case 'constant':
      return field.value
    case 'boolean':
      return draft ?? undefined
    case 'choice':
      return draft === '' ? undefined : draft
    case 'choices':
      return readChoices(field, draft as readonly string[], problems)
    case 'text':
      return readText(field, draft as string, field.pointer, problems)
    case 'number':
      return readNumber(field, draft as string, field.pointer, problems)
    case 'list':
      return readList(field, draft as string, problems)
    case 'group': {
      // The required fields of an optional group apply once something in it is entered.
      if (!field.required && !isEntered(field, draft)) return undefined
      const { group } = draft as GroupDraft
      const entries = field.fields
        .map(
          (inner) => [inner.name, readDraft(inner, group[inner.name] ?? emptyDraft(inner), problems, limits)] as const,
        )
        .filter(([, value]) => value !== undefined)
      return Object.fromEntries(entries)
    }
    case 'rows':
      return readRows(field, draft as RowsDraft, problems, limits)
    case 'variants': {
      const { chosen, drafts } = draft as VariantsDraft
      const variant = field.variants[chosen]
      return variant
        ? readDraft(variant.field, drafts[chosen] ?? emptyDraft(variant.field), problems, limits)
        : undefined
    }
    case 'area':
      return readArea(draft as string, field.pointer, problems, limits)
    case 'json':
      return readJson(draft as string, field.pointer, problems)
  }
}

/** True when a person has entered something, at any depth. */
export function isEntered(field: Field, draft: Draft): boolean {
  switch (field.kind) {
    case 'constant':
      return false
    case 'choices':
      return (draft as readonly string[]).length > 0
    case 'rows':
      return (draft as RowsDraft).rows.length > 0
    case 'group': {
      const { group } = draft as GroupDraft
      return field.fields.some((inner) => isEntered(inner, group[inner.name] ?? emptyDraft(inner)))
    }
    case 'variants': {
      const { chosen, drafts } = draft as VariantsDraft
      const variant = field.variants[chosen]
      if (!variant) return false
      return !field.required || isEntered(variant.field, drafts[chosen] ?? emptyDraft(variant.field))
    }
    default:
      return draft !== '' && draft !== null
  }
}

/** Placeholders that a schedule replaces with the day and time of each run. */
const TOKEN = /\{(?:date|time)\}/g

function readText(field: TextField, text: string, pointer: string, problems: Problems): string | undefined {
  if (text === '') return undefined
  if (text.length < field.minLength) problems.set(pointer, `needs at least ${field.minLength} characters`)
  else if (field.maxLength !== null && text.length > field.maxLength)
    problems.set(pointer, `has more than ${field.maxLength} characters`)
  else if (field.pattern !== null && !new RegExp(field.pattern, 'u').test(text.replaceAll(TOKEN, '0')))
    problems.set(pointer, formProblem(field))
  return text
}

/** Message about the format of a text field. It gives an example, because people do not read patterns. */
function formProblem({ name, pattern }: TextField): string {
  if (pattern === IDENTIFIER_PATTERN) {
    const example = exampleOf(name) ?? 'my_table'
    return `needs small letters, digits and _, beginning with a letter, such as ${example}`
  }
  const example = exampleOf(name)
  return example === undefined ? 'has characters that are not allowed here' : `must look like ${example}`
}

function readNumber(field: NumberField, text: string, pointer: string, problems: Problems): number | undefined {
  if (text.trim() === '') return undefined
  const value = Number(text)
  if (!Number.isFinite(value)) problems.set(pointer, 'must be a number')
  else if (field.integer && !Number.isInteger(value)) problems.set(pointer, 'must be a whole number')
  else if (field.minimum !== null && value < field.minimum) problems.set(pointer, `must be at least ${field.minimum}`)
  else if (field.maximum !== null && value > field.maximum) problems.set(pointer, `must be at most ${field.maximum}`)
  return value
}

function readList(field: ListField, text: string, problems: Problems): unknown {
  const parts = text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (parts.length === 0) return undefined
  const { item, pointer } = field
  const values = parts.map((part) =>
    item.kind === 'number' ? readNumber(item, part, pointer, problems) : readText(item, part, pointer, problems),
  )
  if (parts.length < field.minItems) problems.set(pointer, `needs at least ${field.minItems} values`)
  else if (field.maxItems !== null && parts.length > field.maxItems)
    problems.set(pointer, `has more than ${field.maxItems} values`)
  else if (field.unique && new Set(parts).size < parts.length) problems.set(pointer, 'names a value twice')
  return values
}

function readRows(field: RowsField, { rows }: RowsDraft, problems: Problems, limits: FormLimits): unknown {
  if (rows.length === 0) return undefined
  if (rows.length < field.minItems) problems.set(field.pointer, `needs at least ${field.minItems} of them`)
  if (rows.length > field.maxItems) problems.set(field.pointer, `has more than ${field.maxItems} of them`)
  return rows.map((row, i) => readDraft(field.item(i), row, problems, limits))
}

function readChoices(field: ChoiceField, chosen: readonly string[], problems: Problems): unknown {
  if (chosen.length === 0) return undefined
  if (chosen.length < field.minItems) problems.set(field.pointer, `needs at least ${field.minItems} of them`)
  return field.options.filter((option) => chosen.includes(option))
}

/** Reads an area with the worker's own code, so that errors are shown before anything is sent. */
function readArea(text: string, pointer: string, problems: Problems, limits: FormLimits): unknown {
  const value = readJson(text, pointer, problems)
  if (value === undefined || problems.has(pointer)) return value
  try {
    readAoi(value, { maxVertices: MAX_VERTICES, maxAreaKm2: limits.maxAreaKm2 || Number.MAX_VALUE }, pointer)
  } catch (error) {
    problems.set(pointer, error instanceof TerraneError ? error.message : 'is not an area')
  }
  return value
}

function readJson(text: string, pointer: string, problems: Problems): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    problems.set(pointer, `is not valid JSON: ${(error as Error).message}`)
    return null
  }
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  )
}
