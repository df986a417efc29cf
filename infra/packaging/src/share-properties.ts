import { isNode, type Json, type Node } from './share-schemas.ts'

/** Minimum characters of JSON that a shared part must save. */
const LEAST_SAVING = 600
/** Words of a path that do not describe the schema at its end. */
const SYNTAX = /^(properties|components|any|of|schemas?|application|json|content|post|paths|request|body|items|\d+)$/i

/** An object schema, its path, and its properties as texts; equal texts mean equal properties. */
interface Found {
  readonly node: { readonly properties: Node; readonly required?: readonly string[] } & Node
  readonly words: readonly string[]
  readonly texts: ReadonlyMap<string, string>
}

/** Schemas, and the names of their common properties. */
interface Group {
  readonly members: readonly Found[]
  readonly shared: ReadonlySet<string>
}

/** An equivalent OpenAPI document whose schemas share properties through components, by `allOf`. */
export function shareProperties(document: Node): Node {
  const left = findObjects(document, [])
  const bases: Record<string, Node> = {}
  const baseOf = new Map<Json, string>()
  for (let group = bestGroup(left); group !== null; group = bestGroup(left)) {
    const name = nameOf(group)
    const { properties, required } = partOf(group.members[0]!.node, (property) => group.shared.has(property))
    bases[name] = { type: 'object', properties: properties!, required: required! }
    for (const member of group.members) {
      baseOf.set(member.node, name)
      left.splice(left.indexOf(member), 1)
    }
  }
  const extend = (node: Json): Json => {
    if (Array.isArray(node)) return node.map((part: Json) => extend(part))
    if (!isNode(node)) return node
    const name = baseOf.get(node)
    const shared = name === undefined ? {} : (bases[name]!['properties'] as Node)
    const rest = name === undefined ? node : partOf(node as Found['node'], (property) => !(property in shared))
    const own = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, extend(part)]))
    if (name === undefined) return own
    const isWhole = Object.keys(own['properties'] as Node).length === 0
    return { allOf: [{ $ref: `#/components/schemas/${name}` }, ...(isWhole ? [] : [own])] }
  }
  const { components, ...others } = extend(document) as Node & { components: Node & { schemas: Node } }
  return { ...others, components: { ...components, schemas: { ...components.schemas, ...bases } } }
}

function findObjects(node: Json, path: readonly string[]): Found[] {
  if (Array.isArray(node)) return node.flatMap((part: Json) => findObjects(part, path))
  if (!isNode(node)) return []
  const parts = Object.entries(node).flatMap(([key, part]) => findObjects(part, [...path, key]))
  if (node['type'] !== 'object' || !isNode(node['properties'] ?? null)) return parts
  const found = node as Found['node']
  const texts = Object.entries(found.properties).map(([name, schema]): [string, string] => [
    name,
    JSON.stringify([name, schema, found.required?.includes(name) ?? false]),
  ])
  const words = path.flatMap((key) => key.match(/[A-Z]?[a-z]+|\d+/g) ?? []).filter((word) => !SYNTAX.test(word))
  return [{ node: found, words, texts: new Map(texts) }, ...parts]
}

/** The schemas with the longest shared properties; null when these are too short. */
function bestGroup(found: readonly Found[]): Group | null {
  let best: Group | null = null
  let most = LEAST_SAVING
  for (const [i, a] of found.entries()) {
    for (const b of found.slice(i + 1)) {
      const shared = [...a.texts].filter(([name, text]) => b.texts.get(name) === text)
      if (shared.length < 2) continue
      const members = found.filter(({ texts }) => shared.every(([name, text]) => texts.get(name) === text))
      const saving = (members.length - 1) * shared.reduce((sum, [, text]) => sum + text.length, 0)
      if (saving <= most) continue
      most = saving
      best = { members, shared: new Set(shared.map(([name]) => name)) }
    }
  }
  return best
}

/** A schema with some of its properties. */
function partOf(node: Found['node'], keeps: (property: string) => boolean): Node {
  const { properties, required = [], ...rest } = node
  const kept = Object.entries(properties).filter(([name]) => keeps(name))
  return { ...rest, properties: Object.fromEntries(kept), required: required.filter(keeps) }
}

/** The common words of all paths; without any, the first property. */
function nameOf({ members, shared }: Group): string {
  const [first, ...others] = members.map(({ words }) => words.map((word) => word.toLowerCase().replace(/s$/, '')))
  const common = first!.filter((word) => others.every((words) => words.includes(word)))
  const name = (common.length > 0 ? common : [[...shared][0]!]).map((word) =>
    word.replace(/^./, (letter) => letter.toUpperCase()),
  )
  return `${name.join('')}Base`
}
