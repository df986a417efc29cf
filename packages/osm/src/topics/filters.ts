import type { TagView } from '../features/tag-view.ts'
import type { Filter, HasFilter, KeyFilter } from './style.ts'

/** One key of a filter, prepared for the tags of one reader. */
export interface Condition {
  readonly name: string
  readonly key: number
  readonly values: ReadonlySet<string>
  /** True when `values` are the accepted values, false when they are the excluded ones. */
  readonly only: boolean
  readonly start: string | null
}

/** The key by which an element matches a filter. */
export interface Matched {
  /** Its number; -1 where no single key decides. */
  readonly key: number
  readonly name: string | null
}

const ANY: Matched = { key: -1, name: null }

/** Returns the first matching key of a branch that holds, null when the filter does not match. */
export type Finder = () => Matched | null

/** Further condition for a key; undefined when the key cannot match. Keys of negations have none. */
type Further = (key: string) => Condition | undefined

/** Finds the key by which the element whose tags are loaded matches the filter. */
export function compileFinder(filter: Filter, tags: TagView): Finder {
  if (isCondition(filter)) return findFirst([compileCondition(filter, tags)], tags)
  if ('any' in filter) {
    if (filter.any.every(isCondition)) {
      return findFirst(
        filter.any.map((each) => compileCondition(each, tags)),
        tags,
      )
    }
    return firstOf(filter.any.map((each) => compileFinder(each, tags)))
  }
  if ('all' in filter) return allOf(filter.all.map((each) => compileFinder(each, tags)))
  if ('not' in filter) {
    const find = compileFinder(filter.not, tags)
    return () => (find() === null ? ANY : null)
  }
  const test =
    'prefix' in filter
      ? tags.keyTest(`^${filter.prefix}`, (key) => key.startsWith(filter.prefix))
      : otherThan(filter.hasOther, tags)
  return () => (tags.passes(test) ? ANY : null)
}

/** Like {@link compileFinder} with a further condition of each key; a branch without keys needs `alone`. */
export function compileFurther(filter: Filter, tags: TagView, further: Further, alone: () => boolean): Finder {
  if (keyNames(filter).length === 0) {
    const find = compileFinder(filter, tags)
    return () => (alone() ? find() : null)
  }
  if (isCondition(filter)) return findFirstPair([filter], tags, further)
  if ('any' in filter) {
    if (filter.any.every(isCondition)) return findFirstPair(filter.any, tags, further)
    return firstOf(filter.any.map((each) => compileFurther(each, tags, further, alone)))
  }
  if ('all' in filter) {
    const holds = compileFinder(filter, tags)
    const parts = filter.all.filter((each) => keyNames(each).length > 0)
    const find = firstOf(parts.map((each) => compileFurther(each, tags, further, alone)))
    return () => (holds() === null ? null : find())
  }
  return () => null
}

function findFirstPair(filters: readonly (KeyFilter | HasFilter)[], tags: TagView, further: Further): Finder {
  const pairs = filters.flatMap((filter) => {
    const own = compileCondition(filter, tags)
    const other = further(own.name)
    return other ? [{ own, other }] : []
  })
  return () => {
    for (const { own, other } of pairs) if (fits(own, tags) && fits(other, tags)) return own
    return null
  }
}

function findFirst(conditions: readonly Condition[], tags: TagView): Finder {
  return () => {
    for (const condition of conditions) if (fits(condition, tags)) return condition
    return null
  }
}

/** The first key that a finder returns; otherwise any match. */
function firstOf(finders: readonly Finder[]): Finder {
  return () => {
    let found: Matched | null = null
    for (const find of finders) {
      const one = find()
      if (one !== null && one !== ANY) return one
      found ??= one
    }
    return found
  }
}

function allOf(finders: readonly Finder[]): Finder {
  return () => {
    let found: Matched = ANY
    for (const find of finders) {
      const one = find()
      if (one === null) return null
      if (found === ANY) found = one
    }
    return found
  }
}

function otherThan(keys: readonly string[], tags: TagView): number {
  const listed = new Set(keys)
  return tags.keyTest(JSON.stringify(keys), (key) => !listed.has(key))
}

export function compileCondition(filter: KeyFilter | HasFilter, tags: TagView): Condition {
  if ('has' in filter) {
    return { name: filter.has, key: tags.numberOf(filter.has), values: new Set(), only: false, start: null }
  }
  const { key: name, is, isNot = [], startsWith: start = null } = filter
  const values = new Set(is === undefined ? ['no', isNot].flat() : [is].flat())
  return { name, key: tags.numberOf(name), values, only: is !== undefined, start }
}

/** True when the current tags have the key with a matching value. */
export function fits({ key, values, only, start }: Condition, tags: TagView): boolean {
  const value = tags.get(key)
  return value !== null && values.has(value) === only && (start === null || value.startsWith(start))
}

/** Keys that a filter reads, or that let an element match it. */
export interface Keys {
  readonly keys: readonly string[]
  readonly prefixes: readonly string[]
  /** Any key that is not in one of these lists. */
  readonly others: readonly ReadonlySet<string>[]
}

/** Keys that make an element a candidate for the filter; null when it may match without a key. */
export function neededKeys(filter: Filter): Keys | null {
  if ('not' in filter) return null
  if ('any' in filter) {
    const each = filter.any.map(neededKeys)
    return each.every((keys) => keys !== null) ? union(each) : null
  }
  if ('all' in filter) return filter.all.map(neededKeys).find((keys) => keys !== null) ?? null
  return keysOf(filter)
}

/** All keys of a filter. */
export function keysOf(filter: Filter): Keys {
  if ('not' in filter) return keysOf(filter.not)
  if ('any' in filter) return union(filter.any.map(keysOf))
  if ('all' in filter) return union(filter.all.map(keysOf))
  if ('prefix' in filter) return { ...NO_KEYS, prefixes: [filter.prefix] }
  if ('hasOther' in filter) return { ...NO_KEYS, others: [new Set(filter.hasOther)] }
  return { ...NO_KEYS, keys: ['has' in filter ? filter.has : filter.key] }
}

const NO_KEYS: Keys = { keys: [], prefixes: [], others: [] }

export function union(all: readonly Keys[]): Keys {
  return {
    keys: all.flatMap(({ keys }) => keys),
    prefixes: all.flatMap(({ prefixes }) => prefixes),
    others: all.flatMap(({ others }) => others),
  }
}

function isCondition(filter: Filter): filter is KeyFilter | HasFilter {
  return 'key' in filter || 'has' in filter
}

/** The keys of a filter that are not negated. */
export function keyNames(filter: Filter): string[] {
  if (isCondition(filter)) return ['has' in filter ? filter.has : filter.key]
  if ('any' in filter) return filter.any.flatMap(keyNames)
  return 'all' in filter ? filter.all.flatMap(keyNames) : []
}
