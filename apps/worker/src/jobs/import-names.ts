import type { Queryable } from '@terrane/database'
import { relationExists, tableExists } from '@terrane/database/staging'

/** Schema for tables of map data imports. */
export const SCHEMA = 'public'

/** Refuses names in use; with mode `replace` only names of views, sequences and indexes. @throws TABLE_EXISTS */
export async function checkNames(
  database: Queryable,
  names: readonly string[],
  mode: 'create' | 'replace' = 'create',
): Promise<void> {
  for (const table of names) {
    const isTaken = await relationExists(database, SCHEMA, table, mode === 'create' ? {} : { isTable: false })
    if (isTaken) throw tableExists({ schema: SCHEMA, table })
  }
}
