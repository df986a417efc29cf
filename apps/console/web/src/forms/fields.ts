import type { Schema } from './openapi.ts'

interface FieldBase {
  readonly name: string
  /** JSON pointer of the value in the body, as errors name it. */
  readonly pointer: string
  readonly help: string
  readonly required: boolean
  /** Default of the worker when the field is not sent. */
  readonly fallback: unknown
}

export interface TextField extends FieldBase {
  readonly kind: 'text'
  readonly pattern: string | null
  readonly minLength: number
  readonly maxLength: number | null
}
export interface NumberField extends FieldBase {
  readonly kind: 'number'
  readonly integer: boolean
  readonly minimum: number | null
  readonly maximum: number | null
}
export interface ListField extends FieldBase {
  readonly kind: 'list'
  readonly item: TextField | NumberField
  readonly minItems: number
  readonly maxItems: number | null
  readonly unique: boolean
}
export interface ChoiceField extends FieldBase {
  readonly kind: 'choice' | 'choices'
  readonly options: readonly string[]
  readonly minItems: number
}
export interface GroupField extends FieldBase {
  readonly kind: 'group'
  readonly fields: readonly Field[]
}
/** A list of a few objects, each with fields of its own. */
export interface RowsField extends FieldBase {
  readonly kind: 'rows'
  /** The form of the entry at an index. */
  readonly item: (index: number) => Field
  readonly minItems: number
  readonly maxItems: number
}
export interface VariantsField extends FieldBase {
  readonly kind: 'variants'
  readonly variants: readonly { readonly label: string; readonly field: Field }[]
}
export interface ConstantField extends FieldBase {
  readonly kind: 'constant'
  readonly value: unknown
}
/** `area`: a GeoJSON polygon; `json`: any value without a form of its own. */
export interface PlainField extends FieldBase {
  readonly kind: 'boolean' | 'area' | 'json'
}

/** One part of a request body, with its kind of form field. */
export type Field =
  | TextField
  | NumberField
  | ListField
  | ChoiceField
  | GroupField
  | RowsField
  | VariantsField
  | ConstantField
  | PlainField

/** Longer lists are not typed entry by entry, but pasted. */
const MOST_ROWS = 100

/** Fields of a body that the console sets itself. */
const OWN = new Set(['projectTarget'])

/** The form of a body's schema. */
export function formOf(schema: Schema): Field {
  return fieldOf('', '', schema, true)
}

function fieldOf(name: string, pointer: string, schema: Schema, required: boolean): Field {
  const base = { name, pointer, help: schema.description ?? '', required, fallback: schema.default }
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return variantsOf(base, schema, variants)
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (values?.length === 1) return { ...base, kind: 'constant', value: values[0] }
  if (values?.every((value) => typeof value === 'string'))
    return { ...base, kind: 'choice', options: values, minItems: 0 }
  switch (typeOf(schema)) {
    case 'string':
      return textOf(base, schema)
    case 'integer':
    case 'number':
      return numberOf(base, schema)
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'array':
      return arrayOf(base, schema)
    case 'object':
      return objectOf(base, schema)
    default:
      return { ...base, kind: 'json' }
  }
}

function textOf(base: FieldBase, schema: Schema): TextField {
  const { pattern = null, minLength = 0, maxLength = null } = schema
  return { ...base, kind: 'text', pattern, minLength, maxLength }
}

function numberOf(base: FieldBase, schema: Schema): NumberField {
  return {
    ...base,
    kind: 'number',
    integer: typeOf(schema) === 'integer',
    minimum: schema.minimum ?? schema.exclusiveMinimum ?? null,
    maximum: schema.maximum ?? schema.exclusiveMaximum ?? null,
  }
}

function arrayOf(base: FieldBase, schema: Schema): Field {
  const item = schema.items ? fieldOf(base.name, base.pointer, schema.items, true) : null
  const { minItems = 0, maxItems = null, uniqueItems: unique = false } = schema
  if (item?.kind === 'choice') return { ...base, kind: 'choices', options: item.options, minItems }
  if (item?.kind === 'text' || item?.kind === 'number')
    return { ...base, kind: 'list', item, minItems, maxItems, unique }
  if (item?.kind === 'group' && maxItems !== null && maxItems <= MOST_ROWS) {
    const rowOf = (index: number) => fieldOf('', `${base.pointer}/${index}`, schema.items as Schema, true)
    return { ...base, kind: 'rows', item: rowOf, minItems, maxItems }
  }
  return { ...base, kind: 'json' }
}

function objectOf(base: FieldBase, schema: Schema): Field {
  if (isArea(schema)) return { ...base, kind: 'area' }
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => base.pointer !== '' || !OWN.has(name))
  if (properties.length === 0) return { ...base, kind: 'json' }
  const needed = new Set(schema.required)
  const fields = properties.map(([name, inner]) => fieldOf(name, `${base.pointer}/${name}`, inner, needed.has(name)))
  return { ...base, kind: 'group', fields }
}

/** A value with a null variant is optional. The other variants become a choice. */
function variantsOf(base: FieldBase, schema: Schema, variants: readonly Schema[]): Field {
  const shared = schema.properties
    ? { type: 'object', properties: schema.properties, ...(schema.required && { required: schema.required }) }
    : null
  const real = variants.filter((variant) => typeOf(variant) !== 'null').map((variant) => merge(shared, variant))
  const only = real[0]
  if (real.length === 1 && only) {
    return fieldOf(base.name, base.pointer, { ...only, description: base.help, default: base.fallback }, base.required)
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

/** `file` for `{kind: 'file', …}`, the value of a constant, else the names of the fields. */
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
