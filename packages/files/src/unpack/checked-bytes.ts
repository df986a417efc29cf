import { Transform } from 'node:stream'
import { crc32 } from 'node:zlib'
import { zipRefused } from '../errors.ts'

/** Passes bytes on, and refuses them if their number or checksum differs from the directory's. */
export class CheckedBytes extends Transform {
  readonly #name: string
  readonly #promised: number
  readonly #crc: number
  #size = 0
  #sum = 0

  constructor(name: string, size: number, crc: number) {
    super()
    this.#name = name
    this.#promised = size
    this.#crc = crc
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.#size += chunk.length
    this.#sum = crc32(chunk, this.#sum)
    if (this.#size > this.#promised) done(zipRefused({ reason: `${this.#name} is larger than it claims` }))
    else done(null, chunk)
  }

  override _flush(done: (error: Error | null) => void): void {
    const isWhole = this.#size === this.#promised && this.#sum === this.#crc
    done(isWhole ? null : zipRefused({ reason: `${this.#name} is damaged` }))
  }
}
