import { DatabaseSync } from 'node:sqlite'

/** Most bytes of a value or row: a geometry of some hundred megabytes has to fit, what a view makes up has not. */
const MOST_BYTES = 256 * 1024 * 1024

/** Opens a database that may be hostile: read only, with a bound on the values that its views and functions may make. */
export function openSqlite(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, limits: { length: MOST_BYTES } })
}
