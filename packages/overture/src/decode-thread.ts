import { Worker } from 'node:worker_threads'
import type { Aoi } from '@terrane/core'
import { parquetInvalid } from './errors.ts'
import type { DecodeRequest, DecodedRows } from './decode-group.ts'

/** Request to the thread: a row group, with the footer of its file. */
export interface GroupRequest extends Omit<DecodeRequest, 'metadata'> {
  /** Identifies the file. */
  readonly url: string
  readonly footer: Uint8Array<ArrayBuffer>
}

export type SentRequest = GroupRequest & { readonly id: number }

export type DecodeReply = { readonly id: number } & (
  | { readonly rows: readonly DecodedRows[] }
  | { readonly reason: string }
)

/**
 * Decodes row groups on a separate thread. Disposal ends the thread, also during work.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { readAoi } from '@terrane/core'
 * import { DecodeThread, readRuns } from '@terrane/overture'
 *
 * const ring = [[9, 47], [9.1, 47], [9.1, 47.1], [9, 47]]
 * const aoi = readAoi({ type: 'Polygon', coordinates: [ring] }, { maxVertices: 100, maxAreaKm2: 1000 })
 * await using thread = new DecodeThread(aoi)
 * for await (const { rows } of readRuns([], thread, { columns: [], multi: [] })) assert.ok(rows)
 * ```
 */
export class DecodeThread implements AsyncDisposable {
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly DecodedRows[]>>()
  #nextId = 0
  #failure: Error | null = null

  constructor(aoi: Aoi) {
    this.#worker = new Worker(new URL('./decode.worker.ts', import.meta.url), { workerData: aoi.polygons })
    this.#worker.on('message', (reply: DecodeReply) => {
      const asked = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if ('rows' in reply) asked?.resolve(reply.rows)
      else asked?.reject(new Error(reply.reason))
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the decoding thread ended')))
  }

  /** The rows of a group that touch the area; the caller loses its bytes to the thread. @throws PARQUET_INVALID */
  async decode(request: GroupRequest, fileName: string): Promise<readonly DecodedRows[]> {
    if (this.#failure) throw this.#failure
    const id = this.#nextId++
    const reply = Promise.withResolvers<readonly DecodedRows[]>()
    this.#worker.postMessage({ ...request, id } satisfies SentRequest, [request.bytes.buffer])
    this.#waiting.set(id, reply)
    try {
      return await reply.promise
    } catch (cause) {
      throw parquetInvalid({ file: fileName, reason: (cause as Error).message }, { cause })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
