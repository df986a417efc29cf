import { constants, DatabaseSync } from 'node:sqlite'
import { conversionFailed } from '../errors.ts'

/**
 * Maximum bytes of a value or row: enough for a geometry of some hundred megabytes, but a bound for values made up by
 * views.
 */
const MOST_BYTES = 256 * 1024 * 1024
const { SQLITE_FUNCTION, SQLITE_OK, SQLITE_PRAGMA } = constants

/** Text in a view that reads a pragma or SQLite's build options. */
const OF_MACHINE = /(?:pragma_|sqlite_(?!schema\b|master\b|sequence\b))\w{0,64}/i

/**
 * Opens a database that may be hostile: read only, with a bound on the values that its views and functions may make.
 * Views may use no pragma but that of columns, because others reveal the file's path and SQLite's build options.
 *
 * Its statements throw CONVERSION_FAILED for a view that asks for more; before Node 24.10, opening it does.
 */
export function openSqlite(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, limits: { length: MOST_BYTES } })
  if ('setAuthorizer' in database) refuseAtUse(database)
  else refuseByText(database)
  return database
}

function refuseAtUse(database: DatabaseSync): void {
  database.setAuthorizer((action, name, other) => {
    const isOfMachine =
      (action === SQLITE_PRAGMA && name !== 'table_info') ||
      (action === SQLITE_FUNCTION && other?.startsWith('sqlite_') === true)
    if (isOfMachine) throw ofMachine(other ?? name)
    return SQLITE_OK
  })
}

/** Node before 24.10 has no authorizer. @internal */
export function refuseByText(database: Pick<DatabaseSync, 'prepare'>): void {
  for (const { sql } of database.prepare(`select sql from sqlite_schema where type = 'view'`).iterate()) {
    const [found] = OF_MACHINE.exec(String(sql)) ?? []
    if (found !== undefined) throw ofMachine(found.replace(/^pragma_/i, ''))
  }
}

const ofMachine = (what: string | null) =>
  conversionFailed({ reason: `a view asks for ${what}, which is of this machine` })
