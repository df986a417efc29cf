import copyStreams from 'pg-copy-streams'
import { cancelStatement } from '../cancel.ts'
import { MAX_ANSWER_BYTES } from '../connection/bounded-client.ts'
import type { Database, Session } from '../database.ts'
import type { ScanBatch, ScanColumn } from './columns.ts'
import { CopyDecoder } from './copy-decoder.ts'
import { TableSlices, wholeSql, type ScanSource } from './table-slices.ts'

const BATCH_BYTES = 8 * 2 ** 20

export interface ScanOptions {
  /** Rows of a batch; default 5,000. */
  readonly batchRows?: number
  /** Bytes that complete a batch with fewer rows; default 8 MiB. */
  readonly batchBytes?: number
  /** Maximum bytes of a row; default 256 MiB. */
  readonly rowBytes?: number
}

/** Lends a connection, e.g. within a transaction of its own. */
type Lend = (work: (session: Session) => Promise<void>) => Promise<void>

/**
 * Streams the rows of a query or table in batches of columns, all from one snapshot, by COPY BINARY. The embedded
 * database reads a table in slices, between which other clients have their turn; they wait while it reads anything else.
 * To stop, leave the loop, or abort the signal of a database `withSignal`.
 *
 * @param columns expressions and how to read their values, to which they are cast
 * @throws TABLE_CHANGED when rows are updated or deleted between two slices: try again, at last with `isWhole`
 */
export async function* scan(
  database: Database,
  columns: readonly ScanColumn[],
  source: ScanSource,
  options: ScanOptions & { readonly isWhole?: boolean } = {},
): AsyncGenerator<ScanBatch> {
  const lend: Lend = (work) => database.session(work)
  if (database.capabilities.parallel || options.isWhole === true)
    yield* readLent(lend, (session) => scanSession(session, columns, source, options))
  else yield* scanInTurns(lend, columns, source, options)
}

/** Like {@link scan}, on connections lent for a slice each, for the embedded database. @throws TABLE_CHANGED */
export async function* scanInTurns(
  lend: Lend,
  columns: readonly ScanColumn[],
  source: ScanSource,
  options: ScanOptions = {},
): AsyncGenerator<ScanBatch> {
  let slices: TableSlices | null = null
  if (typeof source !== 'string') await lend(async (session) => void (slices = await TableSlices.of(session, source)))
  if (slices === null) yield* readLent(lend, (session) => scanSession(session, columns, source, options))
  else yield* scanSlices(lend, columns, slices, options)
}

async function* scanSlices(
  lend: Lend,
  columns: readonly ScanColumn[],
  slices: TableSlices,
  options: ScanOptions,
): AsyncGenerator<ScanBatch> {
  for (let from = slices.next(); from !== null; from = slices.next()) {
    const slice = from
    const began = performance.now()
    yield* readLent(lend, async function* (session) {
      yield* scanSession(session, columns, slice, options)
      await slices.check(session)
    })
    slices.took(performance.now() - began)
  }
}

/** Reads batches on a lent connection, which is given back after the last one. */
async function* readLent(lend: Lend, read: (session: Session) => AsyncGenerator<ScanBatch>): AsyncGenerator<ScanBatch> {
  const taken = Promise.withResolvers<Session>()
  const { promise: released, resolve: release, reject: fail } = Promise.withResolvers<void>()
  const done = lend(async (session) => {
    taken.resolve(session)
    await released
  })
  done.catch(taken.reject)
  const session = await taken.promise
  let isLeft = true
  try {
    yield* read(session)
    isLeft = false
  } catch (error) {
    isLeft = false
    // The error goes to `lend`, which replaces it by the signal's reason after an abort.
    fail(error)
  } finally {
    if (isLeft) fail(new Error('the loop was left'))
    release()
    await (isLeft ? done.catch(ignore) : done)
  }
}

/** The same as {@link scan} on a connection at hand, within its transaction; leaving the loop ends that connection. */
export async function* scanSession(
  session: Session,
  columns: readonly ScanColumn[],
  source: ScanSource,
  { batchRows = 5000, batchBytes = BATCH_BYTES, rowBytes = MAX_ANSWER_BYTES }: ScanOptions = {},
): AsyncGenerator<ScanBatch> {
  const select = columns.map(({ sql, type }) => `(${sql})::${type === 'bytes' ? 'bytea' : type}`).join(', ')
  const stream = session.client.query(
    copyStreams.to(`copy (select ${select} from ${wholeSql(source)}) to stdout (format binary)`),
  )
  const decoder = new CopyDecoder(columns, { batchRows, batchBytes, rowBytes })
  let isComplete = false
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield* decoder.push(chunk as Buffer)
    isComplete = true
    yield* decoder.end()
  } finally {
    // The server sends a last message after all rows; a connection that closes before it is not an error.
    stream.on('error', ignore)
    if (!isComplete) abandon(session)
  }
}

/** Ends a COPY by closing and cancelling, without waiting: reading the rest could take as long as the COPY. */
function abandon(session: Session): void {
  session.discard()
  void cancelStatement(session.client)
}

function ignore(): void {}
