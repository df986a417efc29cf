/** Parts of a JSON schema that the forms read (2020-12, as in OpenAPI 3.1). */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}

/** The worker's OpenAPI document. */
export interface Document {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** A task that the document describes; `body` is null when this worker cannot run it. */
export interface TaskDescription {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly body: Schema | null
}

/** Every task of the document, in its order. */
export function tasksOf(document: Document): TaskDescription[] {
  return Object.entries(document.paths).flatMap(([path, { post }]) => {
    const name = /^\/jobs\/(\w+)$/.exec(path)?.[1]
    if (name === undefined || !post) return []
    const body = post.requestBody?.content?.['application/json']?.schema
    return [
      {
        name,
        summary: post.summary ?? name,
        description: post.description ?? '',
        body: body ? deref(document, body) : null,
      },
    ]
  })
}

/** The schema with its references resolved. Recursion in a schema ends as "anything". */
function deref(document: Document, schema: Schema, depth = 0): Schema {
  if (depth > 20) return {}
  const go = (inner: Schema) => deref(document, inner, depth + 1)
  if (schema.$ref !== undefined) {
    const { $ref, ...beside } = schema
    const target = document.components?.schemas?.[$ref.replace(/^#\/components\/schemas\//, '')]
    return target ? { ...go(target), ...beside } : beside
  }
  return {
    ...schema,
    ...(schema.items && { items: go(schema.items) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(go) }),
    ...(schema.oneOf && { oneOf: schema.oneOf.map(go) }),
    ...(schema.properties && {
      properties: Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, go(inner)])),
    }),
  }
}
