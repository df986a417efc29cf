import type { TagView } from '../features/tag-view.ts'

/** Values of a key that count: any but `no`, these, or any but `no` and these. */
type ValueRule = '*' | readonly string[] | { readonly except: readonly string[] }

/** Keys and the values that count; one of them is enough. */
export type Match = Readonly<Record<string, ValueRule>>

/** One key of a {@link Match}, made ready for the tags of one reader. */
export interface KeyRule {
  readonly name: string
  readonly key: number
  readonly values: ReadonlySet<string>
  /** True when `values` are the matching values, false when they are the excluded ones. */
  readonly only: boolean
}

export function keyRules(match: Match, tags: TagView): KeyRule[] {
  return Object.entries(match).map(([name, rule]) => ({ name, key: tags.numberOf(name), ...valueSet(rule) }))
}

/** True when the tags at hand have the key with a value that counts. */
export function matches(rule: KeyRule, tags: TagView): boolean {
  const value = tags.get(rule.key)
  return value !== null && rule.values.has(value) === rule.only
}

function valueSet(rule: ValueRule): { values: ReadonlySet<string>; only: boolean } {
  if (rule === '*') return { values: new Set(['no']), only: false }
  if ('except' in rule) return { values: new Set(['no', ...rule.except]), only: false }
  return { values: new Set(rule), only: true }
}
