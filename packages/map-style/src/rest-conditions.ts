import type { Filter } from './document.ts'

/** Whether a condition tests for a text or for its absence. */
export function isTextOrNone({ is, value }: Filter): boolean {
  return (is === 'empty' || is === 'filled') && typeof value === 'string'
}

/**
 * The conditions of a layer's filters as parameter `and` of `/rest/v1` and `/vector/v1`, because a column may have the
 * name of another parameter. Empty without filters.
 *
 * @param hasEmptyTexts an empty text counts as missing, as on the map
 */
export function restConditions(filters: readonly Filter[], hasEmptyTexts: boolean): [string, string][] {
  const conditions = filters.map((filter) => {
    const { property, is, value } = filter
    const column = quotedInList(property)
    if (!hasEmptyTexts || !isTextOrNone(filter)) return `${column}.${conditionOf(is, value)}`
    return is === 'empty' ? `or(${column}.is.null,${column}.eq."")` : `${column}.neq.""`
  })
  return conditions.length > 0 ? [['and', `(${conditions.join(',')})`]] : []
}

function conditionOf(is: Filter['is'], value: Filter['value']): string {
  switch (is) {
    case 'equal':
      return `eq.${quotedInList(String(value))}`
    case 'not':
      return `isdistinct.${quotedInList(String(value))}`
    case 'less':
      return `lt.${quotedInList(String(value))}`
    case 'more':
      return `gt.${quotedInList(String(value))}`
    case 'contains':
      // Wildcards in the text are replaced by `_`, which matches any single character.
      return `ilike.${quotedInList(`*${String(value).replaceAll(/[\\%_*]/g, '_')}*`)}`
    default:
      return is === 'empty' ? 'is.null' : 'not.is.null'
  }
}

/** Quotes a column name or a value for a list of REST. */
export function quotedInList(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`
}
