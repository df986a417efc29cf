import { constants, DatabaseSync } from 'node:sqlite'
import { conversionFailed } from '../errors.ts'

/** Most bytes of a value or row: a geometry of some hundred megabytes has to fit, what a view makes up has not. */
const MOST_BYTES = 256 * 1024 * 1024
const { SQLITE_FUNCTION, SQLITE_OK, SQLITE_PRAGMA } = constants

/**
 * Opens a database that may be hostile: read only, with a bound on the values that its views and functions may make. Views
 * see no pragma but that of columns: others name the file's path, and what SQLite was built with.
 *
 * Its statements throw CONVERSION_FAILED for a view that asks for more.
 */
export function openSqlite(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, limits: { length: MOST_BYTES } })
  database.setAuthorizer((action, name, other) => {
    const isOfMachine =
      (action === SQLITE_PRAGMA && name !== 'table_info') ||
      (action === SQLITE_FUNCTION && other?.startsWith('sqlite_') === true)
    if (isOfMachine) throw conversionFailed({ reason: `a view asks for ${other ?? name}, which is of this machine` })
    return SQLITE_OK
  })
  return database
}
