/** Tables whose name contains each word of a search. */
export function findTables<T extends { readonly name: string }>(tables: readonly T[], search: string): readonly T[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return tables.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
}
