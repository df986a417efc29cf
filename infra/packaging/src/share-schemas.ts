/** A part of an OpenAPI document. */
export type Json = null | boolean | number | string | readonly Json[] | Node

/** An object of it. */
export interface Node {
  readonly [key: string]: Json
}

/** Keys of a path that do not describe the schema at its end. */
const SYNTAX = /^(properties|anyOf|schema|application\/json|content|post|paths|requestBody|items)$/
/** Schemas with fewer characters are not moved. */
const LEAST_LENGTH = 200

/**
 * An equivalent OpenAPI document in which each object schema and union occurs once. A repeated one becomes a component,
 * named after its title or its property, and its occurrences become references, which keep their descriptions.
 *
 * @throws Error when no name is left for a schema
 */
export function shareSchemas(document: Node): Node {
  const { components, ...rest } = document as Node & { components: Node & { schemas: Record<string, Node> } }
  const given = Object.entries(components.schemas)
  const repeated = findRepeated(document)
  const names = new Map(given.map(([name, schema]) => [keyOf(schema), name]))
  const schemas: Record<string, Json> = { ...components.schemas }
  const share = (node: Json, path: readonly string[]): Json => {
    if (!isShareable(node, path) || !repeated.has(keyOf(node))) return shareParts(node, path)
    const { description, ...schema } = node
    const name = names.get(keyOf(node)) ?? freeName(node, path, schemas)
    if (!(name in schemas)) {
      names.set(keyOf(node), name)
      // The name is reserved before parts of the schema are named.
      schemas[name] = null
      schemas[name] = shareParts(schema, [name])
    }
    return { $ref: `#/components/schemas/${name}`, ...(description !== undefined && { description }) }
  }
  const shareParts = (node: Json, path: readonly string[]): Json => {
    if (Array.isArray(node)) return node.map((part: Json) => share(part, path))
    if (!isNode(node)) return node
    return Object.fromEntries(Object.entries(node).map(([key, part]) => [key, share(part, [...path, key])]))
  }
  for (const [name, schema] of given) schemas[name] = shareParts(schema, [name])
  const shared = shareParts(rest, []) as Node
  const responses: Record<string, Json> = {}
  return { ...(shareResponses(shared, responses) as Node), components: { ...components, schemas, responses } }
}

/** Moves answers whose schema is a component to `responses`, under the name of that schema. */
function shareResponses(node: Json, responses: Record<string, Json>): Json {
  if (Array.isArray(node)) return node.map((part: Json) => shareResponses(part, responses))
  if (!isNode(node)) return node
  const parts = Object.entries(node).map(([key, part]): [string, Json] => {
    const schema = /^[2-5](?:\d\d|XX)$/.test(key)
      ? /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(part))?.[1]
      : undefined
    if (schema === undefined) return [key, shareResponses(part, responses)]
    responses[schema] ??= part
    return [key, isSame(responses[schema], part) ? { $ref: `#/components/responses/${schema}` } : part]
  })
  return Object.fromEntries(parts)
}

function isSame(a: Json | undefined, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Keys of schemas that occur more than once; parts of a repeated schema count once. */
function findRepeated(document: Node): Set<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  const count = (node: Json, path: readonly string[]): void => {
    if (isShareable(node, path)) {
      const key = keyOf(node)
      if (seen.has(key)) return void repeated.add(key)
      seen.add(key)
    }
    if (typeof node !== 'object' || node === null) return
    for (const [key, part] of Object.entries(node)) count(part, Array.isArray(node) ? path : [...path, key])
  }
  count(document, [])
  return repeated
}

/** Members of a union have no name, so they are not shared. */
function isShareable(node: Json, path: readonly string[]): node is Node {
  if (!isNode(node) || path.at(-1) === 'anyOf' || JSON.stringify(node).length < LEAST_LENGTH) return false
  return Array.isArray(node['anyOf']) || (node['type'] === 'object' && typeof node['properties'] === 'object')
}

/** True for an object; false for lists and plain values. */
export function isNode(value: Json): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A key that is equal for schemas that differ only in description and title. */
function keyOf(schema: Node): string {
  return JSON.stringify({ ...schema, description: undefined, title: undefined })
}

/** The title, or as many last words of the path as make a new name: items of `warnings` become `Warning`. */
function freeName({ title }: Node, path: readonly string[], taken: Node): string {
  if (typeof title === 'string' && !(title in taken)) return title
  const words = path
    .map((word, i) => (path[i + 1] === 'items' ? word.replace(/s$/, '') : word))
    .filter((word) => !SYNTAX.test(word))
    .map((word) => word.replace(/^.*\//, '').replace(/^./, (letter) => letter.toUpperCase()))
  const name = words.map((_, i) => words.slice(-1 - i).join('')).find((candidate) => !(candidate in taken))
  if (name === undefined) throw new Error(`No name is left for the schema at ${path.join('.')}`)
  return name
}
