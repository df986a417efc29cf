import type { Tags } from './values.ts'

/** Whether a tag has conditions. */
export function hasConditions(tags: Tags): boolean {
  return [...tags.keys()].some((key) => key.includes(':conditional'))
}

/** One case of a conditional tag: a value that counts while all of its conditions hold. */
export interface ConditionalCase {
  readonly value: string
  /** Conditions that must hold together: opening hours, uses such as `destination`, comparisons such as `weight>7.5`. */
  readonly conditions: readonly string[]
}

/**
 * Splits the value of a `*:conditional` tag: cases are separated by `;`, conditions by `AND`, except inside
 * parentheses. Parts that are not `value @ condition` are left out. Source: OpenStreetMap wiki, page Conditional
 * restrictions.
 */
export function conditionalCases(text: string | undefined): ConditionalCase[] {
  if (text === undefined) return []
  return splitOutside(text, /;/y).flatMap((part): ConditionalCase[] => {
    const at = part.indexOf('@')
    const value = part.slice(0, Math.max(0, at)).trim()
    if (value === '') return []
    const conditions = splitOutside(withoutParentheses(part.slice(at + 1)), /\s+and\s+/iy).map(withoutParentheses)
    return conditions.every((condition) => condition !== '') ? [{ value, conditions }] : []
  })
}

/** Conditions that mean local traffic only. */
const LOCAL = new Set(['destination', 'delivery', 'customers', 'residents', 'loading', 'unloading', 'access'])

/** Whether local traffic is the only condition of a case, without times, sizes or vehicle types. */
export function isForLocals({ conditions }: Pick<ConditionalCase, 'conditions'>): boolean {
  return conditions.every((condition) => LOCAL.has(condition.toLowerCase()))
}

/** Parts of a text between separators that are not inside parentheses. */
function splitOutside(text: string, separator: RegExp): string[] {
  const parts: string[] = []
  let depth = 0
  let begin = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')') depth = Math.max(0, depth - 1)
    separator.lastIndex = i
    const found = depth === 0 ? separator.exec(text) : null
    if (found === null) continue
    parts.push(text.slice(begin, i))
    begin = i + found[0].length
    i = begin - 1
  }
  return [...parts, text.slice(begin)]
}

/** The text without parentheses around all of it. */
function withoutParentheses(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('(')) return trimmed
  let depth = 0
  for (let i = 0; i < trimmed.length; i++) {
    if (trimmed[i] === '(') depth++
    else if (trimmed[i] === ')') depth--
    if (depth === 0) return i === trimmed.length - 1 ? trimmed.slice(1, -1).trim() : trimmed
  }
  return trimmed
}
