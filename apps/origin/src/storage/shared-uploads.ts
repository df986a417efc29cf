import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { DataStore, ERRORS, Upload } from '@tus/server'
import { TerraneError } from '@terrane/core'
import type { ObjectStore } from '@terrane/storage'

/** Size of a stored part, which a request to S3 holds in memory. A broken connection leaves a shorter one. */
const PART_BYTES = 4 << 20
const BUCKET = 'resumable'

/** Facts of an upload, as JSON; unknown ones are absent. */
interface Facts {
  readonly size?: number
  readonly metadata?: Record<string, string | null>
  readonly creation_date?: string
}

/**
 * Unfinished uploads in a storage that all origins share, so that any origin can continue one. Each upload is a folder
 * with its facts and its parts, which are named by their offset. Of two requests for the same offset only one is
 * stored.
 */
export class SharedUploads extends DataStore {
  readonly #store: ObjectStore
  readonly #lifetimeMs: number

  /** @param store for uploads alone */
  constructor(store: ObjectStore, lifetimeMs: number) {
    super()
    this.#store = store
    this.#lifetimeMs = lifetimeMs
    this.extensions = ['creation', 'creation-with-upload', 'creation-defer-length', 'termination', 'expiration']
  }

  override async create(upload: Upload): Promise<Upload> {
    if (!(await this.#store.getBucket(BUCKET))) {
      const rules = { public: false, fileSizeLimit: null, allowedMimeTypes: null }
      await this.#store.createBucket(BUCKET, rules).catch(unless('BUCKET_EXISTS'))
    }
    await this.#writeFacts(upload.id, upload)
    return upload
  }

  override async getUpload(id: string): Promise<Upload> {
    const facts = await this.facts(id)
    const parts = await this.#parts(id)
    const last = parts.at(-1)
    const offset = last ? last.offset + last.size : 0
    return new Upload({ id, offset, ...facts })
  }

  /** Stores the bytes that arrive, also when the stream breaks off. Returns the offset after them. */
  override async write(stream: Readable, id: string, offset: number): Promise<number> {
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    let broken: { readonly error: unknown } | null = null
    const next = async (): Promise<Uint8Array | null> => {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        broken = { error }
        return { done: true as const, value: null }
      })
      return done === true ? null : value
    }
    let at = offset
    try {
      for (let first = await next(); first !== null; first = await next())
        at += await this.#writePart(id, at, first, next)
    } finally {
      // The rest of a refused body is not read.
      await chunks.return?.()
    }
    if (broken !== null) throw (broken as { readonly error: unknown }).error
    return at
  }

  /** Streams a part into the storage, from a first chunk until `next` returns null. Returns its bytes. */
  async #writePart(id: string, at: number, first: Uint8Array, next: () => Promise<Uint8Array | null>): Promise<number> {
    let bytes = 0
    async function* part() {
      for (let chunk: Uint8Array | null = first; chunk !== null; chunk = bytes < PART_BYTES ? await next() : null) {
        bytes += chunk.byteLength
        yield chunk
      }
    }
    await this.#store.put(BUCKET, partKey(id, at), part()).catch((error: unknown) => {
      // Another request has written here meanwhile; the client asks for the current offset and continues there.
      if (hasCode(error, 'OBJECT_EXISTS')) throw ERRORS.INVALID_OFFSET
      throw error
    })
    return bytes
  }

  /**
   * The bytes of a whole upload.
   *
   * @throws FILE_NOT_FOUND of tus where parts are missing: another origin has made the object of it, and removes them
   */
  async *read(id: string, size: number): AsyncGenerator<Uint8Array> {
    const parts = await this.#parts(id)
    if (parts.reduce((sum, part) => sum + part.size, 0) !== size) throw ERRORS.FILE_NOT_FOUND
    for (const { key } of parts) yield* (await this.#store.get(BUCKET, key)).body
  }

  override async declareUploadLength(id: string, size: number): Promise<void> {
    const { metadata, creation_date } = await this.facts(id)
    await this.#writeFacts(id, { size, metadata, creation_date })
  }

  override async remove(id: string): Promise<void> {
    await this.facts(id)
    // Removing the facts first makes the upload invisible for every origin.
    await this.#store.remove(BUCKET, [factsKey(id)])
    await this.#store.remove(BUCKET, (await this.#parts(id)).map(({ key }) => key)) // prettier-ignore
  }

  /** Removes uploads without a write during their lifetime. Returns how many. */
  override async deleteExpired(): Promise<number> {
    if (!(await this.#store.getBucket(BUCKET))) return 0
    let deleted = 0
    for await (const found of this.#store.listFolder(BUCKET, '')) {
      if (!('folder' in found)) continue
      const objects = await Array.fromAsync(this.#store.list(BUCKET, found.folder))
      const newest = Math.max(...objects.map(({ updatedAt }) => updatedAt.getTime()))
      if (newest > Date.now() - this.#lifetimeMs) continue
      await this.#store.remove(BUCKET, objects.map(({ key }) => key)) // prettier-ignore
      deleted++
    }
    return deleted
  }

  override getExpiration(): number {
    return this.#lifetimeMs
  }

  /** The parts from the start up to the first gap, in order. */
  async #parts(id: string): Promise<{ key: string; offset: number; size: number }[]> {
    const parts: { key: string; offset: number; size: number }[] = []
    let end = 0
    for await (const { key, size } of this.#store.list(BUCKET, `${id}/parts/`)) {
      const offset = Number(key.slice(key.lastIndexOf('/') + 1))
      if (offset !== end) break
      parts.push({ key, offset, size })
      end = offset + size
    }
    return parts
  }

  /** Size and metadata of an upload, without reading its parts. @throws FILE_NOT_FOUND of tus */
  async facts(id: string): Promise<Facts> {
    try {
      const { body } = await this.#store.get(BUCKET, factsKey(id))
      return JSON.parse(await text(body)) as Facts
    } catch (error) {
      if (hasCode(error, 'OBJECT_NOT_FOUND') || hasCode(error, 'BUCKET_NOT_FOUND')) throw ERRORS.FILE_NOT_FOUND
      throw error
    }
  }

  async #writeFacts(
    id: string,
    { size, metadata, creation_date }: Pick<Upload, 'size' | 'metadata' | 'creation_date'>,
  ): Promise<void> {
    const facts = Buffer.from(JSON.stringify({ size, metadata, creation_date }))
    await this.#store.put(BUCKET, factsKey(id), once([facts]), { upsert: true, size: facts.byteLength })
  }
}

/** Sixteen digits sort as numbers do, up to the largest whole number of JavaScript. */
function partKey(id: string, offset: number): string {
  return `${id}/parts/${String(offset).padStart(16, '0')}`
}

function factsKey(id: string): string {
  return `${id}/upload.json`
}

async function* once(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof TerraneError && error.code === code
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!hasCode(error, code)) throw error
  }
}
