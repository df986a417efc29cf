import { invalidFilter } from './errors.ts'

/** The accepted values of a key: all, or the listed ones. */
export type TagValues = true | readonly string[]

/** Features with one of these tags; each key is counted separately. */
export interface KeyFilter {
  readonly kind: 'keys'
  readonly keys: Readonly<Record<string, TagValues>>
}

/** Features in named groups of tags; a feature counts once per group, with the first tag that matches. */
export interface GroupFilter {
  readonly kind: 'groups'
  readonly groups: Readonly<Record<string, Readonly<Record<string, TagValues>>>>
}

export type OsmFilter = KeyFilter | GroupFilter

/** The tags of a filter, without their groups. */
export function filterTags(filter: OsmFilter): ReadonlyMap<string, TagValues> {
  const tags = new Map<string, TagValues>()
  for (const keys of filter.kind === 'keys' ? [filter.keys] : Object.values(filter.groups)) {
    for (const [key, values] of Object.entries(keys)) {
      const known = tags.get(key) ?? []
      tags.set(key, values === true || known === true || [...new Set([...known, ...values])])
    }
  }
  return tags
}

/**
 * Reads a filter as users write it: `{"amenity": ["school", "cafe"], "shop": true, "leisure": "park"}`, or the same
 * within named groups.
 *
 * @param path its place in the input, as a JSON pointer
 * @throws INVALID_OSM_FILTER
 */
export function parseOsmFilter(value: unknown, path = '/osmTags'): OsmFilter {
  const entries = entriesOf(value, path)
  if (entries.some(([, inner]) => isPlainObject(inner))) {
    const groups = entries.map(([name, inner]) => [name, parseKeys(inner, `${path}/${name}`)] as const)
    return { kind: 'groups', groups: Object.fromEntries(groups) }
  }
  return { kind: 'keys', keys: parseKeys(value, path) }
}

function parseKeys(value: unknown, path: string): Record<string, TagValues> {
  const keys = entriesOf(value, path).map(([key, values]) => [key, parseValues(values, `${path}/${key}`)] as const)
  return Object.fromEntries(keys)
}

function parseValues(value: unknown, path: string): TagValues {
  if (value === true) return true
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (values.length === 0) throw invalidFilter({ path, problem: 'must have at least one value' })
  return [...new Set(values.map((one) => parseText(one, path)))]
}

function parseText(value: unknown, path: string): string {
  if (typeof value === 'string' && isText(value)) return value
  throw invalidFilter({ path, problem: 'must be true, a value, or a list of values of 1 to 255 characters' })
}

function entriesOf(value: unknown, path: string): [string, unknown][] {
  if (!isPlainObject(value)) throw invalidFilter({ path, problem: 'must be an object of keys and values' })
  const entries = Object.entries(value)
  if (entries.length === 0) throw invalidFilter({ path, problem: 'must have at least one key' })
  if (!entries.every(([key]) => isText(key))) {
    throw invalidFilter({ path, problem: 'must have keys of 1 to 255 characters' })
  }
  return entries
}

/** Text that OpenStreetMap allows as a key or value, and a database can store. */
function isText(text: string): boolean {
  return text !== '' && text.length <= 255 && !text.includes('\0')
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
