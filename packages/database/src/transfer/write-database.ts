import { once } from 'node:events'
import copyStreams from 'pg-copy-streams'
import { qualified, quoteIdentifier } from '../database.ts'
import { mapConnectionError, notEmpty, transferDiffers } from '../errors.ts'
import type { LentSession } from '../lent-session.ts'
import { refuseOtherVersion } from '../migrate.ts'
import { anythingIn, inventoryOf, openSession, type DatabaseOutline, type TableOutline } from './read-database.ts'

/** Maximum bytes of one COPY, because the embedded database holds a whole one in memory. */
const PART_BYTES = 32 << 20
const NEWLINE = 10

/** Result of the copy. */
export interface Transferred {
  readonly tables: number
  readonly rows: number
}

/**
 * Fills a database from an outline and rows in one transaction, and compares it with the outline before the commit.
 *
 * @param rows rows of a table in COPY text format
 * @throws DATABASE_NOT_EMPTY, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD, TRANSFER_DIFFERS, DATABASE_UNAVAILABLE, or the server's
 * own error
 */
export async function writeDatabase(
  url: string,
  outline: DatabaseOutline,
  rows: (table: TableOutline) => AsyncIterable<Buffer>,
  onTable: (table: TableOutline, rows: number) => void = ignore,
): Promise<Transferred> {
  await refuseOtherVersion(outline.migrations)
  const session = await openSession(url)
  try {
    await session.query('begin')
    refuseAny(await anythingIn(session))
    for (const sql of outline.before) await session.query(sql)
    let total = 0
    for (const table of outline.tables) {
      const sent = await copyIn(session, table, rows(table))
      if (table.condition === '') await compareRows(session, table, sent)
      total += sent
      onTable(table, sent)
    }
    for (const sql of outline.after) await session.query(sql)
    compare(outline.inventory, await inventoryOf(session))
    await session.query('commit')
    return { tables: outline.tables.length, rows: total }
  } catch (error) {
    throw mapConnectionError(error)
  } finally {
    // Uncommitted rows are rolled back.
    session.close()
  }
}

/** @throws DATABASE_NOT_EMPTY, DATABASE_UNAVAILABLE */
export async function refuseUnlessEmpty(url: string): Promise<void> {
  const session = await openSession(url)
  try {
    refuseAny(await anythingIn(session))
  } finally {
    session.close()
  }
}

function refuseAny(found: readonly string[]): void {
  if (found.length > 0) throw notEmpty({ found })
}

/** Returns how many rows were sent. */
async function copyIn(session: LentSession, table: TableOutline, source: AsyncIterable<Buffer>): Promise<number> {
  const names = table.columns.map(quoteIdentifier).join(', ')
  const sql = `copy ${qualified(table.schema, table.table)} (${names}) from stdin`
  let rows = 0
  let part: CopyInto | null = null
  for await (const chunk of source) {
    part ??= new CopyInto(session, sql)
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) rows++
    // A part ends with a row.
    const end = part.bytes + chunk.length < PART_BYTES ? 0 : chunk.lastIndexOf(NEWLINE) + 1
    if (end === 0) {
      await part.send(chunk)
      continue
    }
    await part.send(chunk.subarray(0, end))
    await part.end()
    part = null
    if (end < chunk.length) {
      part = new CopyInto(session, sql)
      await part.send(chunk.subarray(end))
    }
  }
  await part?.end()
  return rows
}

/** One COPY statement. */
class CopyInto {
  bytes = 0
  readonly #stream: copyStreams.CopyStreamQuery
  readonly #failed = Promise.withResolvers<never>()

  constructor({ client }: LentSession, sql: string) {
    this.#stream = client.query(copyStreams.from(sql))
    this.#failed.promise.catch(ignore)
    this.#stream.on('error', (error) => this.#failed.reject(error))
  }

  async send(bytes: Buffer): Promise<void> {
    this.bytes += bytes.length
    if (!this.#stream.write(bytes)) await Promise.race([once(this.#stream, 'drain'), this.#failed.promise])
  }

  async end(): Promise<void> {
    this.#stream.end()
    await Promise.race([once(this.#stream, 'finish'), this.#failed.promise])
  }
}

async function compareRows(session: LentSession, { schema, table }: TableOutline, sent: number): Promise<void> {
  const { rows } = await session.query(`select count(*)::float8 as n from ${qualified(schema, table)}`)
  const { n } = rows[0] as { n: number }
  if (n !== sent) throw transferDiffers({ what: `${schema}.${table} has ${n} rows instead of ${sent}` })
}

function compare(wanted: readonly string[], found: readonly string[]): void {
  const [has, should] = [new Set(found), new Set(wanted)]
  const missing = wanted.find((line) => !has.has(line))
  if (missing !== undefined) throw transferDiffers({ what: `it lacks ${missing}` })
  const more = found.find((line) => !should.has(line))
  if (more !== undefined) throw transferDiffers({ what: `it has ${more}` })
}

function ignore(): void {}
