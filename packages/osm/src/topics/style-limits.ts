/** Most that a style may hold. */
export const STYLE_LIMITS = {
  /** Characters of the style as JSON. */
  length: 200_000,
  /** Tables, generalized ones included. */
  tables: 64,
  /** Columns of a table. */
  columns: 100,
  /** Columns of all tables, generalized ones included. */
  allColumns: 1000,
  /** Filters within filters. */
  depth: 8,
  /** Conditions of all filters. */
  conditions: 2000,
  /** Different keys and prefixes of keys. */
  keys: 2000,
  /** Entries of a list of values, keys or filters, or of a map. */
  list: 1000,
  /** Characters of a key, a value or a separator. */
  text: 255,
} as const
