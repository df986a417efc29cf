import type { IncomingMessage } from 'node:http'
import type { Policy } from '../../policy.ts'
import type { Connection, StreamedBody } from '../../upstream/upstream.ts'
import type { Bodies } from './bodies.ts'
import type { Problem } from '../problems.ts'
import { bodyTooLarge, bodyTooSlow, noRoom } from '../refusals.ts'

/** Called when a body cannot be accepted. `why` is logged when it is too late for an error answer. */
export type OnTrouble = (problem: Problem, why: 'body_bytes' | 'body_timeout') => void

/** The body of one request: buffered until it is complete, or streamed. */
export class RequestBody {
  /** Received so far. */
  bytes = 0
  readonly #bodies: Bodies
  readonly #request: IncomingMessage
  readonly #policy: Policy
  readonly #onTrouble: OnTrouble
  readonly #announced: number
  #parts: Buffer[] | null = null
  #stream: StreamedBody | null = null
  #connection: Connection | null = null
  #reserved = 0
  #isOver = false

  constructor(bodies: Bodies, request: IncomingMessage, policy: Policy, onTrouble: OnTrouble) {
    this.#bodies = bodies
    this.#request = request
    this.#policy = policy
    this.#onTrouble = onTrouble
    this.#announced = Number(request.headers['content-length'] ?? 0)
  }

  /** The content for the function, now or later. */
  get content(): readonly Buffer[] | StreamedBody | null {
    return this.#stream ?? this.#parts
  }

  /** The length announced to the function; null when it is not known. */
  get length(): number | null {
    return this.#stream ? this.#stream.bytes : this.bytes
  }

  /** True while the caller still sends a body that the function received only in part. */
  get isUnread(): boolean {
    return this.#stream !== null && !this.#request.complete
  }

  /** The caller did not send the body in time. */
  late(): void {
    this.#onTrouble(bodyTooSlow(), 'body_timeout')
  }

  /** Reads the body, or prepares to stream it. Calls `ready` once the function can receive the request. */
  receive(ready: () => void): void {
    if (this.#announced > this.#policy.body_bytes) return this.#onTrouble(bodyTooLarge(this.#policy), 'body_bytes')
    if (this.#policy.stream_body) {
      const isChunked = this.#request.headers['transfer-encoding'] !== undefined
      this.#stream = { bytes: isChunked ? null : this.#announced }
      return ready()
    }
    if (!this.#reserve(this.#announced)) return this.#onTrouble(noRoom(), 'body_bytes')
    this.#bodies.begin(this)
    this.#request.on('data', (chunk: Buffer) => this.#hold(chunk))
    this.#request.on('end', () => {
      if (this.#isOver) return
      this.#bodies.end(this)
      ready()
    })
  }

  /** Streams a body that is not buffered, no faster than the function reads it. */
  pass(connection: Connection): void {
    if (!this.#stream) return
    const isFirst = this.#connection === null
    this.#connection = connection
    this.#bodies.begin(this)
    if (!isFirst) {
      this.#request.resume()
      return
    }
    this.#request.on('data', (chunk: Buffer) => this.#hand(chunk))
    this.#request.on('end', () => {
      this.#bodies.end(this)
      if (!this.#isOver) this.#connection!.endBody()
    })
  }

  /** Prepares it for another instance; false when a part was already sent to the previous one. */
  rewind(): boolean {
    if (!this.#stream) return true
    if (this.bytes > 0) return false
    this.#bodies.end(this)
    this.#request.pause()
    return true
  }

  /** Releases its reserved memory. Bytes that still arrive are ignored. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#bodies.end(this)
    this.#bodies.release(this.#reserved)
    this.#parts = null
  }

  #hold(chunk: Buffer): void {
    if (this.#isOver) return
    this.bytes += chunk.length
    if (this.bytes > this.#policy.body_bytes) return this.#onTrouble(bodyTooLarge(this.#policy), 'body_bytes')
    // An announced body has its memory reserved. Otherwise memory is reserved as bytes arrive.
    if (this.bytes > this.#reserved && !this.#reserve(this.bytes - this.#reserved))
      return this.#onTrouble(noRoom(), 'body_bytes')
    if (this.#parts) this.#parts.push(chunk)
    else this.#parts = [chunk]
  }

  #hand(chunk: Buffer): void {
    if (this.#isOver) return
    this.bytes += chunk.length
    if (this.bytes > this.#policy.body_bytes) return this.#onTrouble(bodyTooLarge(this.#policy), 'body_bytes')
    if (this.#connection!.write(chunk, () => this.#resume())) return this.#bodies.begin(this)
    // From here on the function takes the time, and `timeout_ms` limits that.
    this.#bodies.end(this)
    this.#request.pause()
  }

  #resume(): void {
    if (this.#isOver) return
    this.#bodies.begin(this)
    this.#request.resume()
  }

  #reserve(bytes: number): boolean {
    if (!this.#bodies.reserve(bytes)) return false
    this.#reserved += bytes
    return true
  }
}
