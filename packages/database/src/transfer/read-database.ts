import copyStreams from 'pg-copy-streams'
import { qualified, quoteIdentifier } from '../database.ts'
import { LentSession } from '../lent-session.ts'
import { ANYTHING, INVENTORY, ROLES, SEQUENCES, TABLES, VIEWS_TO_FILL } from './inventory.ts'
import { dumpSchema } from './pg-dump.ts'

/** Everything of a database but its rows. */
export interface DatabaseOutline {
  /** Statements in order: roles, prerequisites of tables, and tables. */
  readonly before: readonly string[]
  readonly tables: readonly TableOutline[]
  /** Sequences, then indexes, constraints, triggers and policies, then materialized views. */
  readonly after: readonly string[]
  /** Inventory of the database, one line an object ({@link INVENTORY}). */
  readonly inventory: readonly string[]
  /** Applied migrations, which identify the version of Terrane. */
  readonly migrations: readonly string[]
  /** Objects that are not copied. */
  readonly warnings: readonly string[]
}

export interface TableOutline {
  readonly schema: string
  readonly table: string
  readonly columns: readonly string[]
  /** SQL condition of the rows to copy, when an extension provides the others. */
  readonly condition: string
}

/** Tables of running jobs, which these jobs create again. */
const STAGED = ['--exclude-table=terrane_staging.*']

/** A consistent snapshot of a database; the embedded one blocks other sessions meanwhile. */
export class DatabaseReader implements AsyncDisposable {
  readonly #session: LentSession
  readonly outline: DatabaseOutline

  /** @throws DATABASE_UNAVAILABLE, or the server's own error */
  static async open(url: string): Promise<DatabaseReader> {
    const session = await openSession(url)
    try {
      await session.query('begin isolation level repeatable read, read only')
      return new DatabaseReader(session, await outlineOf(session))
    } catch (error) {
      session.close()
      throw error
    }
  }

  private constructor(session: LentSession, outline: DatabaseOutline) {
    this.#session = session
    this.outline = outline
  }

  /** The rows of a table as COPY writes them as text: a line each. */
  rows({ schema, table, columns, condition }: TableOutline): AsyncIterable<Buffer> {
    const names = columns.map(quoteIdentifier).join(', ')
    const query = copyStreams.to(`copy (select ${names} from ${qualified(schema, table)} ${condition}) to stdout`)
    return this.#session.client.query(query) as AsyncIterable<Buffer>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.close()
  }
}

/** A statement of default privileges without its grantor; any other line unchanged. */
function withoutRole(line: string): string {
  return line.replace(/^ALTER DEFAULT PRIVILEGES FOR ROLE (?:(?:"[^"]*")+|[^\s"]+) /, 'ALTER DEFAULT PRIVILEGES ')
}

/** A connection as the user of the URL. */
export function openSession(url: string): Promise<LentSession> {
  const { username, password } = new URL(url)
  return LentSession.open({
    url,
    user: decodeURIComponent(username) || 'postgres',
    password: decodeURIComponent(password),
    applicationName: 'terrane transfer',
  })
}

/** Names of up to five objects that a database already has. */
export async function anythingIn(session: LentSession): Promise<string[]> {
  return (await session.query(ANYTHING)).rows.map(({ name }: { name: string }) => name)
}

/** Inventory of a database without rows, one line an object. */
export async function inventoryOf(session: LentSession): Promise<string[]> {
  await session.query(`set local search_path = ''`)
  return (await session.query(INVENTORY)).rows.map(({ line }: { line: string }) => line)
}

async function outlineOf(session: LentSession): Promise<DatabaseOutline> {
  const sql = async (query: string) => (await session.query(query)).rows.map((row: { sql: string }) => row.sql)
  const { rows: about } = await session.query(
    `select to_regclass('terrane.migrations') is not null as migrated, (select count(*)::int from pg_largeobject_metadata) as objects`,
  )
  const { migrated, objects } = about[0] as { migrated: boolean; objects: number }
  const migrations = migrated ? await sql('select id as sql from terrane.migrations order by id') : []
  const roles = await sql(ROLES)
  const { rows: tables } = await session.query(TABLES)
  const sequences = await sql(SEQUENCES)
  const views = await sql(VIEWS_TO_FILL)
  const inventory = await inventoryOf(session)
  const dump = async (section: string) => {
    const text = await dumpSchema(session, ['--schema-only', `--section=${section}`, '--no-owner', ...STAGED])
    await session.query('deallocate all')
    // Default privileges are those of the role that restores.
    return text.split('\n').map(withoutRole).join('\n')
  }
  return {
    before: [...roles, await dump('pre-data')],
    tables: tables as TableOutline[],
    after: [...sequences, await dump('post-data'), ...views],
    inventory,
    migrations,
    warnings: objects > 0 ? [`${objects} large objects (lo) are not taken along`] : [],
  }
}
