import { Worker } from 'node:worker_threads'
import { defineError } from '@terrane/core'
import type { SyncMode } from './synced-files.ts'
import type { SessionLimits } from './turns.ts'

/** What the thread of the embedded database is started with. */
export interface EmbeddedSettings {
  readonly dataDir: string | null
  readonly sync: SyncMode
  readonly snapshot: Uint8Array<SharedArrayBuffer> | null
  readonly rewindable: boolean
  /** 0 for any that is free. */
  readonly port: number
  readonly limits: Partial<SessionLimits>
}

export type EmbeddedCommand = 'snapshot' | 'rewind' | 'close'

/** What it says. */
export type EmbeddedReply =
  | { readonly type: 'ready'; readonly port: number }
  | { readonly type: 'snapshot'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'closed' }

export interface EmbeddedOptions {
  /** Folder of the data; in memory when absent. */
  readonly dataDir?: string
  /** When the disk has what was committed; `soon` when absent. */
  readonly sync?: SyncMode
  /** A {@link EmbeddedDatabase.snapshot} to start from. */
  readonly snapshot?: Uint8Array<ArrayBuffer>
  /** Allows {@link EmbeddedDatabase.rewind}, for some 150 MB; only in memory. */
  readonly rewindable?: boolean
  /** TCP port on 127.0.0.1; a free one when absent. */
  readonly port?: number
  /** How long silent clients may keep the others waiting. */
  readonly limits?: Partial<SessionLimits>
}

/** PostgreSQL in WebAssembly (PGlite) with PostGIS and pgvector, reachable as any server is. */
export interface EmbeddedDatabase extends AsyncDisposable {
  readonly url: string
  /** The whole data folder as bytes, to start further databases from. */
  snapshot(): Promise<Uint8Array<ArrayBuffer>>
  /** Ends its clients and returns to the state right after the start, at another URL. @throws EMBEDDED_DATABASE when it cannot */
  rewind(): Promise<void>
  /** Lets the process end although this runs. */
  unref(): void
  close(): Promise<void>
}

const embeddedFailed = defineError(
  'EMBEDDED_DATABASE',
  'unavailable',
  (f: { reason: string }) => `The embedded database stopped: ${f.reason}`,
  () => ({
    hint: 'One process at a time has a data folder and a port: stop the other, which may be another Terrane, or take others. Several share a PostgreSQL server: set DATABASE_URL.',
  }),
)

/**
 * Starts the embedded database on a thread of its own. Its clients share one session in turns, each
 * with its own settings (see {@link Capabilities}); it takes seconds to start and about 1 GB of memory under load.
 *
 * @throws EMBEDDED_DATABASE when it cannot start
 */
export async function startEmbeddedDatabase(options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const settings: EmbeddedSettings = {
    dataDir: options.dataDir ?? null,
    sync: options.sync ?? 'soon',
    snapshot: options.snapshot ? shared(options.snapshot) : null,
    rewindable: options.rewindable ?? false,
    port: options.port ?? 0,
    limits: options.limits ?? {},
  }
  const worker = new Worker(new URL('./embedded.worker.ts', import.meta.url), { workerData: settings })
  let isKept = true
  const hear = async <T extends EmbeddedReply['type']>(type: T) => {
    worker.ref()
    try {
      return await next(worker, type)
    } finally {
      if (!isKept) worker.unref()
    }
  }
  const ask = <T extends EmbeddedReply['type']>(command: EmbeddedCommand, type: T) => {
    const reply = hear(type)
    worker.postMessage(command)
    return reply
  }
  let { port } = await hear('ready')
  let closing: Promise<void> | null = null
  const close = () => {
    closing ??= (async () => {
      await ask('close', 'closed')
      await worker.terminate()
    })()
    return closing
  }
  return {
    get url() {
      return `postgres://postgres@127.0.0.1:${port}/postgres`
    },
    snapshot: async () => (await ask('snapshot', 'snapshot')).bytes,
    rewind: async () => {
      port = (await ask('rewind', 'ready')).port
    },
    unref: () => {
      isKept = false
      worker.unref()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A copy that goes from thread to thread without further ones. */
function shared(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

/** The next reply of a type; rejects when the thread fails or ends first. */
function next<T extends EmbeddedReply['type']>(worker: Worker, type: T): Promise<Extract<EmbeddedReply, { type: T }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: EmbeddedReply) => {
      if (reply.type !== type) return
      stop()
      resolve(reply as Extract<EmbeddedReply, { type: T }>)
    }
    const onError = (cause: Error) => {
      stop()
      reject(embeddedFailed({ reason: cause.message }, { cause }))
    }
    const onExit = () => {
      stop()
      reject(embeddedFailed({ reason: 'its thread ended' }))
    }
    const stop = () => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onExit)
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.on('exit', onExit)
  })
}
