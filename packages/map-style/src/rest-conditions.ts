import type { Filter } from './document.ts'

/** Whether a condition asks for a text or none. */
export function isTextOrNone({ is, value }: Filter): boolean {
  return (is === 'empty' || is === 'filled') && typeof value === 'string'
}

/**
 * The conditions of a layer's filters as `/rest/v1` and `/vector/v1` take them: columns and what they are compared with.
 *
 * @param hasEmptyTexts an empty text of a property of texts is no value, as on the map
 */
export function restConditions(filters: readonly Filter[], hasEmptyTexts: boolean): [string, string][] {
  const [texts, others] = [true, false].map((wanted) =>
    filters.filter((filter) => (hasEmptyTexts && isTextOrNone(filter)) === wanted),
  ) as [Filter[], Filter[]]
  const either = texts.map(({ property, is }) => {
    const column = quotedColumn(property)
    return is === 'empty' ? `or(${column}.is.null,${column}.eq."")` : `${column}.neq.""`
  })
  return [
    ...others.map(({ property, is, value }): [string, string] => [property, conditionOf(is, value)]),
    ...(either.length > 0 ? [['and', `(${either.join(',')})`] as [string, string]] : []),
  ]
}

function conditionOf(is: Filter['is'], value: Filter['value']): string {
  switch (is) {
    case 'equal':
      return `eq.${value}`
    case 'not':
      return `isdistinct.${value}`
    case 'less':
      return `lt.${value}`
    case 'more':
      return `gt.${value}`
    case 'contains':
      // Wildcards in the text are replaced by `_`, which matches any single character.
      return `ilike.*${String(value).replaceAll(/[\\%_*]/g, '_')}*`
    default:
      return is === 'empty' ? 'is.null' : 'not.is.null'
  }
}

/** A column in a list of REST, whatever its name holds. */
export function quotedColumn(column: string): string {
  return `"${column.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`
}
