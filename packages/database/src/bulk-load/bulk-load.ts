import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { TerraneError } from '@terrane/core/errors'
import copyStreams from 'pg-copy-streams'
import { quoteIdentifier, qualified, type Database, type Session } from '../database.ts'
import { STAGING_SCHEMA } from '../staging/staging.ts'
import { bulkLoadFailed, mapConnectionError } from '../errors.ts'
import type { Column, Row } from './columns.ts'
import { COPY_HEADER, COPY_TRAILER, CopyEncoder } from './copy-binary.ts'

export interface BulkLoadTarget {
  readonly schema: string
  readonly table: string
  readonly columns: readonly Column[]
}

export interface BulkLoadOptions {
  readonly signal?: AbortSignal
  /** Called with the number of rows sent. */
  readonly onRows?: (rows: number) => void
}

/** Size of the chunks that are handed to the COPY stream, in bytes. */
const COPY_CHUNK = 1 << 17
/** Bytes of one COPY on the embedded database; other clients run between two of them, never during one. */
const EMBEDDED_COPY = 4 << 20

/**
 * Loads rows into a table by COPY BINARY. On a server the load is atomic. The embedded database loads in parts, and
 * parts before an error stay, so use a staging table. Returns the number of rows.
 *
 * @throws BULK_LOAD_FAILED with the server's error as its cause, the reason of the signal, or what the source throws
 */
export async function bulkLoad(
  database: Database,
  target: BulkLoadTarget,
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  options: BulkLoadOptions = {},
): Promise<number> {
  const { parallel } = database.capabilities
  const partBytes = parallel ? Infinity : EMBEDDED_COPY
  // Staging tables do not wait for the disk: lost rows are loaded again, and the swap waits for all earlier writes.
  const inTransaction = parallel && target.schema === STAGING_SCHEMA
  return database.session(async (session) => {
    const encoder = new CopyEncoder(target.columns)
    let part = await CopyPart.begin(session, target, inTransaction)
    let rows = 0
    try {
      for await (const batch of batches) {
        options.signal?.throwIfAborted()
        for (const row of batch) {
          encoder.write(row)
          rows++
          if (encoder.size >= COPY_CHUNK) await part.send(encoder.take())
          if (part.bytes < partBytes) continue
          await part.end(encoder.take())
          part = await CopyPart.begin(session, target, inTransaction)
        }
        options.onRows?.(rows)
      }
      await part.end(encoder.take())
      return rows
    } catch (error) {
      await part.abandon()
      throw wrap(error, target, rows, options.signal)
    }
  })
}

/** Loads rows of a {@link CopyEncoder} by one atomic COPY of chunks cut anywhere. @throws as {@link bulkLoad} */
export async function loadEncoded(
  database: Database,
  target: BulkLoadTarget,
  chunks: readonly Uint8Array[],
  { signal }: Pick<BulkLoadOptions, 'signal'> = {},
): Promise<void> {
  const inTransaction = database.capabilities.parallel && target.schema === STAGING_SCHEMA
  await database.session(async (session) => {
    const part = await CopyPart.begin(session, target, inTransaction)
    try {
      for (const chunk of chunks) {
        signal?.throwIfAborted()
        await part.send(chunk)
      }
      await part.end()
    } catch (error) {
      await part.abandon()
      throw wrap(error, target, 0, signal)
    }
  })
}

/** One COPY statement. */
class CopyPart {
  /** Bytes sent. */
  bytes = 0
  readonly #session: Session
  readonly #stream: copyStreams.CopyStreamQuery
  readonly #isTransaction: boolean
  // The stream of a lost connection emits an error and no `drain` or `close` after it.
  readonly #failed = Promise.withResolvers<never>()
  #failure: unknown

  private constructor(session: Session, sql: string, isTransaction: boolean) {
    this.#session = session
    this.#isTransaction = isTransaction
    this.#stream = session.client.query(copyStreams.from(sql))
    this.#failed.promise.catch(ignore)
    this.#stream.on('error', (error) => {
      this.#failure ??= error
      this.#failed.reject(error)
    })
  }

  static async begin(
    session: Session,
    { schema, table, columns }: BulkLoadTarget,
    inTransaction: boolean,
  ): Promise<CopyPart> {
    const names = columns.map((column) => quoteIdentifier(column.name)).join(', ')
    if (inTransaction) await session.query('begin; set local synchronous_commit to off')
    const sql = `copy ${qualified(schema, table)} (${names}) from stdin (format binary)`
    const part = new CopyPart(session, sql, inTransaction)
    part.#stream.write(COPY_HEADER)
    return part
  }

  async send(bytes: Uint8Array): Promise<void> {
    this.bytes += bytes.length
    if (this.#failure) throw this.#failure
    if (!this.#stream.write(bytes)) await Promise.race([drained(this.#stream), this.#failed.promise])
    if (this.#failure) throw this.#failure
  }

  /** Sends the rest and the end mark, and waits until the server has all. */
  async end(rest?: Uint8Array): Promise<void> {
    if (rest) await this.send(rest)
    this.#stream.end(COPY_TRAILER)
    if (!this.#stream.writableFinished) await Promise.race([once(this.#stream, 'finish'), this.#failed.promise])
    if (this.#isTransaction) await this.#session.query('commit')
  }

  /** Discards the rows on the server; the connection is usable again after its confirmation. */
  async abandon(): Promise<void> {
    if (!this.#stream.destroyed) this.#stream.destroy()
    await this.#session.client.query('rollback').catch(ignore)
  }
}

function wrap(error: unknown, target: BulkLoadTarget, rows: number, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof TerraneError) return error
  const mapped = mapConnectionError(error)
  if (mapped !== error) return mapped
  // A code of five characters is the server's; other errors come from the source of the rows and are passed on.
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string' || code.length !== 5) return error
  return bulkLoadFailed(
    { table: `${target.schema}.${target.table}`, rows },
    { cause: error, details: (error as Error).message },
  )
}

/** Waits until a stream takes more, or has ended; leaves no listener behind. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}

function ignore(): void {}
