import type { Session } from '@terrane/database'
import { badSql } from './errors.ts'

/** A column of a statement's result: its type as the server's OID and modifier. */
export interface StatementColumn {
  readonly name: string
  readonly oid: number
  readonly typmod: number
}

/** Methods of the driver's connection that its types omit (PostgreSQL manual, extended query). */
interface Connection {
  parse(message: { text: string; name: string; types: readonly number[] }): void
  describe(message: { type: 'S'; name: string }): void
  sync(): void
}

interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number; readonly dataTypeModifier: number }[]
}

const JSONB = 3802
/** Maximum columns of a table (PostgreSQL manual, limits). */
const MOST_COLUMNS = 1600

/**
 * Lets the server parse a statement under the session's role, without planning or running it; several statements are
 * refused.
 *
 * @param sql its `$1` is jsonb
 * @throws BAD_SQL for a statement without rows, or with two columns of one name; the server's error for one that it
 * cannot parse
 */
export async function describeStatement(session: Session, sql: string): Promise<readonly StatementColumn[]> {
  const columns = await new Promise<readonly StatementColumn[]>((resolve, reject) => {
    let found: readonly StatementColumn[] = []
    const submittable = {
      submit: (connection: Connection) => {
        connection.parse({ text: sql, name: '', types: [JSONB] })
        connection.describe({ type: 'S', name: '' })
        connection.sync()
      },
      handleRowDescription: ({ fields }: RowDescription) => {
        found = fields.map(({ name, dataTypeID, dataTypeModifier }) => ({
          name,
          oid: dataTypeID,
          typmod: dataTypeModifier,
        }))
      },
      handleReadyForQuery: () => resolve(found),
      handleError: reject,
    }
    session.client.query(submittable as unknown as { submit: () => void })
  })
  if (columns.length === 0)
    throw badSql('it gives no rows', 'Write one statement that begins with select, with, values or table.')
  if (columns.length > MOST_COLUMNS) throw badSql(`it gives more than ${MOST_COLUMNS} columns`, 'Select fewer.')
  const twice = columns.find(({ name }, i) => columns.findIndex((other) => other.name === name) < i)
  if (twice) throw badSql(`two of its columns are named ${twice.name}`, 'Rename one with `as`.')
  return columns
}
