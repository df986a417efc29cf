import type { IncomingMessage } from 'node:http'
import type { Policy } from '../../policy.ts'
import type { Connection, StreamedBody } from '../../upstream/upstream.ts'
import type { Bodies } from './bodies.ts'
import type { Problem } from '../problems.ts'
import { bodyTooLarge, bodyTooSlow, noRoom } from '../refusals.ts'

/** Told when a body cannot be taken; `why` is what is logged once it is too late to say so. */
export type OnTrouble = (problem: Problem, why: 'body_bytes' | 'body_timeout') => void

/** The body of one request: held until it is whole, or handed on as it comes. */
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

  /** What goes to the function, now or later. */
  get content(): readonly Buffer[] | StreamedBody | null {
    return this.#stream ?? this.#parts
  }

  /** What the function is told of its length; null when it is not known. */
  get length(): number | null {
    return this.#stream ? this.#stream.bytes : this.bytes
  }

  /** Whether the caller still sends what the function had in part. */
  get isUnread(): boolean {
    return this.#stream !== null && !this.#request.complete
  }

  /** The caller has not sent it in time. */
  late(): void {
    this.#onTrouble(bodyTooSlow(), 'body_timeout')
  }

  /** Reads it, or prepares to hand it on; `ready` once the function can have the request. */
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

  /** Hands it on, where it is not held, no faster than the function reads it. */
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

  /** Waits for another instance; false when a part of it is gone with the one before. */
  rewind(): boolean {
    if (!this.#stream) return true
    if (this.bytes > 0) return false
    this.#bodies.end(this)
    this.#request.pause()
    return true
  }

  /** Gives its place back; what still comes is nobody's. */
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
    // What was announced has its place; what was not takes it as it comes.
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
    // It is the function that takes its time now, and `timeout_ms` bounds that.
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
