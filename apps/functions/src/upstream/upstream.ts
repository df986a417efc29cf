import { connect, type Socket } from 'node:net'
import { InvalidResponse, ResponseReader, type Expected, type ResponseEvents } from './response-reader.ts'

/**
 * Why an exchange failed. `not_listening` and `unreachable`: no process listens, or no connection could be made; in
 * both cases the request was not sent. `closed`: the peer closed the connection before the end of the answer.
 * `invalid`: the answer is not HTTP.
 */
export type UpstreamFailure = 'not_listening' | 'unreachable' | 'closed' | 'invalid'

/** The caller's side of one exchange. Either `onEnd` or `onFail` is called last, never both. */
export interface Exchange extends ResponseEvents {
  onFail(failure: UpstreamFailure, detail: string): void
  /** All bytes received so far were passed on, and the answer continues. Held-back output may be sent. */
  onPartial(): void
}

/** A body that is written in parts after the head is sent. `null` bytes: its length is not announced. */
export interface StreamedBody {
  readonly bytes: number | null
}

/** Bytes from the caller after a protocol switch; sent in chunks, as a body is. */
export const AFTER_SWITCH: StreamedBody = { bytes: 0 }

/** Bodies up to this size are sent with the head in one string, which takes one system call and no list of buffers. */
export const SMALL_BODY = 16 * 1024

/** An idle connection older than this is not used again: the peer may be about to close it. */
const IDLE_MS = 4000

/** Error codes when no process listens; other codes mean that it, or this host, is busy. */
const NO_LISTENER: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT'])

/** HTTP/1.1 connections to one unix socket, kept for the next request, never pipelined. */
export class Upstream {
  readonly path: string
  readonly #idle: Connection[] = []
  readonly #open = new Set<Connection>()
  #closed = false

  constructor(path: string) {
    this.path = path
  }

  /**
   * Sends one request and hands its answer to the exchange.
   *
   * @param head request line and headers, with the blank line; latin1
   * @param body the whole body in parts, one that will be written, or null
   * @param expected kind of answer that the request expects
   */
  send(
    head: string,
    body: readonly Buffer[] | StreamedBody | null,
    expected: Expected,
    exchange: Exchange,
  ): Connection {
    const connection = this.#take() ?? this.#dial()
    connection.send(head, body, expected, exchange)
    return connection
  }

  /** Closes connections that have been idle too long; to be called regularly. */
  sweep(now: number): void {
    while (this.#idle.length > 0 && now - this.#idle[0]!.idleSince > IDLE_MS) this.#idle.shift()!.destroy()
  }

  /** Closes all connections, because the peer has ended; running exchanges fail. */
  close(): void {
    this.#closed = true
    for (const connection of this.#open) connection.fail('closed', 'the peer is gone')
  }

  /** Called by a connection whose exchange has succeeded. */
  release(connection: Connection): void {
    if (this.#closed) connection.destroy()
    else this.#idle.push(connection)
  }

  /** Called by a closed connection. */
  forget(connection: Connection): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  #take(): Connection | undefined {
    this.sweep(performance.now())
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.usable) return connection
    }
    return undefined
  }

  #dial(): Connection {
    const connection = new Connection(this)
    this.#open.add(connection)
    return connection
  }
}

/** One socket, one exchange at a time. */
export class Connection {
  idleSince = 0
  readonly #pool: Upstream
  readonly #socket: Socket
  readonly #reader = new ResponseReader()
  #exchange: Exchange | null = null
  #connected = false
  /** Body of the request that is still being written; null when it is complete. */
  #streaming: StreamedBody | null = null

  constructor(pool: Upstream) {
    this.#pool = pool
    this.#socket = connect(pool.path)
    this.#socket.on('connect', () => (this.#connected = true))
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.fail(
        this.#connected ? 'closed' : NO_LISTENER.has(error.code) ? 'not_listening' : 'unreachable',
        error.message,
      ),
    )
    this.#socket.on('close', () => this.#gone())
  }

  get usable(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  send(head: string, body: readonly Buffer[] | StreamedBody | null, expected: Expected, exchange: Exchange): void {
    this.#exchange = exchange
    this.#reader.expect(this, expected)
    if (body === null) this.#socket.write(head, 'latin1')
    else if ('bytes' in body) {
      this.#streaming = body
      this.#socket.write(head, 'latin1')
    } else if (body.length === 1 && body[0]!.length <= SMALL_BODY)
      this.#socket.write(head + body[0]!.toString('latin1'), 'latin1')
    else {
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      for (const part of body) this.#socket.write(part)
      this.#socket.uncork()
    }
  }

  /** Writes a part of a streamed body; false when the caller must wait until `drained` is called. */
  write(part: Buffer, drained: () => void): boolean {
    if (!this.#streaming) return true
    const socket = this.#socket
    if (this.#streaming.bytes !== null) socket.write(part)
    else {
      socket.cork()
      socket.write(`${part.length.toString(16)}\r\n`, 'latin1')
      socket.write(part)
      socket.write('\r\n', 'latin1')
      socket.uncork()
    }
    if (!socket.writableNeedDrain) return true
    socket.once('drain', drained)
    return false
  }

  /** A streamed body is complete. */
  endBody(): void {
    if (this.#streaming?.bytes === null) this.#socket.write('0\r\n\r\n', 'latin1')
    this.#streaming = null
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the exchange without notifying its caller, and closes the connection. */
  destroy(): void {
    this.#exchange = null
    this.#socket.destroy()
  }

  /** Ends the exchange with a failure, and closes the connection. */
  fail(failure: UpstreamFailure, detail: string): void {
    const exchange = this.#exchange
    this.#exchange = null
    this.#socket.destroy()
    exchange?.onFail(failure, detail)
  }

  onHead(status: number, headers: string[]): void {
    this.#exchange?.onHead(status, headers)
  }

  onData(chunk: Buffer): void {
    this.#exchange?.onData(chunk)
  }

  onEnd(): void {
    const exchange = this.#exchange
    this.#exchange = null
    // The peer answered before the end of the request, so the connection cannot be used again.
    if (this.#reader.reusable && !this.#streaming && !this.#socket.destroyed) {
      this.#socket.resume()
      this.idleSince = performance.now()
      this.#pool.release(this)
    } else this.#socket.destroy()
    exchange?.onEnd()
  }

  #receive(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
      this.#exchange?.onPartial()
    } catch (error) {
      this.#refuse(error)
    }
  }

  #gone(): void {
    this.#pool.forget(this)
    if (!this.#exchange) return
    try {
      this.#reader.close()
    } catch (error) {
      this.fail('closed', (error as Error).message)
    }
  }

  #refuse(error: unknown): void {
    if (!(error instanceof InvalidResponse)) throw error
    this.fail('invalid', error.message)
  }
}
