import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exit, ExitReason, Instance, Call } from '../pool/instance.ts'
import type { Refusal, Waiter } from '../pool/pool.ts'
import type { LiveFunction } from '../functions.ts'
import { SMALL_BODY, type Connection, type Exchange, type UpstreamFailure } from '../upstream/upstream.ts'
import { isAllowed, type Caller } from './caller.ts'
import { corsHeaders, isPreflight, preflightHeaders } from './cors.ts'
import { DEPTH_HEADER, MAX_DEPTH } from './depth.ts'
import type { Gateway } from './gateway.ts'
import { forwardedHeaders, returnedHeaders, safeHost } from './headers.ts'
import { bodyOf, retryAfter, statusOf, type Problem } from './problems.ts'
import type { Target } from './target.ts'

const LIMIT_REASONS: ReadonlySet<ExitReason> = new Set(['blocked', 'memory', 'idle_cpu'])
/** How long an answer waits for the news of its instance's end, which says why the connection broke. */
const EXIT_NEWS_MS = 1000
/** Longest time that the rest of a refused body is read and dropped. */
const DISCARD_MS = 5000

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
  private readonly gateway: Gateway
  private readonly request: IncomingMessage
  private readonly response: ServerResponse
  private readonly target: Target
  private live: LiveFunction
  private body: Buffer | null = null
  private chunks: Buffer[] | null = null
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
    gateway: Gateway,
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
    if (!(policy.methods as readonly string[]).includes(method!)) {
      const allow = ['allow', policy.methods.join(', ')]
      return this.refuse({
        code: 'METHOD_NOT_ALLOWED',
        message: `This function does not take ${method}`,
        headers: allow,
      })
    }
    this.response.on('close', () => this.callerGone())
    let caller
    try {
      caller = this.gateway.authenticate(this.live.version.project, headers)
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
    this.refuse({ code: 'REQUEST_TIMEOUT', message: 'The request body did not arrive in time' })
  }

  // The pool's answer.

  granted(instance: Instance): void {
    this.leaveQueue = null
    this.instance = instance
    instance.begin(this)
    this.connection = instance.upstream.send(this.head(), this.body, this.request.method === 'HEAD', this)
  }

  refused({ why, retryMs }: Refusal): void {
    this.leaveQueue = null
    const headers = retryAfter(retryMs)
    if (why === 'boot') this.refuse({ code: 'FUNCTION_BOOT_ERROR', message: 'The function does not start', headers })
    else this.refuse({ code: 'FUNCTION_BUSY', message: 'The function is busy; try again shortly', headers })
  }

  // The function's answer.

  onHead(status: number, received: string[]): void {
    const { version } = this.live
    const { headers, failure, held } = returnedHeaders(received, version.policy.cors.length > 0)
    this.held = held
    if (failure !== '') {
      this.connection!.destroy()
      this.leave(true)
      if (failure === 'invalid') this.invalidResponse()
      else this.refuse({ code: 'FUNCTION_ERROR', message: 'The function failed' })
      return
    }
    if (announcedLength(received) > version.policy.response_bytes) {
      this.connection!.destroy()
      this.leave(true)
      return this.invalidResponse('The answer of the function is larger than it may be')
    }
    this.status = status
    headers.push(...corsHeaders(version.policy, this.request.headers.origin))
    headers.push('x-request-id', this.requestId, 'x-function-version', String(version.version))
    try {
      this.response.writeHead(status, headers)
    } catch {
      this.connection!.destroy()
      this.leave(true)
      this.invalidResponse()
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
    if (this.first) this.response.end(this.first.toString('latin1'), 'latin1')
    else this.response.end()
    this.finish()
  }

  onFail(failure: UpstreamFailure, detail: string): void {
    const instance = this.instance!
    this.connection = null
    this.leave(false)
    if (this.done) return
    if (failure === 'unreachable' && !this.retried) {
      // Not a byte was sent: another instance may take it.
      this.retried = true
      return this.acquire()
    }
    if (failure === 'invalid') {
      this.gateway.log.warn({ ...this.gateway.labels(this), detail }, 'invalid response')
      return this.response.headersSent ? this.cut('invalid_response') : this.invalidResponse()
    }
    if (instance.doom !== null) return this.broken(instance.doom)
    void newsOf(instance).then((exit) => this.broken(exit?.reason ?? null))
  }

  /** The watchdog: the time is up. */
  expire(): void {
    this.connection?.destroy()
    this.leave(false)
    if (this.response.headersSent) return this.cut('timeout')
    const { timeout_ms: ms } = this.live.version.policy
    this.refuse({ code: 'FUNCTION_TIMEOUT', message: `The function did not answer within ${ms} ms` })
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
    if (!isAllowed(caller, policy.auth)) return this.forbidden(caller, policy.auth)
    this.depth = this.gateway.depths.read(this.request.headers[DEPTH_HEADER])
    if (this.depth > MAX_DEPTH) {
      return this.refuse({
        code: 'FUNCTION_RECURSION',
        message: `Functions have called functions ${MAX_DEPTH} deep`,
        hint: 'Look for a function that calls itself.',
      })
    }
    const announced = Number(this.request.headers['content-length'] ?? 0)
    if (announced > policy.body_bytes) return this.tooLarge()
    if (announced === 0 && this.request.headers['transfer-encoding'] === undefined) return this.acquire()
    if (!this.gateway.beginBody(this)) return this.refused({ why: 'busy', retryMs: 1000 })
    this.receiveBody(policy.body_bytes)
  }

  private receiveBody(limit: number): void {
    this.request.on('data', (chunk: Buffer) => {
      if (this.done) return
      this.bytesIn += chunk.length
      this.gateway.buffered += chunk.length
      if (this.bytesIn > limit) return this.tooLarge()
      if (this.chunks) this.chunks.push(chunk)
      else this.chunks = [chunk]
    })
    this.request.on('end', () => {
      if (this.done) return
      this.gateway.endBody(this)
      const { chunks } = this
      if (chunks) this.body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      this.chunks = null
      this.acquire()
    })
  }

  private acquire(): void {
    const current = this.gateway.functions.currentOf(this.live)
    if (!current) return this.refuse(notFound(this.target.name))
    this.live = current
    const leave = current.pool.acquire(this)
    if (!this.instance && !this.done) this.leaveQueue = leave
  }

  private head(): string {
    const { request, target } = this
    const host = safeHost(request.headers.host)
    const url = `http://${host}/${target.name}${target.rest}`
    const headers = forwardedHeaders(request.rawHeaders, request.headers.connection, request.socket.remoteAddress ?? '')
    const claims = this.caller!.claims
    const length = this.body ? this.body.length : request.method === 'GET' || request.method === 'HEAD' ? -1 : 0
    return (
      `${request.method} ${url} HTTP/1.1\r\nhost: ${host}\r\n${headers}` +
      `x-request-id: ${this.requestId}\r\nx-terrane-call: ${this.id}\r\n` +
      (claims === null ? '' : `x-terrane-claims: ${claims}\r\n`) +
      (length < 0 ? '\r\n' : `content-length: ${length}\r\n\r\n`)
    )
  }

  private preflight(): void {
    const { policy } = this.live.version
    const { headers } = this.request
    this.status = 204
    this.response.writeHead(204, [
      ...corsHeaders(policy, headers.origin),
      ...preflightHeaders(policy, headers['access-control-request-headers']),
      'x-request-id',
      this.requestId,
    ])
    this.response.end()
    this.finish()
  }

  private unauthenticated(error: unknown): void {
    const { code, message } = error as { code?: unknown; message: string }
    if (code !== 'UNAUTHORIZED') {
      this.gateway.log.error({ err: error, ...this.gateway.labels(this) }, 'authentication is not possible')
      return this.refused({ why: 'busy', retryMs: 5000 })
    }
    this.refuse({ code: 'UNAUTHORIZED', message, headers: ['www-authenticate', 'Bearer'] })
  }

  private forbidden(caller: Caller, needed: string): void {
    if (caller.rank === 'none') {
      return this.refuse({
        code: 'UNAUTHORIZED',
        message: 'No key was sent',
        hint: 'Send the anon key as `apikey`, or a token as `Authorization: Bearer`.',
        headers: ['www-authenticate', 'Bearer'],
      })
    }
    const who = needed === 'service' ? 'the service role' : 'a signed-in user'
    this.refuse({ code: 'FORBIDDEN', message: `This function is for ${who}; the key is of rank '${caller.rank}'` })
  }

  private tooLarge(): void {
    const { body_bytes: limit } = this.live.version.policy
    this.refuse({
      code: 'PAYLOAD_TOO_LARGE',
      message: `The body is larger than the ${limit} bytes this function takes`,
    })
  }

  private invalidResponse(message = 'The function gave an answer that is not valid HTTP'): void {
    this.refuse({ code: 'FUNCTION_INVALID_RESPONSE', message })
  }

  /** The connection broke; the end of the instance, if it ended, says why. */
  private broken(reason: ExitReason | null): void {
    if (this.done) return
    if (this.response.headersSent) return this.cut(reason ?? 'broken')
    if (reason && LIMIT_REASONS.has(reason)) {
      const what = reason === 'memory' ? 'memory' : 'time on the CPU without a pause'
      this.refuse({ code: 'FUNCTION_RESOURCE_LIMIT', message: `The function used too much ${what}` })
    } else if (reason) this.refuse({ code: 'FUNCTION_CRASHED', message: 'The function ended before it had answered' })
    else this.invalidResponse()
  }

  /** Answers in the function's place. */
  private refuse(problem: Problem): void {
    if (this.done) return
    const { request, response, gateway } = this
    this.failure = problem.code
    this.status = statusOf(problem.code, gateway.resourceLimitStatus)
    const body = bodyOf(problem, this.status, this.requestId)
    const headers = ['content-type', 'application/problem+json', 'x-error-code', problem.code]
    headers.push('x-request-id', this.requestId, 'content-length', String(Buffer.byteLength(body)))
    headers.push(...corsHeaders(this.live.version.policy, request.headers.origin), ...(problem.headers ?? []))
    const unread = !request.complete && hasBody(request)
    const late = problem.code === 'REQUEST_TIMEOUT'
    if (late) headers.push('connection', 'close')
    response.writeHead(this.status, headers)
    response.end(request.method === 'HEAD' ? undefined : body)
    this.finish()
    if (unread && !late) discardRest(request, response)
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
    this.gateway.buffered -= this.bytesIn
    this.body = null
    this.chunks = null
    this.gateway.finished(this)
  }
}

export function notFound(name: string): Problem {
  return { code: 'FUNCTION_NOT_FOUND', message: `There is no function '${name}'` }
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/**
 * Reads on for a while: a connection that closes under an upload takes the answer with it, from a caller or a proxy that
 * has not looked for one yet.
 */
function discardRest(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const timer = setTimeout(() => request.destroy(), DISCARD_MS)
  request.once('close', () => clearTimeout(timer))
  response.once('error', () => {})
}

function announcedLength(headers: readonly string[]): number {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-length') return Number(headers[i + 1])
  return 0
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
