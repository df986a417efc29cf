import copyStreams from 'pg-copy-streams'
import type { Database, Session } from '../database.ts'
import { ColumnBuilder, narrowed, type ScanBatch, type ScanColumn } from './columns.ts'
import { CopyDecoder } from './copy-decoder.ts'

export interface ScanOptions {
  /** Rows of a batch; 5,000 unless given. */
  readonly batchRows?: number
}

/**
 * Streams the rows of a query in batches of columns, all from one snapshot: COPY BINARY, or a cursor on the embedded
 * database, whose other clients wait meanwhile. Stop by leaving the loop or by the signal of a database `withSignal`.
 *
 * @param columns expressions and how to read their values, to which they are cast
 * @param from what stands after FROM
 */
export async function* scan(
  database: Database,
  columns: readonly ScanColumn[],
  from: string,
  options: ScanOptions = {},
): AsyncGenerator<ScanBatch> {
  const batchRows = options.batchRows ?? 5000
  const taken = Promise.withResolvers<Session>()
  const { promise: released, resolve: release, reject: fail } = Promise.withResolvers<void>()
  const done = database.session(async (session) => {
    taken.resolve(session)
    await released
  })
  done.catch(taken.reject)
  const session = await taken.promise
  try {
    yield* database.capabilities.copy
      ? copyOut(database, session, columns, from, batchRows)
      : fetchAll(session, columns, from, batchRows)
  } catch (error) {
    // The session knows whether an abort is behind it.
    fail(error)
  } finally {
    release()
    await done
  }
}

async function* copyOut(
  database: Database,
  session: Session,
  columns: readonly ScanColumn[],
  from: string,
  batchRows: number,
): AsyncGenerator<ScanBatch> {
  const select = columns.map(({ sql, type }) => `(${sql})::${type === 'bytes' ? 'bytea' : type}`).join(', ')
  const stream = session.client.query(copyStreams.to(`copy (select ${select} from ${from}) to stdout (format binary)`))
  const decoder = new CopyDecoder(columns, batchRows)
  let isComplete = false
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield* decoder.push(chunk as Buffer)
    isComplete = true
    yield* decoder.end()
  } finally {
    if (!isComplete) abandon(database, session, stream)
  }
}

/**
 * Ends a COPY whose rest nobody wants. Its connection is closed, which stops a server that sends; the cancellation
 * stops one that computes. Neither is waited for: reading up to the server's answer could take as long as the rest.
 */
function abandon(database: Database, session: Session, stream: NodeJS.ReadableStream): void {
  const { processID } = session.client as unknown as { processID: number }
  stream.on('error', ignore)
  session.discard()
  database.query('select pg_cancel_backend($1)', [processID]).catch(ignore)
}

async function* fetchAll(
  session: Session,
  columns: readonly ScanColumn[],
  from: string,
  batchRows: number,
): AsyncGenerator<ScanBatch> {
  const select = columns.map(({ sql, type }, i) => `${textOf(sql, type)} as c${i}`).join(', ')
  await session.query('begin')
  try {
    await session.query(`declare scan no scroll cursor for select ${select} from ${from}`)
    for (;;) {
      const { rows } = await session.query<Record<string, string | null>>(`fetch ${batchRows} from scan`)
      if (rows.length === 0) break
      yield { rows: rows.length, columns: columns.map(({ type }, i) => parse(rows, `c${i}`, type)) }
    }
  } finally {
    await session.client.query('rollback').catch(ignore)
  }
}

function textOf(sql: string, type: ScanColumn['type']): string {
  return type === 'bytes' ? `encode((${sql})::bytea, 'hex')` : `(${sql})::${type}::text`
}

function parse(rows: readonly Record<string, string | null>[], name: string, type: ScanColumn['type']) {
  const builder = new ColumnBuilder(type)
  for (const row of rows) {
    const text = row[name] ?? null
    if (type === 'bytes') builder.addBytes(text === null ? null : Buffer.from(text, 'hex'))
    else builder.values.push(text === null ? null : parseText(text, type))
  }
  return builder.take()
}

function parseText(text: string, type: Exclude<ScanColumn['type'], 'bytes'>): number | bigint | boolean | string {
  switch (type) {
    case 'int8':
      return narrowed(BigInt(text))
    case 'float8':
      return Number(text.replace('inf', 'Inf'))
    case 'bool':
      return text === 'true'
    case 'text':
      return text
  }
}

function ignore(): void {}
