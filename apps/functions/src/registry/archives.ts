import type { ObjectStore } from '@terrane/storage'
import { pack, sha256, unpack, type Archive } from '../build/archive.ts'
import { archiveInvalid } from '../errors.ts'

const BUCKET = 'functions'

/** The code of deployed versions in object storage, addressed by content. Existing objects are never overwritten. */
export class Archives {
  readonly #store: ObjectStore
  readonly #folderOf: (project: string) => string
  readonly #onLeft: (keys: readonly string[], error: unknown) => void

  /**
   * @param folderOf prefix of a project's code
   * @param onLeft called for an archive that no version needs and that could not be removed
   */
  constructor(
    store: ObjectStore,
    folderOf: (project: string) => string,
    onLeft: (keys: readonly string[], error: unknown) => void,
  ) {
    this.#store = store
    this.#folderOf = folderOf
    this.#onLeft = onLeft
  }

  /** Stores an archive unless it exists. */
  async put(project: string, archive: Archive): Promise<{ digest: string; bytes: number }> {
    const packed = pack(archive)
    const digest = sha256(packed)
    if (!(await this.#store.getBucket(BUCKET)))
      await this.#store
        .createBucket(BUCKET, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
        .catch(ignore)
    const key = `${this.#folderOf(project)}/${digest}`
    if (!(await this.#store.head(BUCKET, key))) await this.#store.put(BUCKET, key, once(packed), { upsert: true })
    return { digest, bytes: packed.length }
  }

  /** @throws FUNCTION_ARCHIVE_INVALID when the bytes are not the ones that were stored */
  async get(project: string, digest: string): Promise<Archive> {
    const { body } = await this.#store.get(BUCKET, `${this.#folderOf(project)}/${digest}`)
    const packed = Buffer.concat(await Array.fromAsync(body))
    if (sha256(packed) !== digest) throw archiveInvalid({ reason: 'its digest differs' })
    return unpack(packed)
  }

  /** Removes archives that no version needs. An archive that the storage fails to remove stays, and is reported. */
  async remove(project: string, digests: readonly string[]): Promise<void> {
    const keys = digests.map((digest) => `${this.#folderOf(project)}/${digest}`)
    if (keys.length === 0) return
    try {
      await this.#store.remove(BUCKET, keys)
    } catch (error) {
      this.#onLeft(keys, error)
    }
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Ignores an error: another host may have created the bucket; if not, the upload reports the problem. */
function ignore(): void {}
