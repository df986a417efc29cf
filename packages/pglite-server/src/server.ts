import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import { defineError } from '@terrane/core/errors'
import type { SyncMode } from './engine/engine.ts'
import type { SessionLimits } from './sessions/session-queue.ts'

/** Start parameters of the server's thread. */
export interface ServerSettings {
  readonly dataDir: string | null
  readonly sync: SyncMode
  readonly snapshot: Uint8Array<SharedArrayBuffer> | null
  readonly rewindable: boolean
  /** 0 for any free port. */
  readonly port: number
  readonly limits: Partial<SessionLimits>
}

/** A request to the thread of the server. */
export type ServerCommand = 'snapshot' | 'rewind' | 'close'

/** An answer of the thread of the server. */
export type ServerReply =
  | { readonly type: 'ready'; readonly port: number }
  | { readonly type: 'snapshot'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'closed' }

/**
 * Options of {@link startPgliteServer}; all may be absent.
 *
 * @example
 *   const options: PgliteServerOptions = { dataDir: 'data/pglite', port: 5433, sync: 'commit' }
 */
export interface PgliteServerOptions {
  /** Folder of the data, which is made when it is absent; without one the data are in memory. */
  readonly dataDir?: string
  /** When commits are written to disk; `soon` by default. */
  readonly sync?: SyncMode
  /** A {@link PgliteServer.snapshot} to start from. */
  readonly snapshot?: Uint8Array<ArrayBuffer>
  /** Allows {@link PgliteServer.rewind}, which takes some 150 MB; only in memory. */
  readonly rewindable?: boolean
  /** TCP port on 127.0.0.1; a free one by default. */
  readonly port?: number
  /** Timeouts of clients that hold the session, in milliseconds. */
  readonly limits?: Partial<SessionLimits>
}

/**
 * PostgreSQL in WebAssembly (PGlite) with PostGIS and pgvector, reachable like any server.
 *
 * @example
 *   function clientOf(server: PgliteServer): Client {
 *     return new Client({ connectionString: server.url })
 *   }
 */
export interface PgliteServer extends AsyncDisposable {
  /** Connection string of the only user, `postgres`, who has no password. */
  readonly url: string
  /** The whole data folder as bytes, to start further databases from. */
  snapshot(): Promise<Uint8Array<ArrayBuffer>>
  /** Ends its clients and returns to the state right after the start, at another URL. @throws EMBEDDED_DATABASE when it cannot */
  rewind(): Promise<void>
  /** Lets the process end while the server runs. */
  unref(): void
  close(): Promise<void>
}

const serverFailed = defineError(
  'EMBEDDED_DATABASE',
  'unavailable',
  (f: { reason: string }) => `The embedded database stopped: ${f.reason}`,
  () => ({
    hint: 'One process at a time has a data folder and a port: stop the other, which may be another Terrane, or take others. Several share a PostgreSQL server: set DATABASE_URL.',
  }),
)

/**
 * Starts a server on threads of its own, which takes seconds to start and about 1 GB of memory under load. Its clients share
 * one session in turns, each with its own settings.
 *
 * @throws EMBEDDED_DATABASE when it cannot start
 * @example
 *   await using server = await startPgliteServer({ dataDir: 'data/pglite' })
 *   const client = new Client({ connectionString: server.url })
 */
export async function startPgliteServer(options: PgliteServerOptions = {}): Promise<PgliteServer> {
  const thread = new ServerThread({
    dataDir: options.dataDir ?? null,
    sync: options.sync ?? 'soon',
    snapshot: options.snapshot ? shared(options.snapshot) : null,
    rewindable: options.rewindable ?? false,
    port: options.port ?? 0,
    limits: options.limits ?? {},
  })
  let { port } = await thread.reply('ready')
  let closing: Promise<void> | null = null
  const close = () => (closing ??= thread.close())
  return {
    get url() {
      return `postgres://postgres@127.0.0.1:${port}/postgres`
    },
    snapshot: async () => (await thread.ask('snapshot', 'snapshot')).bytes,
    rewind: async () => {
      port = (await thread.ask('rewind', 'ready')).port
    },
    unref: () => thread.unref(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The thread that runs server.worker.ts. */
class ServerThread {
  readonly #worker: Worker
  #isKept = true

  constructor(workerData: ServerSettings) {
    this.#worker = new Worker(new URL('./server.worker.ts', import.meta.url), { workerData })
  }

  ask<T extends ServerReply['type']>(command: ServerCommand, type: T): Promise<Extract<ServerReply, { type: T }>> {
    const reply = this.reply(type)
    this.#worker.postMessage(command)
    return reply
  }

  /** The next reply of a type, until which the process does not end. @throws EMBEDDED_DATABASE when the thread ends first */
  async reply<T extends ServerReply['type']>(type: T): Promise<Extract<ServerReply, { type: T }>> {
    const replies = on(this.#worker, 'message', { close: ['exit'] })
    this.#worker.ref()
    try {
      for await (const [reply] of replies as AsyncIterable<[ServerReply]>) {
        if (reply.type === type) return reply as Extract<ServerReply, { type: T }>
      }
    } catch (error) {
      throw serverFailed({ reason: (error as Error).message }, { cause: error })
    } finally {
      if (!this.#isKept) this.#worker.unref()
    }
    throw serverFailed({ reason: 'its thread ended' })
  }

  unref(): void {
    this.#isKept = false
    this.#worker.unref()
  }

  async close(): Promise<void> {
    await this.ask('close', 'closed')
    await this.#worker.terminate()
  }
}

/** A copy that threads share. */
function shared(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}
