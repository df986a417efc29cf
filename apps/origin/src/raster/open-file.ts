import { forbidden, unauthorized, type Principal } from '@terrane/auth'
import { readBytes } from '@terrane/service'
import type { Bucket } from '@terrane/storage'
import type { RasterFile } from '@terrane/tiling/raster'
import type { FileSource } from '@terrane/tiling/scene'
import type { FastifyRequest } from 'fastify'
import { existing } from '../storage/access.ts'
import { sourceTooLong } from './errors.ts'
import { localFile, remoteFile, storedFile } from './files.ts'
import type { RasterSources } from './sources.ts'

/** A file that the caller may read; `isOpen` when anyone may cache its pictures. */
export interface OpenFile {
  readonly file: RasterFile
  readonly isOpen: boolean
  readonly source: FileSource
}

/** Opens files with the caller's rights: those of public buckets for everyone, others for the service role. */
export class FileOpener {
  readonly #sources: RasterSources
  readonly #request: FastifyRequest
  readonly #signal: AbortSignal
  #principal: Promise<Principal | null> | null = null
  readonly #buckets = new Map<string, Promise<Bucket | null>>()

  constructor(sources: RasterSources, request: FastifyRequest, signal: AbortSignal) {
    this.#sources = sources
    this.#request = request
    this.#signal = signal
  }

  /**
   * Null for a missing file, or one whose existence the caller may not know.
   *
   * @throws UNAUTHORIZED, FORBIDDEN for a file outside of storage, and what the guarded fetch throws
   */
  async open(source: FileSource): Promise<OpenFile | null> {
    if (source.kind === 'storage') return this.#stored(source)
    if (!(await this.#isService())) throw forbidden({ need: 'the service role key, for a source outside of storage' })
    const { dataRoots, fetch } = this.#sources
    const file =
      source.kind === 'url'
        ? await remoteFile(fetch, source.url, this.#signal)
        : await localFile(dataRoots, source.path)
    return file && { file, isOpen: false, source }
  }

  /** Opens a file by the name that a table stores: a URL, or a path in storage, or else a path below a data folder. */
  async openNamed(name: string): Promise<OpenFile | null> {
    if (/^https?:\/\//i.test(name)) return this.open({ kind: 'url', url: name })
    const [bucket = '', ...path] = name.split('/')
    if (path.length > 0) {
      const stored = await this.#stored({ kind: 'storage', bucket, path: path.join('/') })
      if (stored) return stored
      // The path may also be one below a data folder, which only the service role may read.
      if (!(await this.#isService())) return null
    }
    return this.open({ kind: 'path', path: name })
  }

  /** The text of a small file. @throws SOURCE_TOO_LONG */
  async text({ file }: OpenFile, limit: number): Promise<string> {
    if (file.bytes > limit) throw sourceTooLong({ bytes: file.bytes, limit })
    const [bytes] = await file.read([{ offset: 0, length: file.bytes }], this.#signal)
    return Buffer.from(bytes as Uint8Array).toString('utf8')
  }

  /** The text at a URL, without range requests; only for the service role. */
  async textAt(url: string, limit: number): Promise<string> {
    if (!(await this.#isService())) throw forbidden({ need: 'the service role key, for a source outside of storage' })
    const answer = await this.#sources.fetch(url, { signal: this.#signal, maxBytes: limit, timeoutMs: 30_000 })
    return Buffer.from(await readBytes(answer.body, limit)).toString('utf8')
  }

  async #stored(source: Extract<FileSource, { kind: 'storage' }>): Promise<OpenFile | null> {
    const { storage } = this.#sources
    const known = this.#buckets.get(source.bucket) ?? existing(storage, source.bucket)
    this.#buckets.set(source.bucket, known)
    const bucket = await known
    if (!bucket?.public) {
      const principal = await this.#identify()
      if (!principal) throw unauthorized({ reason: 'missing' })
      if (!bucket || principal.role !== 'service_role') return null
    }
    const info = await storage.store.head(source.bucket, source.path)
    return info && { file: storedFile(storage.store, info), isOpen: bucket.public, source }
  }

  /** The caller is identified once, though a scene has many files. */
  #identify(): Promise<Principal | null> {
    return (this.#principal ??= this.#sources.storage.identify(this.#request))
  }

  async #isService(): Promise<boolean> {
    const principal = await this.#identify()
    if (!principal) throw unauthorized({ reason: 'missing' })
    return principal.role === 'service_role'
  }
}
