import copyStreams from 'pg-copy-streams'
import { cancelStatement } from '../cancel.ts'
import { MAX_ANSWER_BYTES } from '../connection/bounded-client.ts'
import type { Database, Session } from '../database.ts'
import type { ScanBatch, ScanColumn } from './columns.ts'
import { CopyDecoder } from './copy-decoder.ts'

const BATCH_BYTES = 8 * 2 ** 20

export interface ScanOptions {
  /** Rows of a batch; default 5,000. */
  readonly batchRows?: number
  /** Bytes that complete a batch with fewer rows; default 8 MiB. */
  readonly batchBytes?: number
  /** Maximum bytes of a row; default 256 MiB. */
  readonly rowBytes?: number
}

/**
 * Streams the rows of a query in batches of columns, all from one snapshot, by COPY BINARY. On the embedded database
 * other clients wait meanwhile. To stop, leave the loop, or abort the signal of a database `withSignal`.
 *
 * @param columns expressions and how to read their values, to which they are cast
 * @param from text after FROM
 */
export async function* scan(
  database: Database,
  columns: readonly ScanColumn[],
  from: string,
  options: ScanOptions = {},
): AsyncGenerator<ScanBatch> {
  const taken = Promise.withResolvers<Session>()
  const { promise: released, resolve: release, reject: fail } = Promise.withResolvers<void>()
  const done = database.session(async (session) => {
    taken.resolve(session)
    await released
  })
  done.catch(taken.reject)
  const session = await taken.promise
  try {
    yield* scanSession(session, columns, from, options)
  } catch (error) {
    // The session knows whether an abort is behind it.
    fail(error)
  } finally {
    release()
    await done
  }
}

/** The same as {@link scan} on a connection at hand, within its transaction; leaving the loop ends that connection. */
export async function* scanSession(
  session: Session,
  columns: readonly ScanColumn[],
  from: string,
  { batchRows = 5000, batchBytes = BATCH_BYTES, rowBytes = MAX_ANSWER_BYTES }: ScanOptions = {},
): AsyncGenerator<ScanBatch> {
  const select = columns.map(({ sql, type }) => `(${sql})::${type === 'bytes' ? 'bytea' : type}`).join(', ')
  const stream = session.client.query(copyStreams.to(`copy (select ${select} from ${from}) to stdout (format binary)`))
  const decoder = new CopyDecoder(columns, { batchRows, batchBytes, rowBytes })
  let isComplete = false
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield* decoder.push(chunk as Buffer)
    isComplete = true
    yield* decoder.end()
  } finally {
    // After all rows the server sends a last message; if the connection is closed before that, the stream's error is
    // ignored.
    stream.on('error', ignore)
    if (!isComplete) abandon(session)
  }
}

/**
 * Ends a COPY whose rest is not needed. Closing the connection stops a server that sends, and the cancellation one that
 * computes. There is no wait for either, because reading the remaining data could take as long as the COPY.
 */
function abandon(session: Session): void {
  session.discard()
  void cancelStatement(session.client)
}

function ignore(): void {}
