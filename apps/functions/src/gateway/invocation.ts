import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Functions, LiveFunction } from '../functions.ts'
import type { Exit, Instance } from '../pool/instance.ts'
import type { Call } from '../pool/presence.ts'
import type { Refusal, Waiter } from '../pool/pool.ts'
import {
  SMALL_BODY,
  type Connection,
  type Exchange,
  type StreamedBody,
  type UpstreamFailure,
} from '../upstream/upstream.ts'
import { discardRest, hasBody } from '@terrane/service'
import { answerPreflight, answerProblem } from './answer.ts'
import { isAllowed, type Authenticate, type Caller } from './caller.ts'
import { corsHeaders, isPreflight } from './cors.ts'
import { DEPTH_HEADER, MAX_DEPTH, type Depths } from './depth.ts'
import { announcedLength, requestHead, returnedHeaders } from './headers.ts'
import { statusOf, type Problem } from './problems.ts'
import * as refusals from './refusals.ts'
import type { Target } from './target.ts'

/** How long an answer waits for the news of its instance's end, which says why the connection broke. */
const EXIT_NEWS_MS = 1000

/** What an invocation has of the gateway that it came through. */
export interface Desk {
  readonly functions: Functions
  readonly authenticate: Authenticate
  readonly depths: Depths
  readonly log: Record<'warn' | 'error', (fields: object, message: string) => void>
  readonly resourceLimitStatus: number
  readonly ownOrigin: boolean
  readonly trusts: (address: string) => boolean
  reserve(bytes: number): boolean
  release(bytes: number): void
  beginBody(invocation: Invocation): void
  endBody(invocation: Invocation): void
  finished(invocation: Invocation): void
  labels(invocation: Invocation): object
}

/** One request to one function, from its head to the last byte of its answer. */
export class Invocation implements Exchange, Waiter, Call {
  readonly id: string
  readonly requestId: string
  readonly startedAt: number
  deadline = 0
  caller: Caller | null = null
  depth = 0
  status = 0
  bytesIn = 0
  bytesOut = 0
  private readonly gateway: Desk
  private readonly request: IncomingMessage
  private readonly response: ServerResponse
  private readonly target: Target
  private live: LiveFunction
  /** What came of the body while it is held, in parts. */
  private parts: Buffer[] | null = null
  /** A body that is handed on as it comes. */
  private stream: StreamedBody | null = null
  /** Bytes of the host's place for bodies that this one has. */
  private reserved = 0
  private instance: Instance | null = null
  private connection: Connection | null = null
  private leaveQueue: (() => void) | null = null
  /** The first part of the answer, held until it is known whether it is all: then one system call sends it all. */
  private first: Buffer | null = null
  private failure = ''
  private held = false
  private retried = false
  private done = false

  constructor(
    gateway: Desk,
    live: LiveFunction,
    target: Target,
    request: IncomingMessage,
    response: ServerResponse,
    ids: { readonly id: string; readonly requestId: string },
  ) {
    this.gateway = gateway
    this.live = live
    this.target = target
    this.request = request
    this.response = response
    this.id = ids.id
    this.requestId = ids.requestId
    this.startedAt = performance.now()
  }

  get functionVersion() {
    return this.live.version
  }

  /** Why the answer is the host's and not the function's; empty when it is the function's. */
  get problem(): string {
    return this.failure
  }

  begin(): void {
    const { policy } = this.live.version
    const { method, headers } = this.request
    this.deadline = this.startedAt + policy.timeout_ms
    if (isPreflight(method!, headers, policy)) return this.preflight()
    if (!(policy.methods as readonly string[]).includes(method!))
      return this.refuse(refusals.methodRefused(method!, policy))
    this.response.on('close', () => this.callerGone())
    let caller
    try {
      caller = this.gateway.authenticate(this.live.version.project, this.request)
    } catch (error) {
      return this.unauthenticated(error)
    }
    if (!(caller instanceof Promise)) return this.admit(caller)
    caller.then(
      (known) => this.admit(known),
      (error: unknown) => this.unauthenticated(error),
    )
  }

  // Called by the gateway's sweep.

  /** The caller has not sent the whole body in time. */
  bodyTimedOut(): void {
    if (this.response.headersSent) return this.cut('body_timeout')
    this.connection?.destroy()
    this.leave(true)
    this.refuse(refusals.bodyTooSlow())
  }

  // The pool's answer.

  granted(instance: Instance): void {
    this.leaveQueue = null
    this.instance = instance
    instance.begin(this)
    const { parts, stream, request, requestId, target } = this
    const ids = { requestId, call: this.id, claims: this.caller!.claims }
    const bytes = stream ? stream.bytes : this.bytesIn
    const isTrusted = this.gateway.trusts(request.socket.remoteAddress ?? '')
    const head = requestHead(request, target.name + target.rest, bytes, ids, isTrusted)
    this.connection = instance.upstream.send(head, stream ?? parts, request.method === 'HEAD', this)
    if (stream) this.passBody()
  }

  refused(refusal: Refusal): void {
    this.leaveQueue = null
    this.refuse(refusals.noInstance(refusal))
  }

  // The function's answer.

  onHead(status: number, received: string[]): void {
    const { version } = this.live
    const { headers, failure, held } = returnedHeaders(received, version.policy.cors.length > 0, this.gateway.ownOrigin)
    this.held = held
    if (failure !== '') return this.drop(failure === 'invalid' ? refusals.invalidResponse() : refusals.failed())
    if (announcedLength(received) > version.policy.response_bytes)
      return this.drop(refusals.invalidResponse('The answer of the function is larger than it may be'))
    this.status = status
    headers.push(...corsHeaders(version.policy, this.request.headers.origin))
    headers.push('x-request-id', this.requestId, 'x-function-version', String(version.version))
    try {
      this.response.writeHead(status, headers)
    } catch {
      this.drop(refusals.invalidResponse())
    }
  }

  onData(chunk: Buffer): void {
    if (this.done) return
    this.bytesOut += chunk.length
    if (this.bytesOut > this.live.version.policy.response_bytes) return this.cut('response_bytes')
    if (this.bytesOut === chunk.length && chunk.length <= SMALL_BODY) this.first = chunk
    else {
      this.onPartial()
      this.write(chunk)
    }
  }

  onPartial(): void {
    const { first } = this
    this.first = null
    if (first) this.write(first)
  }

  onEnd(): void {
    if (this.done) return
    this.leave(true)
    const { request } = this
    if (this.stream && !request.complete) discardRest(request)
    if (this.first) this.response.end(this.first.toString('latin1'), 'latin1')
    else this.response.end()
    this.finish()
  }

  onFail(failure: UpstreamFailure, detail: string): void {
    const instance = this.instance!
    this.connection = null
    this.leave(false)
    if (this.done) return
    if (failure === 'unreachable' && !this.retried && !(this.stream && this.bytesIn > 0)) {
      // Not a byte was sent, and the body is here: another instance may take it.
      this.retried = true
      return this.acquire()
    }
    if (failure === 'invalid') {
      this.gateway.log.warn({ ...this.gateway.labels(this), detail }, 'invalid response')
      return this.response.headersSent ? this.cut('invalid_response') : this.refuse(refusals.invalidResponse())
    }
    if (instance.doom !== null) return this.broken(instance.doom)
    void newsOf(instance).then((exit) => this.broken(exit?.reason ?? null))
  }

  /** The watchdog: the time is up. */
  expire(): void {
    this.connection?.destroy()
    this.leave(false)
    if (this.response.headersSent) return this.cut('timeout')
    this.refuse(refusals.timedOut(this.live.version.policy))
  }

  private write(chunk: Buffer): void {
    if (this.response.write(chunk)) return
    this.connection!.pause()
    this.response.once('drain', () => this.connection?.resume())
  }

  private admit(caller: Caller): void {
    if (this.done) return
    const { policy } = this.live.version
    this.caller = caller
    if (!isAllowed(caller, policy.auth)) return this.refuse(refusals.forbidden(caller, policy.auth))
    this.depth = this.gateway.depths.read(this.request.headers[DEPTH_HEADER])
    if (this.depth > MAX_DEPTH) return this.refuse(refusals.tooDeep())
    const announced = Number(this.request.headers['content-length'] ?? 0)
    if (announced > policy.body_bytes) return this.refuse(refusals.bodyTooLarge(policy))
    if (!hasBody(this.request)) return this.acquire()
    if (policy.stream_body) {
      const isChunked = this.request.headers['transfer-encoding'] !== undefined
      this.stream = { bytes: isChunked ? null : announced }
      return this.acquire()
    }
    if (!this.reserve(announced)) return this.refuse(refusals.noRoom())
    this.holdBody()
  }

  /** Reads the whole body before anything else. */
  private holdBody(): void {
    const { policy } = this.live.version
    this.gateway.beginBody(this)
    this.request.on('data', (chunk: Buffer) => {
      if (this.done) return
      this.bytesIn += chunk.length
      if (this.bytesIn > policy.body_bytes) return this.refuse(refusals.bodyTooLarge(policy))
      // What was announced has its place; what was not takes it as it comes.
      if (this.bytesIn > this.reserved && !this.reserve(this.bytesIn - this.reserved))
        return this.refuse(refusals.noRoom())
      if (this.parts) this.parts.push(chunk)
      else this.parts = [chunk]
    })
    this.request.on('end', () => {
      if (this.done) return
      this.gateway.endBody(this)
      this.acquire()
    })
  }

  /** Hands the body on as it comes, no faster than the function reads it. */
  private passBody(): void {
    const { request } = this
    const { policy } = this.live.version
    this.gateway.beginBody(this)
    const resume = () => {
      this.gateway.beginBody(this)
      request.resume()
    }
    request.on('data', (chunk: Buffer) => {
      if (!this.connection) return
      this.bytesIn += chunk.length
      if (this.bytesIn > policy.body_bytes) return this.tooMuch(refusals.bodyTooLarge(policy))
      if (this.connection.write(chunk, resume)) return this.gateway.beginBody(this)
      // It is the function that takes its time now, and `timeout_ms` bounds that.
      this.gateway.endBody(this)
      request.pause()
    })
    request.on('end', () => {
      this.gateway.endBody(this)
      this.connection?.endBody()
    })
  }

  private tooMuch(problem: Problem): void {
    if (this.response.headersSent) return this.cut('body_bytes')
    this.drop(problem)
  }

  private reserve(bytes: number): boolean {
    if (!this.gateway.reserve(bytes)) return false
    this.reserved += bytes
    return true
  }

  private acquire(): void {
    const current = this.gateway.functions.currentOf(this.live)
    if (!current) return this.refuse(refusals.notFound(this.target.name))
    this.live = current
    const leave = current.pool.acquire(this)
    if (!this.instance && !this.done) this.leaveQueue = leave
  }

  private preflight(): void {
    this.status = 204
    answerPreflight(this.request, this.response, { requestId: this.requestId, policy: this.live.version.policy })
    this.finish()
  }

  private unauthenticated(error: unknown): void {
    const { code, message } = error as { code?: unknown; message: string }
    if (code === 'RATE_LIMITED') return this.refuse(refusals.tooMany(message))
    if (code !== 'UNAUTHORIZED') {
      this.gateway.log.error({ err: error, ...this.gateway.labels(this) }, 'authentication is not possible')
      return this.refuse(refusals.busy(5000))
    }
    this.refuse(refusals.unauthorized(message))
  }

  /** Gives the function's answer up and answers in its place. */
  private drop(problem: Problem): void {
    this.connection!.destroy()
    this.leave(true)
    this.refuse(problem)
  }

  /** The connection broke; the end of the instance, if it ended, says why. */
  private broken(reason: Exit['reason'] | null): void {
    if (this.done) return
    if (this.response.headersSent) return this.cut(reason ?? 'broken')
    this.refuse(refusals.broken(reason))
  }

  /** Answers in the function's place. */
  private refuse(problem: Problem): void {
    if (this.done) return
    const { request, response, requestId } = this
    const status = statusOf(problem.code, this.gateway.resourceLimitStatus)
    this.failure = problem.code
    this.status = status
    answerProblem(request, response, problem, { status, requestId, policy: this.live.version.policy })
    this.finish()
  }

  /** Too late for an error answer: the caller sees that the rest is missing. */
  private cut(why: string): void {
    this.failure = why
    this.connection?.destroy()
    this.leave(false)
    this.response.destroy()
    this.finish()
  }

  private callerGone(): void {
    if (this.done) return
    this.failure = 'caller_gone'
    this.status = 499
    this.leaveQueue?.()
    this.connection?.destroy()
    this.leave(false)
    this.finish()
  }

  /** Takes the request out of its instance. */
  private leave(served: boolean): void {
    const { instance } = this
    this.connection = null
    if (!instance) return
    this.instance = null
    instance.end(this, this.held)
    this.live.pool.released(served)
  }

  private finish(): void {
    if (this.done) return
    this.done = true
    this.gateway.endBody(this)
    this.gateway.release(this.reserved)
    this.parts = null
    this.gateway.finished(this)
  }
}

async function newsOf(instance: Instance): Promise<Exit | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), EXIT_NEWS_MS)
  })
  const exit = await Promise.race([instance.exited, silence])
  clearTimeout(timer)
  return exit
}
