import { Worker } from 'node:worker_threads'
import type { InterruptWords } from './shared-memory.ts'

/**
 * When commits are written to disk. `commit`: before they are acknowledged. `soon`: at most 0.2 s later, and before any
 * data that depend on them, so that a power failure may lose the last commits but never damages earlier ones.
 *
 * @example
 *   const sync: SyncMode = 'commit'
 */
export type SyncMode = 'commit' | 'soon'

/** Source of the engine's data. */
export interface EngineSource {
  /** Folder of the data; null for in memory. */
  readonly dataDir: string | null
  readonly sync: SyncMode
  readonly snapshot: Uint8Array<SharedArrayBuffer> | null
  /** Saves the state after the start for {@link Engine.rewind}. */
  readonly rewindable: boolean
}

/** Start parameters of the engine's thread. */
export interface EngineSettings extends EngineSource {
  /** Bytes of answers that the client has not taken yet. */
  readonly flow: Int32Array<SharedArrayBuffer>
}

export type EngineCommand =
  | { readonly type: 'run'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'snapshot' }
  | { readonly type: 'rewind' }
  | { readonly type: 'close' }

export type EngineReply =
  | { readonly type: 'ready'; readonly words: ServerWords }
  | { readonly type: 'data'; readonly data: Uint8Array<ArrayBuffer> }
  | { readonly type: 'done'; readonly data: Uint8Array<ArrayBuffer>; readonly inTransaction: boolean }
  | { readonly type: 'snapshot'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'rewound'; readonly done: boolean }
  | { readonly type: 'closed' }
  /** The server has crashed. */
  | { readonly type: 'trapped'; readonly reason: string }

/** Words of the server's memory, by their byte addresses. */
export interface ServerWords extends InterruptWords {
  readonly statementTimeout: number
}

/** Takes a part of an answer, and calls `taken` when there is room for more. */
export type OnData = (data: Buffer, taken: () => void) => void

interface Waiting {
  readonly type: EngineReply['type']
  readonly resolve: (reply: EngineReply) => void
  readonly reject: (error: Error) => void
}

/** PGlite on a thread of its own, one unit of messages at a time, which shared memory lets this thread interrupt. */
export class Engine {
  readonly #worker: Worker
  readonly #flow: Int32Array<SharedArrayBuffer>
  readonly #waiting = new Set<Waiting>()
  #at: ServerWords | null = null
  #words = new Int32Array(new SharedArrayBuffer(4))
  #onData: OnData = ignore
  /** Error with which the engine has ended; null while it runs. */
  #ended: Error | null = null

  private constructor(source: EngineSource) {
    this.#flow = new Int32Array(new SharedArrayBuffer(4))
    const workerData: EngineSettings = { ...source, flow: this.#flow }
    this.#worker = new Worker(new URL('./engine.worker.ts', import.meta.url), { workerData })
    this.#worker.on('message', (reply: EngineReply) => this.#hear(reply))
    this.#worker.on('error', (error: Error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('its thread ended')))
  }

  static async start(source: EngineSource): Promise<Engine> {
    const engine = new Engine(source)
    const { words } = await engine.#hearing('ready')
    engine.#at = words
    engine.#words = new Int32Array(words.memory)
    return engine
  }

  /** Runs a unit. Resolves to whether a transaction is open afterwards. Errors of SQL are part of the answer. @throws when the engine ends */
  async run(bytes: Uint8Array, onData: OnData): Promise<boolean> {
    this.#onData = onData
    const own = Uint8Array.from(bytes)
    return (await this.#ask({ type: 'run', bytes: own }, 'done', [own.buffer])).inTransaction
  }

  /** Cancels the running unit at the server's next check for interrupts. No effect between units. */
  interrupt(): void {
    if (!this.#at) return
    Atomics.store(this.#words, this.#at.queryCancelPending >> 2, 1)
    Atomics.store(this.#words, this.#at.interruptPending >> 2, 1)
  }

  /** `statement_timeout` of the running statement, in milliseconds; 0 for none. */
  get statementTimeoutMs(): number {
    return this.#at ? Atomics.load(this.#words, this.#at.statementTimeout >> 2) : 0
  }

  async snapshot(): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.#ask({ type: 'snapshot' }, 'snapshot')).bytes
  }

  /** Returns to the state right after the start, in memory and files. False when it cannot; the engine is unusable then. */
  async rewind(): Promise<boolean> {
    return (await this.#ask({ type: 'rewind' }, 'rewound')).done
  }

  async close(): Promise<void> {
    await this.#ask({ type: 'close' }, 'closed')
    await this.#worker.terminate()
  }

  /** Ends the engine at once, as a crash does. Commits are in its folder. */
  async kill(): Promise<void> {
    await this.#worker.terminate()
  }

  #ask<T extends EngineReply['type']>(command: EngineCommand, type: T, transfer: ArrayBuffer[] = []) {
    const answer = this.#hearing(type)
    if (this.#ended) this.#fail(this.#ended)
    else this.#worker.postMessage(command, transfer)
    return answer
  }

  #hearing<T extends EngineReply['type']>(type: T): Promise<Extract<EngineReply, { type: T }>> {
    return new Promise((resolve, reject) => {
      this.#waiting.add({ type, resolve: (reply) => resolve(reply as Extract<EngineReply, { type: T }>), reject })
    })
  }

  #hear(reply: EngineReply): void {
    if (reply.type === 'data') {
      const { length } = reply.data
      this.#onData(Buffer.from(reply.data.buffer), () => this.#taken(length))
      return
    }
    if (reply.type === 'trapped') return this.#fail(new Error(reply.reason))
    if (reply.type === 'done' && reply.data.length > 0) this.#onData(Buffer.from(reply.data.buffer), ignore)
    for (const waiting of this.#waiting) {
      if (waiting.type !== reply.type) continue
      this.#waiting.delete(waiting)
      waiting.resolve(reply)
    }
  }

  #fail(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting.clear()
  }

  #taken(bytes: number): void {
    Atomics.sub(this.#flow, 0, bytes)
    Atomics.notify(this.#flow, 0)
  }
}

function ignore(): void {}
