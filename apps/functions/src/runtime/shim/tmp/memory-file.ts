import type { IFs } from 'memfs'

/** Options of `Deno.open`. */
export interface OpenOptions {
  readonly read?: boolean
  readonly write?: boolean
  readonly append?: boolean
  readonly truncate?: boolean
  readonly create?: boolean
  readonly createNew?: boolean
  readonly mode?: number
}

/** Members that memfs' stats have in both number formats. */
interface Facts {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
  readonly size: number | bigint
  readonly mode: number | bigint
  readonly nlink: number | bigint
  readonly ino: number | bigint
  readonly mtime: Date
  readonly atime: Date
  readonly birthtime: Date
  readonly ctime: Date
}

const CHUNK_BYTES = 64 * 1024

/** An open file in memory, with the members of `Deno.FsFile`. */
export class MemoryFile implements Disposable {
  readonly #volume: IFs
  readonly #fd: number
  readonly #appends: boolean
  #at = 0
  #closed = false

  static open(volume: IFs, path: string, options: OpenOptions): MemoryFile {
    const { constants } = volume
    const writes = options.write === true || options.append === true
    let flags = writes ? (options.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY
    if (options.create || options.createNew) flags |= constants.O_CREAT
    if (options.createNew) flags |= constants.O_EXCL
    if (options.truncate) flags |= constants.O_TRUNC
    return new MemoryFile(volume, volume.openSync(path, flags, options.mode), options.append === true)
  }

  private constructor(volume: IFs, fd: number, appends: boolean) {
    this.#volume = volume
    this.#fd = fd
    this.#appends = appends
  }

  /** @returns how many bytes were read; null at the end */
  readSync(into: Uint8Array): number | null {
    const read = this.#volume.readSync(this.#fd, into, 0, into.length, this.#at)
    this.#at += read
    return read === 0 && into.length > 0 ? null : read
  }

  writeSync(bytes: Uint8Array): number {
    if (this.#appends) this.#at = this.#volume.fstatSync(this.#fd).size
    const written = this.#volume.writeSync(this.#fd, bytes, 0, bytes.length, this.#at)
    this.#at += written
    return written
  }

  /** @param whence 0 from the start, 1 from here, 2 from the end */
  seekSync(offset: number | bigint, whence: 0 | 1 | 2): number {
    const from = whence === 0 ? 0 : whence === 1 ? this.#at : this.#volume.fstatSync(this.#fd).size
    this.#at = Math.max(0, from + Number(offset))
    return this.#at
  }

  truncateSync(length = 0): void {
    this.#volume.ftruncateSync(this.#fd, length)
  }

  statSync(): object {
    return infoOf(this.#volume.fstatSync(this.#fd))
  }

  read = async (into: Uint8Array) => this.readSync(into)
  write = async (bytes: Uint8Array) => this.writeSync(bytes)
  seek = async (offset: number | bigint, whence: 0 | 1 | 2) => this.seekSync(offset, whence)
  truncate = async (length?: number) => this.truncateSync(length)
  stat = async () => this.statSync()
  sync = async () => {}
  syncData = async () => {}
  syncSync(): void {}
  syncDataSync(): void {}

  isTerminal(): boolean {
    return false
  }

  get readable(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: (stream) => {
        const chunk = new Uint8Array(CHUNK_BYTES)
        const read = this.readSync(chunk)
        if (read !== null) return stream.enqueue(chunk.subarray(0, read))
        stream.close()
        this.#end()
      },
      cancel: () => this.#end(),
    })
  }

  get writable(): WritableStream<Uint8Array> {
    return new WritableStream({
      write: (chunk) => void this.writeSync(chunk),
      close: () => this.#end(),
      abort: () => this.#end(),
    })
  }

  close(): void {
    if (this.#closed) throw Object.assign(new Error('EBADF: the file is closed'), { code: 'EBADF' })
    this.#end()
  }

  [Symbol.dispose](): void {
    this.#end()
  }

  #end(): void {
    if (!this.#closed) this.#volume.closeSync(this.#fd)
    this.#closed = true
  }
}

/** The members of `Deno.FileInfo`. */
export function infoOf(facts: Facts): object {
  return {
    isFile: facts.isFile(),
    isDirectory: facts.isDirectory(),
    isSymlink: facts.isSymbolicLink(),
    size: Number(facts.size),
    mtime: facts.mtime,
    atime: facts.atime,
    birthtime: facts.birthtime,
    ctime: facts.ctime,
    mode: Number(facts.mode),
    nlink: Number(facts.nlink),
    dev: 0,
    ino: Number(facts.ino),
    uid: 65_534,
    gid: 65_534,
    rdev: 0,
    blksize: 4096,
    blocks: Math.ceil(Number(facts.size) / 512),
    isBlockDevice: false,
    isCharDevice: false,
    isFifo: false,
    isSocket: false,
  }
}
