import type { OsmFilter, TagValues } from './osm-filter.ts'

/** A feature's tags. */
export type Tags = Readonly<Record<string, string>>

/**
 * The columns of a count, with their names and the columns of a feature. Listed values of a filter are columns from the
 * start; for a key with any value, columns are added when values occur.
 *
 * Names as srai's: `key_value` and `group_key=value`, or `key` and `group` when values are not distinguished.
 */
export class TagColumns {
  readonly #indexes = new Map<string, number>()
  readonly #match: (tags: Tags, hit: (name: string) => void) => void

  constructor(filter: OsmFilter, subcategories: boolean) {
    if (filter.kind === 'keys') this.#match = keyMatcher(filter.keys, subcategories)
    else this.#match = groupMatcher(filter.groups, subcategories)
    for (const name of fixedNames(filter, subcategories)) this.#indexOf(name)
  }

  /** Calls `hit` with the number of each column in which the feature counts. */
  columnsOf(tags: Tags, hit: (column: number) => void): void {
    this.#match(tags, (name) => hit(this.#indexOf(name)))
  }

  get count(): number {
    return this.#indexes.size
  }

  /** The names in alphabetical order, and the place of each column number in it. */
  sorted(): { readonly names: readonly string[]; readonly places: Uint32Array } {
    const names = [...this.#indexes.keys()].toSorted()
    const places = new Uint32Array(names.length)
    for (const [place, name] of names.entries()) places[this.#indexes.get(name)!] = place
    return { names, places }
  }

  #indexOf(name: string): number {
    const index = this.#indexes.get(name) ?? this.#indexes.size
    if (index === this.#indexes.size) this.#indexes.set(name, index)
    return index
  }
}

type Matcher = (tags: Tags, hit: (name: string) => void) => void

function keyMatcher(keys: Readonly<Record<string, TagValues>>, subcategories: boolean): Matcher {
  const tests = Object.entries(keys).map(([key, values]) => ({ key, matches: valueTest(values) }))
  return (tags, hit) => {
    for (const { key, matches } of tests) {
      const value = tags[key]
      if (value !== undefined && matches(value)) hit(subcategories ? `${key}_${value}` : key)
    }
  }
}

function groupMatcher(
  groups: Readonly<Record<string, Readonly<Record<string, TagValues>>>>,
  subcategories: boolean,
): Matcher {
  const tests = Object.entries(groups).map(([group, keys]) => ({
    group,
    keys: Object.entries(keys).map(([key, values]) => ({ key, matches: valueTest(values) })),
  }))
  return (tags, hit) => {
    for (const { group, keys } of tests) {
      const first = keys.find(({ key, matches }) => tags[key] !== undefined && matches(tags[key]))
      if (first) hit(subcategories ? `${group}_${first.key}=${tags[first.key]}` : group)
    }
  }
}

function valueTest(values: TagValues): (value: string) => boolean {
  if (values === true) return () => true
  const set = new Set(values)
  return (value) => set.has(value)
}

/** The columns that are known before any feature is seen. */
function fixedNames(filter: OsmFilter, subcategories: boolean): string[] {
  if (filter.kind === 'keys') {
    if (!subcategories) return Object.keys(filter.keys)
    return Object.entries(filter.keys).flatMap(([key, values]) => listed(values).map((value) => `${key}_${value}`))
  }
  if (!subcategories) return Object.keys(filter.groups)
  return Object.entries(filter.groups).flatMap(([group, keys]) =>
    Object.entries(keys).flatMap(([key, values]) => listed(values).map((value) => `${group}_${key}=${value}`)),
  )
}

function listed(values: TagValues): readonly string[] {
  return values === true ? [] : values
}
