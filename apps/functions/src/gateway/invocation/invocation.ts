import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardRest, hasBody, switchingHead, type Upgrade } from '@terrane/service'
import type { FunctionVersion } from '../../function-version.ts'
import type { Functions, LiveFunction } from '../../functions.ts'
import type { Exit, Instance } from '../../pool/instance.ts'
import type { Call } from '../../pool/presence.ts'
import type { Refusal, Waiter } from '../../pool/pool.ts'
import { AFTER_SWITCH, type Connection, type Exchange, type UpstreamFailure } from '../../upstream/upstream.ts'
import { answerPreflight, answerProblem } from '../answer.ts'
import { AnswerWriter } from './answer-writer.ts'
import type { Bodies } from './bodies.ts'
import { isAllowed, type Authenticate, type Caller } from '../caller.ts'
import { LISTED_ORIGINS, answerCors, answersPreflights, isOriginAllowed, isPreflight } from '../cors.ts'
import { DEPTH_HEADER, MAX_DEPTH, type Depths } from '../depth.ts'
import {
  LEFT_OUT,
  announcedLength,
  exchangeServiceKey,
  hasTooManyHeaders,
  requestHead,
  returnedHeaders,
} from '../headers.ts'
import { statusOf, type Problem } from '../problems.ts'
import { methodsOf } from '../../policy.ts'
import { leads, type InvocationState } from './states.ts'
import * as refusals from '../refusals.ts'
import { newsOf } from './news.ts'
import { RequestBody } from './request-body.ts'
import type { Target } from '../target.ts'
import { Tunnel } from '../websocket/tunnel.ts'

/** Parts of the gateway that an invocation uses. */
export interface Desk {
  readonly functions: Functions
  readonly authenticate: Authenticate
  readonly depths: Depths
  readonly bodies: Bodies
  readonly log: Record<'warn' | 'error', (fields: object, message: string) => void>
  readonly resourceLimitStatus: number
  readonly ownOrigin: boolean
  readonly trusts: (address: string) => boolean
  readonly clientOf: (request: IncomingMessage) => string
  finished(invocation: Invocation): void
  /** Says in the function's log what is left out of its answers. */
  narrowed(version: FunctionVersion, text: string): void
  labels(invocation: Invocation): object
}

export interface InvocationFacts {
  readonly id: string
  readonly requestId: string
  /** The caller's connection, when the request asks for a WebSocket. */
  readonly upgrade?: Upgrade | null
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
  /** Why the answer is the host's and not the function's; empty when it is the function's. */
  problem = ''
  readonly #desk: Desk
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #target: Target
  readonly #body: RequestBody
  /** Not null when the request asks for a WebSocket. */
  readonly #upgrade: Upgrade | null
  #answer: AnswerWriter
  #tunnel: Tunnel | null = null
  #state: InvocationState = 'asking'
  #live: LiveFunction
  #instance: Instance | null = null
  #connection: Connection | null = null
  #leaveQueue: (() => void) | null = null
  /** The answer announced background work that continues after it. */
  #held = false
  #retried = false

  constructor(
    desk: Desk,
    live: LiveFunction,
    target: Target,
    request: IncomingMessage,
    response: ServerResponse,
    { id, requestId, upgrade = null }: InvocationFacts,
  ) {
    this.#desk = desk
    this.#live = live
    this.#target = target
    this.#request = request
    this.#response = response
    this.#body = new RequestBody(desk.bodies, request, live.version.policy, (problem, why) =>
      this.#fail(problem, { why, served: true }),
    )
    this.#answer = new AnswerWriter(response)
    this.id = id
    this.requestId = requestId
    this.#upgrade = upgrade
    this.startedAt = performance.now()
  }

  get functionVersion() {
    return this.#live.version
  }

  get bytesIn(): number {
    return this.#body.bytes + (this.#tunnel?.bytes ?? 0)
  }

  get bytesOut(): number {
    return this.#answer.bytes
  }

  begin(): void {
    const { policy, project } = this.#live.version
    const { method, headers } = this.#request
    this.deadline = this.startedAt + policy.timeout_ms
    if (isPreflight(method!, headers) && answersPreflights(policy)) return this.#preflight()
    if (!methodsOf(policy).includes(method!)) return this.#refuse(refusals.methodRefused(method!, policy))
    if (hasTooManyHeaders(this.#request)) return this.#refuse(refusals.tooManyHeaders())
    this.#response.on('close', () => this.#callerGone())
    if (this.#upgrade && policy.websocket_ms === 0) return this.#refuse(refusals.noSockets())
    if (this.#upgrade && !isOriginAllowed(policy.cors, headers)) return this.#refuse(refusals.originRefused())
    let caller
    try {
      caller = this.#desk.authenticate(project, this.#request, policy.auth)
    } catch (error) {
      return this.#unauthenticated(error)
    }
    if (!(caller instanceof Promise)) return this.#admit(caller)
    caller.then(
      (known) => this.#admit(known),
      (error: unknown) => this.#unauthenticated(error),
    )
  }

  // The pool's answer.

  granted(instance: Instance): void {
    this.#leaveQueue = null
    if (!this.#enter('called')) return
    this.#instance = instance
    instance.begin(this)
    const exchanged = exchangeServiceKey(this.caller!, instance.serviceToken)
    const client = this.#desk.clientOf(this.#request)
    const ids = { requestId: this.requestId, call: this.id, client, claims: this.caller!.claims, exchanged }
    const isTrusted = this.#desk.trusts(this.#request.socket.remoteAddress ?? '')
    const upgrades = this.#upgrade !== null
    const { content, length } = this.#body
    const path = this.#target.name + this.#target.rest
    const head = requestHead(this.#request, path, length, ids, { isTrusted, upgrades })
    const expected = upgrades ? 'switch' : this.#request.method === 'HEAD' ? 'head' : 'body'
    this.#connection = instance.upstream.send(head, upgrades ? AFTER_SWITCH : content, expected, this)
    this.#body.pass(this.#connection)
  }

  refused(refusal: Refusal): void {
    this.#leaveQueue = null
    this.#refuse(refusals.noInstance(refusal, this.#live.version.policy))
  }

  // The function's answer.

  onHead(status: number, received: string[]): void {
    const { version } = this.#live
    const { policy } = version
    const { headers, cors: own, cut, failure, held } = returnedHeaders(received, this.#desk.ownOrigin)
    this.#held = held
    if (failure !== '') return this.#drop(failure === 'invalid' ? refusals.invalidResponse() : refusals.failed())
    if (this.#request.method !== 'HEAD' && announcedLength(received) > policy.response_bytes)
      return this.#drop(refusals.invalidResponse('The answer of the function is larger than it may be'))
    if (cut) this.#desk.narrowed(version, LEFT_OUT)
    headers.push('x-request-id', this.requestId, 'x-function-version', String(version.version))
    if (status === 101) return this.#switch(headers)
    if (this.#isPreflight && !own.includes('access-control-allow-origin')) return this.#drop(refusals.failed())
    const { headers: cors, narrowed } = answerCors(policy, own, this.#request.headers.origin)
    if (narrowed) this.#desk.narrowed(version, LISTED_ORIGINS)
    headers.push(...cors)
    try {
      this.#response.writeHead(status, headers)
    } catch {
      return this.#drop(refusals.invalidResponse())
    }
    this.#enter('answering')
    this.status = status
  }

  onData(chunk: Buffer): void {
    if (this.#state !== 'answering') return
    if (!this.#tunnel && this.#answer.bytes + chunk.length > this.#live.version.policy.response_bytes)
      return this.#cut('response_bytes')
    this.#answer.write(chunk, this.#connection!)
  }

  onPartial(): void {
    if (this.#state === 'answering') this.#answer.flush(this.#connection!)
  }

  onEnd(): void {
    if (this.#state !== 'answering') return
    this.#leave(true)
    if (this.#body.isUnread) discardRest(this.#request)
    this.#answer.end()
    if (this.#tunnel) this.#upgrade!.socket.destroySoon()
    this.#finish()
  }

  onFail(failure: UpstreamFailure, detail: string): void {
    const instance = this.#instance!
    this.#leave(false)
    if (failure === 'deaf') instance.replaceDeaf()
    if ((failure === 'deaf' || failure === 'unreachable') && !this.#retried && this.#body.rewind()) {
      // No byte was sent and the body is still here: another instance may take it.
      this.#retried = true
      return this.#acquire()
    }
    if (failure === 'invalid') {
      this.#desk.log.warn({ ...this.#desk.labels(this), detail }, 'invalid response')
      return this.#fail(refusals.invalidResponse(), { why: 'invalid_response', served: false })
    }
    const broken = (reason: Exit['reason'] | null) =>
      this.#fail(refusals.broken(reason), { why: reason ?? 'broken', served: false })
    if (instance.doom !== null) return broken(instance.doom)
    void newsOf(instance).then((exit) => broken(exit?.reason ?? null))
  }

  /** The watchdog's time limit has passed. */
  expire(): void {
    this.#fail(refusals.timedOut(this.#live.version.policy), { why: 'timeout', served: false })
  }

  /** The function has agreed to a WebSocket: from now on both ends send when they like, within limits of its own. */
  #switch(headers: readonly string[]): void {
    const { policy } = this.#live.version
    const { socket } = this.#upgrade!
    this.#enter('answering')
    this.status = 101
    socket.write(switchingHead(headers), 'latin1')
    this.#answer = new AnswerWriter(socket)
    this.#instance!.prolong(this, performance.now() + policy.websocket_ms)
    const limits = { messageBytes: policy.body_bytes, silentMs: policy.idle_ms }
    this.#tunnel = new Tunnel(this.#upgrade!, this.#connection!, limits, (why) => this.#cut(why))
  }

  #enter(state: InvocationState): boolean {
    if (!leads(this.#state, state)) return false
    this.#state = state
    return true
  }

  #admit(caller: Caller): void {
    if (this.#state !== 'asking') return
    const { policy } = this.#live.version
    this.caller = caller
    if (!isAllowed(caller, policy.auth)) return this.#refuse(refusals.forbidden(caller, policy.auth))
    this.depth = this.#desk.depths.read(this.#request.headers[DEPTH_HEADER])
    if (this.depth > MAX_DEPTH) return this.#refuse(refusals.tooDeep())
    if (!hasBody(this.#request)) return this.#acquire()
    this.#enter('receiving')
    this.#body.receive(() => this.#acquire())
  }

  #acquire(): void {
    if (!this.#enter('queued')) return
    const current = this.#desk.functions.currentOf(this.#live)
    if (!current) return this.#refuse(refusals.notFound(this.#target.name))
    this.#live = current
    const leave = current.pool.acquire(this)
    if (this.#state === 'queued') this.#leaveQueue = leave
  }

  /** Whether this is a preflight that is not the function's alone. */
  get #isPreflight(): boolean {
    return this.#live.version.policy.cors.length > 0 && isPreflight(this.#request.method!, this.#request.headers)
  }

  #preflight(): void {
    this.status = 204
    answerPreflight(this.#request, this.#response, { requestId: this.requestId, policy: this.#live.version.policy })
    this.#finish()
  }

  #unauthenticated(error: unknown): void {
    const problem = refusals.notAuthenticated(error)
    if (!problem) this.#desk.log.error({ err: error, ...this.#desk.labels(this) }, 'authentication is not possible')
    this.#refuse(problem ?? refusals.busy(5000))
  }

  /**
   * Ends it from any state: with a problem, or by cutting the connection when the answer has begun.
   *
   * @param about `why` is logged when it is too late to send a problem; `served`: the instance did its part, so its
   * pool counts it as working
   */
  #fail(problem: Problem, about: { readonly why: string; readonly served: boolean }): void {
    if (this.#state === 'over') return
    if (this.#state === 'answering') return this.#cut(about.why)
    this.#connection?.destroy()
    this.#leave(about.served)
    this.#refuse(problem)
  }

  /** Discards the function's answer and answers in its place. */
  #drop(problem: Problem): void {
    this.#fail(problem, { why: problem.code, served: true })
  }

  /** Answers in the function's place: a preflight with a grant, so that the page hears the problem of its request. */
  #refuse(problem: Problem): void {
    if (this.#state === 'over') return
    if (this.#isPreflight) return this.#preflight()
    const { requestId } = this
    const status = statusOf(problem.code, this.#desk.resourceLimitStatus)
    this.problem = problem.code
    this.status = status
    answerProblem(this.#request, this.#response, problem, {
      status,
      requestId,
      policy: this.#live.version.policy,
    })
    this.#finish()
  }

  /** Too late for an error answer: the caller sees a truncated one. */
  #cut(why: string): void {
    this.problem = why
    this.#connection?.destroy()
    this.#leave(false)
    this.#response.destroy()
    this.#finish()
  }

  #callerGone(): void {
    if (this.#state === 'over') return
    // Either end may close a WebSocket.
    if (!this.#tunnel) {
      this.problem = 'caller_gone'
      this.status = 499
    }
    this.#leaveQueue?.()
    this.#connection?.destroy()
    this.#leave(this.#tunnel !== null)
    this.#finish()
  }

  /** Takes the request out of its instance. */
  #leave(served: boolean): void {
    const instance = this.#instance
    this.#connection = null
    if (!instance) return
    this.#instance = null
    instance.end(this, this.#held)
    this.#live.pool.released(served)
  }

  #finish(): void {
    if (!this.#enter('over')) return
    this.#body.end()
    this.#desk.finished(this)
  }
}
