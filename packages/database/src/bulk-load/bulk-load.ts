import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { TerraneError } from '@terrane/core'
import copyStreams from 'pg-copy-streams'
import { quoteIdentifier, qualified, type Database, type Session } from '../database.ts'
import { STAGING_SCHEMA } from '../staging.ts'
import { bulkLoadFailed, mapConnectionError } from '../errors.ts'
import { serverDate } from './calendar.ts'
import { jsonText, withoutNul, type Column, type ColumnType, type Row } from './columns.ts'
import { CopyEncoder } from './copy-binary.ts'

export interface BulkLoadTarget {
  readonly schema: string
  readonly table: string
  readonly columns: readonly Column[]
}

export interface BulkLoadOptions {
  readonly signal?: AbortSignal
  /** Called with the rows sent so far. */
  readonly onRows?: (rows: number) => void
}

/** Size of the chunks that are handed to the COPY stream, in bytes. */
const COPY_CHUNK = 1 << 17
/** Rows and approximate bytes of one INSERT on the embedded database. */
const INSERT_ROWS = 1000
const INSERT_BYTES = 4 << 20

/**
 * Loads rows into a table as fast as the server allows: COPY BINARY, or batched `INSERT … SELECT unnest` on the embedded
 * database. On COPY all rows arrive or none; on the embedded database the batches before an error stay, so load into a
 * staging table. Returns the number of rows.
 *
 * @throws BULK_LOAD_FAILED around the server's own error, the reason of the signal, or what the source throws
 */
export async function bulkLoad(
  database: Database,
  target: BulkLoadTarget,
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  options: BulkLoadOptions = {},
): Promise<number> {
  if (database.capabilities.copy) return database.session((session) => copyRows(session, target, batches, options))
  return insertRows(database, target, batches, options)
}

async function copyRows(
  session: Session,
  target: BulkLoadTarget,
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  options: BulkLoadOptions,
): Promise<number> {
  return copy(session, target, options, async (send, sent) => {
    const encoder = new CopyEncoder(target.columns)
    for await (const batch of batches) {
      options.signal?.throwIfAborted()
      for (const row of batch) {
        encoder.write(row)
        sent.rows++
        if (encoder.size >= COPY_CHUNK) await send(encoder.take())
      }
      options.onRows?.(sent.rows)
    }
    encoder.end()
    await send(encoder.take())
  })
}

/** One COPY, fed by `write`, which keeps count of the rows sent; returns their number. */
async function copy(
  session: Session,
  target: BulkLoadTarget,
  options: BulkLoadOptions,
  write: (send: (bytes: Buffer) => Promise<void>, sent: { rows: number }) => Promise<void>,
): Promise<number> {
  const names = target.columns.map((column) => quoteIdentifier(column.name)).join(', ')
  const table = qualified(target.schema, target.table)
  // What is lost with the server is staged anew; the commit that swaps it in waits for all that was written before.
  const staging = target.schema === STAGING_SCHEMA
  if (staging) await session.query('begin; set local synchronous_commit to off')
  const stream = session.client.query(copyStreams.from(`copy ${table} (${names}) from stdin (format binary)`))
  // The stream of a lost connection tells of an error and then nothing more: it neither drains nor closes.
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(ignore)
  let failure: unknown
  stream.on('error', (error) => {
    failure ??= error
    fail(error)
  })
  const send = async (bytes: Buffer) => {
    if (failure) throw failure
    if (!stream.write(bytes)) await Promise.race([drained(stream), failed])
    if (failure) throw failure
  }
  const sent = { rows: 0 }
  try {
    await write(send, sent)
    stream.end()
    if (!stream.writableFinished) await Promise.race([once(stream, 'finish'), failed])
    if (staging) await session.query('commit')
    return sent.rows
  } catch (error) {
    // The server forgets the rows; the connection is usable again once it has said so.
    if (!stream.destroyed) stream.destroy()
    await session.client.query('rollback').catch(ignore)
    throw wrap(error, target, sent.rows, options.signal)
  }
}

/** Takes one array of texts for each column. */
function insertStatement({ schema, table, columns }: BulkLoadTarget): string {
  const names = columns.map((column) => quoteIdentifier(column.name)).join(', ')
  const parameters = columns.map((_, i) => `$${i + 1}::text[]`).join(', ')
  const casts = columns.map((column, i) => `(u.c${i})::${column.type}`).join(', ')
  const aliases = columns.map((_, i) => `c${i}`).join(', ')
  return `insert into ${qualified(schema, table)} (${names}) select ${casts} from unnest(${parameters}) as u(${aliases})`
}

async function insertRows(
  database: Database,
  target: BulkLoadTarget,
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  options: BulkLoadOptions,
): Promise<number> {
  const text = insertStatement(target)
  let pending: (string | null)[][] = target.columns.map(() => [])
  let bytes = 0
  let rows = 0
  const flush = async () => {
    const values = pending
    if ((values[0]?.length ?? 0) === 0) return
    pending = target.columns.map(() => [])
    bytes = 0
    await database.query(text, values)
  }
  try {
    for await (const batch of batches) {
      for (const row of batch) {
        for (let i = 0; i < target.columns.length; i++) {
          const value = row[i]
          const encoded =
            value === null || value === undefined ? null : textOf((target.columns[i] as Column).type, value)
          bytes += encoded?.length ?? 4
          ;(pending[i] as (string | null)[]).push(encoded)
        }
        rows++
        if ((pending[0]?.length ?? 0) >= INSERT_ROWS || bytes >= INSERT_BYTES) {
          options.signal?.throwIfAborted()
          await flush()
        }
      }
      options.onRows?.(rows)
    }
    options.signal?.throwIfAborted()
    await flush()
    return rows
  } catch (error) {
    throw wrap(error, target, rows, options.signal)
  }
}

/** The text form that the server's input functions read. */
function textOf(type: ColumnType, value: unknown): string {
  switch (type) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'float4':
    case 'float8':
    case 'bool':
    case 'uuid':
      return String(value)
    case 'text':
      return withoutNul(value as string)
    case 'jsonb':
      return jsonText(value)
    case 'timestamptz':
    case 'timestamp':
    case 'date':
      return serverDate(typeof value === 'string' ? value : (value as Date).toISOString())
    case 'time':
    case 'numeric':
      return String(value)
    case 'bytea':
      return `\\x${hex(value as Uint8Array)}`
    case 'geometry':
      return hex(value as Uint8Array)
    case 'vector':
    case 'halfvec':
      return `[${(value as Float32Array).join(',')}]`
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

function wrap(error: unknown, target: BulkLoadTarget, rows: number, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof TerraneError) return error
  const mapped = mapConnectionError(error)
  if (mapped !== error) return mapped
  // A five-character code is the server's; anything else came from the source of the rows and is passed on.
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
