/** A part of a JSON schema, as far as bounds are concerned. */
interface Part {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Part>>
  readonly patternProperties?: Readonly<Record<string, Part>>
  readonly additionalProperties?: boolean | Part
  readonly items?: Part | readonly Part[]
  readonly anyOf?: readonly Part[]
  readonly oneOf?: readonly Part[]
  readonly allOf?: readonly Part[]
  readonly enum?: unknown
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly uniqueItems?: boolean
}

/** Maximum number of items; comparing every pair of more would dominate the time of a request. */
const MOST_UNIQUE = 1000

/** Bodies of routes that a request may make as large as it likes: method, URL, and the part without a bound. */
export function unboundedBodies(
  routes: readonly { readonly method: string; readonly url: string; readonly body: unknown }[],
): string[] {
  return routes.flatMap(({ method, url, body }) => unboundedParts(body).map((part) => `${method} ${url} ${part}`))
}

/** Texts, arrays and maps of a schema without a bound, and `uniqueItems` of long arrays, as JSON pointers. */
function unboundedParts(schema: unknown, path = ''): string[] {
  if (schema === null || typeof schema !== 'object') return []
  const part = schema as Part
  if (part.enum !== undefined || part.const !== undefined) return []
  const types = new Set([part.type ?? []].flat())
  const found: string[] = []
  if (types.has('string') && part.maxLength === undefined && !endsByPattern(part)) found.push(`${path}: maxLength`)
  if (types.has('array')) {
    if (part.maxItems === undefined) found.push(`${path}: maxItems`)
    else if (part.uniqueItems && part.maxItems > MOST_UNIQUE) found.push(`${path}: uniqueItems`)
  }
  const isMap = part.patternProperties !== undefined || typeof part.additionalProperties === 'object'
  if (types.has('object') && isMap && part.maxProperties === undefined) found.push(`${path}: maxProperties`)
  const inner: [string, unknown][] = [
    ...Object.entries(part.properties ?? {}),
    ...Object.values(part.patternProperties ?? {}).map((p): [string, unknown] => ['*', p]),
    ['*', part.additionalProperties],
    ...[part.items ?? []].flat().map((p): [string, unknown] => ['0', p]),
  ]
  const branches = [...(part.anyOf ?? []), ...(part.oneOf ?? []), ...(part.allOf ?? [])]
  return [
    ...found,
    ...inner.flatMap(([name, p]) => unboundedParts(p, `${path}/${name}`)),
    ...branches.flatMap((p) => unboundedParts(p, path)),
  ]
}

/** True for a pattern of a whole text without unbounded repetition, and for formats of a fixed size. */
function endsByPattern({ pattern, format }: Part): boolean {
  if (format === 'date-time' || format === 'date' || format === 'uuid') return true
  return (
    pattern !== undefined && pattern.startsWith('^') && pattern.endsWith('$') && !/[^\\][*+]|\{\d+,\}/.test(pattern)
  )
}
