import { DatabaseReader } from './read-database.ts'
import { writeDatabase, type Transferred } from './write-database.ts'

/** Result of a move. */
export interface Moved extends Transferred {
  readonly warnings: readonly string[]
}

/**
 * Copies a snapshot of a database into an empty one on another server: roles, schema, rows, sequences. The copy is
 * compared by the rows of each table and by its catalogue before it is committed; the source is not changed.
 *
 * @throws DATABASE_NOT_EMPTY, TRANSFER_DIFFERS, DATABASE_UNAVAILABLE, or a server's own error
 */
export async function moveDatabase(
  from: string,
  to: string,
  onTable?: (name: string, rows: number) => void,
): Promise<Moved> {
  await using source = await DatabaseReader.open(from)
  const { outline } = source
  const done = await writeDatabase(
    to,
    outline,
    (table) => source.rows(table),
    ({ schema, table }, rows) => onTable?.(`${schema}.${table}`, rows),
  )
  return { ...done, warnings: outline.warnings }
}
