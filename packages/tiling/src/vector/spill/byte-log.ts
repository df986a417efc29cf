import type { OpenScratch, ScratchFile } from './scratch.ts'

const READ_SIZE = 1 << 20

/** Bytes written once and read once, in order: in memory up to a limit, beyond it in a temporary file. */
export class ByteLog {
  length = 0
  readonly #openScratch: OpenScratch
  readonly #limit: number
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #file: ScratchFile | null = null
  #fileEnd = 0

  constructor(openScratch: OpenScratch, limitBytes: number) {
    this.#openScratch = openScratch
    this.#limit = limitBytes
  }

  append(bytes: Uint8Array): void {
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    this.length += bytes.length
    if (this.#pendingBytes > this.#limit) this.#flush()
  }

  /** All bytes, in pieces. */
  *read(): Generator<Uint8Array> {
    for (let at = 0; at < this.#fileEnd; at += READ_SIZE) {
      const piece = new Uint8Array(Math.min(READ_SIZE, this.#fileEnd - at))
      this.#file!.read(piece, at)
      yield piece
    }
    yield* this.#pending
  }

  [Symbol.dispose](): void {
    this.#pending = []
    this.#file?.close()
    this.#file = null
  }

  #flush(): void {
    this.#file ??= this.#openScratch()
    for (const bytes of this.#pending) {
      this.#file.write(bytes, this.#fileEnd)
      this.#fileEnd += bytes.length
    }
    this.#pending = []
    this.#pendingBytes = 0
  }
}
