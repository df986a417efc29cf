import type { Schema } from './openapi.ts'

interface FieldBase {
  readonly name: string
  /** JSON pointer of the value in the body, as in error messages. */
  readonly pointer: string
  readonly required: boolean
  /** Limits, description and default of the value. */
  readonly schema: Schema
}

/** `area`: a GeoJSON polygon; `json`: any value without a control of its own. */
export interface PlainField extends FieldBase {
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'area' | 'json'
}
/** `list`: typed values, separated by commas; `choices`: checked values. */
export interface ListField extends FieldBase {
  readonly kind: 'list' | 'choices'
  readonly item: PlainField
}
/** An object. */
export interface GroupField extends FieldBase {
  readonly kind: 'group'
  readonly fields: readonly Field[]
}
/** A list of a few objects, each with fields of its own. */
export interface RowsField extends FieldBase {
  readonly kind: 'rows'
  /** The form of the entry at an index. */
  readonly item: (index: number) => Field
}
/** A value with several possible forms. */
export interface VariantsField extends FieldBase {
  readonly kind: 'variants'
  readonly variants: readonly { readonly label: string; readonly field: Field }[]
}
/** A value that the schema fixes. */
export interface ConstantField extends FieldBase {
  readonly kind: 'constant'
  readonly value: unknown
}

/** One part of a request body, with its kind of form field. */
export type Field = PlainField | ListField | GroupField | RowsField | VariantsField | ConstantField

/** Longest list with a form for each entry; longer ones are pasted as JSON. */
const MOST_ROWS = 100

/** Fields of a body that the console sets itself. */
const OWN = new Set(['projectTarget'])

/** The form of a body's schema. */
export function formOf(schema: Schema): Field {
  return fieldOf('', '', schema, true)
}

function fieldOf(name: string, pointer: string, schema: Schema, required: boolean): Field {
  const base = { name, pointer, required, schema }
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return variantsOf(base, variants)
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (values?.length === 1) return { ...base, kind: 'constant', value: values[0] }
  if (values?.every((value) => typeof value === 'string')) return { ...base, kind: 'choice' }
  switch (typeOf(schema)) {
    case 'string':
      return { ...base, kind: 'text' }
    case 'integer':
    case 'number':
      return { ...base, kind: 'number' }
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'array':
      return arrayOf(base)
    case 'object':
      return objectOf(base)
    default:
      return { ...base, kind: 'json' }
  }
}

function arrayOf(base: FieldBase): Field {
  const { items, maxItems } = base.schema
  const item = items ? fieldOf(base.name, base.pointer, items, true) : null
  if (item?.kind === 'choice') return { ...base, kind: 'choices', item }
  if (item?.kind === 'text' || item?.kind === 'number') return { ...base, kind: 'list', item }
  if (items && item?.kind === 'group' && maxItems !== undefined && maxItems <= MOST_ROWS) {
    return { ...base, kind: 'rows', item: (index) => fieldOf('', `${base.pointer}/${index}`, items, true) }
  }
  return { ...base, kind: 'json' }
}

function objectOf(base: FieldBase): Field {
  const { schema } = base
  if (isArea(schema)) return { ...base, kind: 'area' }
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => base.pointer !== '' || !OWN.has(name))
  if (properties.length === 0) return { ...base, kind: 'json' }
  const needed = new Set(schema.required)
  const fields = properties.map(([name, inner]) => fieldOf(name, `${base.pointer}/${name}`, inner, needed.has(name)))
  return { ...base, kind: 'group', fields }
}

/** A value with a null variant is optional. The other variants become a choice. */
function variantsOf(base: FieldBase, variants: readonly Schema[]): Field {
  const { schema } = base
  const shared = schema.properties
    ? { type: 'object', properties: schema.properties, ...(schema.required && { required: schema.required }) }
    : null
  const real = variants.filter((variant) => typeOf(variant) !== 'null').map((variant) => merge(shared, variant))
  const only = real[0]
  if (real.length === 1 && only) {
    const { description = '', default: fallback } = schema
    return fieldOf(base.name, base.pointer, { ...only, description, default: fallback }, base.required)
  }
  return {
    ...base,
    kind: 'variants',
    variants: real.map((variant) => ({
      label: labelOf(variant),
      field: fieldOf(base.name, base.pointer, variant, true),
    })),
  }
}

/** A variant together with the properties that all variants share. */
function merge(shared: Schema | null, variant: Schema): Schema {
  if (!shared) return variant
  return {
    ...variant,
    type: 'object',
    properties: { ...shared.properties, ...variant.properties },
    required: [...new Set([...(shared.required ?? []), ...(variant.required ?? [])])],
  }
}

/** `file` for `{kind: 'file', …}`, the value of a constant, or the names of the fields. */
function labelOf(schema: Schema): string {
  if (schema.title) return schema.title
  const single = constantOf(schema)
  if (single !== null) return single
  if (schema.properties) {
    for (const inner of Object.values(schema.properties)) {
      const kind = constantOf(inner)
      if (kind !== null) return kind
    }
    return (schema.required ?? Object.keys(schema.properties)).filter((name) => !OWN.has(name)).join(', ')
  }
  if (typeOf(schema) === 'array') return schema.maxItems === 2 ? 'pair' : 'list'
  return typeOf(schema) ?? 'value'
}

function constantOf(schema: Schema): string | null {
  const value = schema.const ?? (schema.enum?.length === 1 ? schema.enum[0] : undefined)
  return typeof value === 'string' ? value : null
}

/** The options of a choice. */
export function optionsOf({ schema }: PlainField): readonly string[] {
  return (schema.enum ?? []) as readonly string[]
}

/** True for integers. */
export function isInteger(schema: Schema): boolean {
  return typeOf(schema) === 'integer'
}

function typeOf(schema: Schema): string | undefined {
  if (typeof schema.type === 'string') return schema.type
  const types = schema.type?.filter((type) => type !== 'null')
  if (types?.length === 1) return types[0]
  return schema.properties ? 'object' : undefined
}

/** An object whose `type` is one of GeoJSON's with polygons. */
function isArea(schema: Schema): boolean {
  const types = schema.properties?.['type']
  const values = types?.enum ?? (types?.const === undefined ? [] : [types.const])
  return values.includes('Polygon')
}
