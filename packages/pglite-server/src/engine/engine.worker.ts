import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { LOG_SETTINGS } from '../sessions/maintenance.ts'
import type { FileSystemState } from './rewind.ts'
import { shareMemory, type LoadedServer } from './shared-memory.ts'
import { SYNC_SETTINGS, syncedFiles, syncTree } from './synced-files.ts'
import type { EngineCommand, EngineReply, EngineSettings, ServerWords } from './engine.ts'

// PGlite blocks the thread that it runs on, so it has this thread to itself.
const { dataDir, sync, snapshot, rewindable, flow } = workerData as EngineSettings
const port = parentPort
if (!port) throw new Error('engine.worker.ts runs in a worker thread')

const loaded = shareMemory()
const [{ PGlite }, { vector }, { dataFrom, postgisAlone, withoutOldLog }] = await Promise.all([
  import('@electric-sql/pglite'),
  import('@electric-sql/pglite-pgvector'),
  import('./files.ts'),
])
const isNew = dataDir !== null && !existsSync(join(dataDir, 'PG_VERSION'))
const settings = dataDir === null ? [] : [...LOG_SETTINGS, ...SYNC_SETTINGS]
const db = await PGlite.create({
  extensions: {
    postgis: postgisAlone,
    vector,
    ...(snapshot === null ? {} : { data: dataFrom(snapshot) }),
    ...(dataDir === null ? {} : { synced: syncedFiles(sync) }),
  },
  startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
  ...(dataDir === null ? {} : { dataDir }),
})
if (isNew) syncTree(dataDir)
const { server, words } = await findWords()
const { stack } = server

/** Minimum bytes of an answer in one message, except for the last one. */
const CHUNK = 1 << 16
/** Maximum bytes of answers that the client has not taken; the statement waits beyond it. */
const MOST_IN_FLIGHT = 1 << 25

await db.exec(interruptibleSleep())
// Conversions between encodings: loading the libraries of most of them ends the engine or makes it hang. Only UTF8 is
// supported, and a client that requests another encoding gets an error.
await db.exec('delete from pg_catalog.pg_conversion')
const stackAtRest = stack.value
watchForTraps()
const rewind = rewindable ? await checkpointed() : null
reply({ type: 'ready', words })

port.on('message', (command: EngineCommand) => {
  if (command.type === 'run') void run(command.bytes)
  else if (command.type === 'snapshot') void takeSnapshot()
  else if (command.type === 'rewind') reply({ type: 'rewound', done: rewind?.() ?? false })
  else void close()
})

async function run(bytes: Uint8Array): Promise<void> {
  let chunks: Buffer[] = []
  let size = 0
  // A late cancel request for an earlier unit must not cancel this one.
  Atomics.store(new Int32Array(words.memory), words.queryCancelPending >> 2, 0)
  // Errors leave by an exception, which does not unwind the C stack: unreset, it would grow over static data.
  stack.value = stackAtRest
  // An error thrown here is not an SQL error and ends this thread.
  await db.runExclusive(() =>
    db.execProtocolRawStream(bytes, {
      onRawData: (data) => {
        // The bytes are in the memory of the database and are invalid after the call.
        chunks.push(Buffer.from(data))
        size += data.length
        if (size < CHUNK) return
        send(chunks)
        chunks = []
        size = 0
      },
    }),
  )
  reply({ type: 'done', data: whole(chunks), inTransaction: db.isInTransaction() })
}

/** Ends this thread when the server traps: PGlite would catch it and continue. Intended exits throw no Error. */
function watchForTraps(): void {
  const { mod } = db as unknown as { mod: { _PostgresMainLoopOnce: () => void } }
  const once = mod._PostgresMainLoopOnce
  mod._PostgresMainLoopOnce = () => {
    try {
      once()
    } catch (error) {
      if (!(error instanceof Error)) throw error
      reply({ type: 'trapped', reason: error.message })
      process.exit(1)
    }
  }
}

/** Sends a part of an answer, and waits while the client has too many bytes to take. */
function send(chunks: readonly Buffer[]): void {
  const data = whole(chunks)
  Atomics.add(flow, 0, data.length)
  reply({ type: 'data', data })
  for (let left = Atomics.load(flow, 0); left > MOST_IN_FLIGHT; left = Atomics.load(flow, 0))
    Atomics.wait(flow, 0, left)
}

async function takeSnapshot(): Promise<void> {
  // Starts a new segment of the log; after the checkpoint in it the earlier segments are no longer needed.
  await db.exec('select pg_switch_wal()')
  await db.exec('checkpoint')
  const { rows } = await db.query<{ redo: string }>('select redo_wal_file as redo from pg_control_checkpoint()')
  const blob = await db.dumpDataDir('none')
  const bytes = await withoutOldLog(new Uint8Array(await blob.arrayBuffer()), rows[0]?.redo ?? '')
  reply({ type: 'snapshot', bytes })
}

/** Saves a state to return to, with the common libraries loaded: loading another library later prevents the return. */
async function checkpointed(): Promise<() => boolean> {
  const { checkpoint } = await import('./rewind.ts')
  await db.exec(`load 'postgis-3'; load 'vector'; load 'dict_snowball'`)
  return checkpoint(server, (db as unknown as { Module: { FS: FileSystemState } }).Module.FS, () => loaded.instances)
}

async function close(): Promise<void> {
  await db.close()
  reply({ type: 'closed' })
  port?.close()
}

function reply(message: EngineReply): void {
  port?.postMessage(message)
}

function whole(chunks: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Finds the unexported `statement_timeout` in milliseconds: the one static word that changes with the setting. */
async function findWords(): Promise<{ server: LoadedServer; words: ServerWords }> {
  await db.exec('set statement_timeout = 1234567')
  let candidates = loaded.servers.flatMap((begun) => {
    const view = new Int32Array(begun.words.memory, 0, begun.endOfData >> 2)
    const indexes: number[] = []
    for (let at = view.indexOf(1_234_567); at !== -1; at = view.indexOf(1_234_567, at + 1)) indexes.push(at)
    return indexes.map((index) => ({ server: begun, view, index }))
  })
  const steps: [string, number][] = [
    [`select set_config('statement_timeout', '7654321ms', false)`, 7_654_321],
    ['reset statement_timeout', 0],
    [`begin; set local statement_timeout = '765432'`, 765_432],
    ['rollback', 0],
  ]
  for (const [sql, value] of steps) {
    await db.exec(sql)
    candidates = candidates.filter(({ view, index }) => view[index] === value)
  }
  const [found, ...others] = candidates
  if (!found || others.length > 0) throw new Error('statement_timeout was not found in the memory')
  return { server: found.server, words: { ...found.server.words, statementTimeout: found.index * 4 } }
}

/** Replaces `pg_sleep` by an interruptible loop; built-ins are called by number, so it is renamed first. */
function interruptibleSleep(): string {
  return `do $do$
    begin
      if to_regproc('pg_catalog.terrane_nap') is null then
        alter function pg_catalog.pg_sleep(double precision) rename to terrane_nap;
      end if;
    end $do$;
    create or replace function pg_catalog.pg_sleep(double precision) returns void
      language plpgsql volatile parallel safe strict set search_path = pg_catalog as $$
      declare
        until constant timestamptz := clock_timestamp() + make_interval(secs => $1);
      begin
        while clock_timestamp() < until loop
          perform terrane_nap(least(0.05, extract(epoch from until - clock_timestamp())::float8));
        end loop;
      end $$;
    create or replace function pg_catalog.pg_sleep_for(interval) returns void
      language sql volatile parallel safe strict as
      'select pg_catalog.pg_sleep(extract(epoch from pg_catalog.clock_timestamp() + $1 - pg_catalog.clock_timestamp())::float8)';
    create or replace function pg_catalog.pg_sleep_until(timestamptz) returns void
      language sql volatile parallel safe strict as
      'select pg_catalog.pg_sleep(extract(epoch from $1 - pg_catalog.clock_timestamp())::float8)'`
}
