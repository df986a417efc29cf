import type { Writable } from 'node:stream'
import { SMALL_BODY, type Connection } from '../../upstream/upstream.ts'

/** Writes a function's answer to its caller, no faster than the caller reads it. */
export class AnswerWriter {
  bytes = 0
  readonly #response: Writable
  /** The first part, held back until it is known whether more follows: a short answer then takes one system call. */
  #first: Buffer | null = null

  /** @param response the answer, or the connection itself once it is a WebSocket */
  constructor(response: Writable) {
    this.#response = response
  }

  write(chunk: Buffer, connection: Connection): void {
    const isFirst = this.bytes === 0
    this.bytes += chunk.length
    if (isFirst && chunk.length <= SMALL_BODY) {
      this.#first = chunk
      return
    }
    this.flush(connection)
    this.#write(chunk, connection)
  }

  /** Sends held-back bytes, because more will follow. */
  flush(connection: Connection): void {
    const first = this.#first
    this.#first = null
    if (first) this.#write(first, connection)
  }

  end(): void {
    if (this.#first) this.#response.end(this.#first.toString('latin1'), 'latin1')
    else this.#response.end()
  }

  #write(chunk: Buffer, connection: Connection): void {
    if (this.#response.write(chunk)) return
    connection.pause()
    this.#response.once('drain', () => connection.resume())
  }
}
