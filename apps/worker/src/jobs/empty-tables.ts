import type { JobWarning } from '@terrane/contracts'

/** Warning of an import whose tables have no rows: for all tables, or for those requested by name. */
export function emptyTables(
  tables: readonly { readonly name: string; readonly rows: number }[],
  isAsked: (table: number) => boolean = () => true,
): JobWarning[] {
  const empty = tables.filter(({ rows }) => rows === 0)
  if (empty.length > 0 && empty.length === tables.length) {
    const message = 'The source has nothing in this area: no table got a row.'
    return [{ code: 'NOTHING_FOUND', message, count: empty.length, examples: namesOf(empty) }]
  }
  const asked = tables.filter(({ rows }, i) => rows === 0 && isAsked(i))
  if (asked.length === 0) return []
  const message = 'Tables that were asked for have no rows: the source has nothing of theirs in this area.'
  return [{ code: 'TABLES_EMPTY', message, count: asked.length, examples: namesOf(asked) }]
}

function namesOf(tables: readonly { readonly name: string }[]): string[] {
  return tables.slice(0, 10).map(({ name }) => name)
}
