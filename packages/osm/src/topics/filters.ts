import type { TagView } from '../features/tag-view.ts'
import type { Filter, HasFilter, KeyFilter } from './style.ts'

/** One key of a filter, made ready for the tags of one reader. */
export interface Condition {
  readonly name: string
  readonly key: number
  readonly values: ReadonlySet<string>
  /** True when `values` are the values that fit, false when they are the excluded ones. */
  readonly only: boolean
  readonly start: string | null
}

/** A filter, made ready. */
export interface CompiledFilter {
  /** The conditions on keys that are not negated, in their order. */
  readonly conditions: readonly Condition[]
  /** The whole filter; null when one of the conditions is enough. */
  readonly test: (() => boolean) | null
}

export function compileFilter(filter: Filter, tags: TagView): CompiledFilter {
  const conditions = keyFilters(filter).map((each) => compileCondition(each, tags))
  const isFlat = isCondition(filter) || ('any' in filter && filter.any.every(isCondition))
  return { conditions, test: isFlat ? null : compileTest(filter, tags) }
}

export function compileCondition(filter: KeyFilter | HasFilter, tags: TagView): Condition {
  if ('has' in filter) {
    return { name: filter.has, key: tags.numberOf(filter.has), values: new Set(), only: false, start: null }
  }
  const { key: name, is, isNot = [], startsWith: start = null } = filter
  const values = new Set(is === undefined ? ['no', isNot].flat() : [is].flat())
  return { name, key: tags.numberOf(name), values, only: is !== undefined, start }
}

/** True when the tags at hand have the key with a value that fits. */
export function fits({ key, values, only, start }: Condition, tags: TagView): boolean {
  const value = tags.get(key)
  return value !== null && values.has(value) === only && (start === null || value.startsWith(start))
}

/** What a filter reads, or what lets an element fit it. */
export interface Keys {
  readonly keys: readonly string[]
  readonly prefixes: readonly string[]
  /** Any key that is not in one of these lists. */
  readonly others: readonly ReadonlySet<string>[]
}

/** Keys that make an element a candidate for the filter; null when it may fit without any key. */
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

function keyFilters(filter: Filter): (KeyFilter | HasFilter)[] {
  if (isCondition(filter)) return [filter]
  if ('any' in filter) return filter.any.flatMap(keyFilters)
  return 'all' in filter ? filter.all.flatMap(keyFilters) : []
}

function compileTest(filter: Filter, tags: TagView): () => boolean {
  if ('all' in filter) {
    const tests = filter.all.map((each) => compileTest(each, tags))
    return () => tests.every((test) => test())
  }
  if ('any' in filter) {
    const tests = filter.any.map((each) => compileTest(each, tags))
    return () => tests.some((test) => test())
  }
  if ('not' in filter) {
    const test = compileTest(filter.not, tags)
    return () => !test()
  }
  if ('prefix' in filter) return () => tags.hasPrefix(filter.prefix)
  if ('hasOther' in filter) {
    const listed = new Set(filter.hasOther)
    return () => tags.hasOther(listed)
  }
  const condition = compileCondition(filter, tags)
  return () => fits(condition, tags)
}
