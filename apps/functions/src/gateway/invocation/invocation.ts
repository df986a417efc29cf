import { discardRest, hasBody, switchingHead } from '@terrane/service'
import type { Functions, LiveFunction } from '../../functions.ts'
import type { Exit } from '../../pool/exit.ts'
import type { Instance } from '../../pool/instance.ts'
import type { Call } from '../../pool/active-calls.ts'
import type { Refusal, Waiter } from '../../pool/waiter.ts'
import { AFTER_SWITCH, type Connection, type Exchange, type UpstreamFailure } from '../../upstream/upstream.ts'
import type { Admission, Admitted } from '../admission.ts'
import type { Caller } from '../caller.ts'
import { answersPreflights } from '../cors.ts'
import { OUTSIDE, type Depth } from '../depth.ts'
import type { Heads } from '../heads.ts'
import type { Incoming } from '../incoming.ts'
import type { Problem } from '../problems.ts'
import * as refusals from '../refusals.ts'
import { Tunnel } from '../websocket/tunnel.ts'
import { AnswerWriter } from './answer-writer.ts'
import type { Bodies } from './bodies.ts'
import { waitForExit } from './wait-for-exit.ts'
import { RequestBody } from './request-body.ts'
import { leads, type InvocationState } from './states.ts'

/** The parts of the host that an invocation uses. */
export interface InvocationParts {
  readonly functions: Pick<Functions, 'currentOf'>
  readonly admission: Admission
  readonly bodies: Bodies
  readonly heads: Heads
  readonly events: InvocationEvents
}

/** Events of invocations, for logs and metrics. */
export interface InvocationEvents {
  finished(invocation: Invocation): void
  /** The function's answer is not valid HTTP. */
  invalid(invocation: Invocation, detail: string): void
}

/** One request to one function, from its head to the last byte of its answer. */
export class Invocation implements Exchange, Waiter, Call {
  readonly id: string
  readonly requestId: string
  readonly startedAt: number
  deadline = 0
  caller: Caller | null = null
  depth: Depth = OUTSIDE
  status = 0
  /** Why the answer is the host's and not the function's; empty when it is the function's. */
  problem = ''
  readonly #parts: InvocationParts
  readonly #incoming: Incoming
  readonly #body: RequestBody
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

  constructor(parts: InvocationParts, live: LiveFunction, incoming: Incoming) {
    const { request, response, id, requestId } = incoming
    this.#parts = parts
    this.#live = live
    this.#incoming = incoming
    this.#body = new RequestBody(parts.bodies, request, live.version.policy, (problem, why) =>
      this.#fail(problem, { why, served: true }),
    )
    this.#answer = new AnswerWriter(response)
    this.id = id
    this.requestId = requestId
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
    const { version } = this.#live
    const { policy } = version
    this.deadline = this.startedAt + policy.timeout_ms
    if (this.#incoming.isPreflight && answersPreflights(policy)) return this.#preflight()
    const refusal = this.#parts.admission.refusalOf(this.#incoming, policy)
    if (refusal) return this.#refuse(refusal)
    this.#incoming.response.on('close', () => this.#callerGone())
    const admitted = this.#parts.admission.check(this.#incoming, version)
    if (admitted instanceof Promise) void admitted.then((result) => this.#admit(result))
    else this.#admit(admitted)
  }

  // Methods of `Waiter`, which the pool calls.

  granted(instance: Instance): void {
    this.#leaveQueue = null
    if (!this.#enter('called')) return
    this.#instance = instance
    instance.begin(this)
    const { request, upgrade } = this.#incoming
    const { content, length } = this.#body
    const head = this.#parts.heads.request(this.#incoming, this.caller!, length, instance.serviceToken)
    const expected = upgrade ? 'switch' : request.method === 'HEAD' ? 'head' : 'body'
    this.#connection = instance.upstream.send(head, upgrade ? AFTER_SWITCH : content, expected, this)
    this.#body.pass(this.#connection)
  }

  refused(refusal: Refusal): void {
    this.#leaveQueue = null
    this.#refuse(refusals.noInstance(refusal, this.#live.version.policy))
  }

  // Methods of `Exchange`, called with the function's answer.

  onHead(status: number, received: string[]): void {
    const { headers, held, problem } = this.#parts.heads.answer(this.#incoming, this.#live.version, status, received)
    this.#held = held
    if (problem) return this.#drop(problem)
    if (status === 101) return this.#switch(headers)
    try {
      this.#incoming.response.writeHead(status, headers)
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
    if (this.#body.isUnread) discardRest(this.#incoming.request)
    this.#answer.end()
    if (this.#tunnel) this.#incoming.upgrade!.socket.destroySoon()
    this.#finish()
  }

  onFail(failure: UpstreamFailure, detail: string): void {
    const instance = this.#instance!
    this.#leave(false)
    if (failure === 'not_listening') instance.endUnreachable()
    if ((failure === 'not_listening' || failure === 'unreachable') && !this.#retried && this.#body.rewind()) {
      // No byte was sent and the body is still here: another instance may take it.
      this.#retried = true
      return this.#acquire()
    }
    if (failure === 'invalid') {
      this.#parts.events.invalid(this, detail)
      return this.#fail(refusals.invalidResponse(), { why: 'invalid_response', served: false })
    }
    const broken = (reason: Exit['reason'] | null) =>
      this.#fail(refusals.broken(reason), { why: reason ?? 'broken', served: false })
    if (instance.exitReason !== null) return broken(instance.exitReason)
    void waitForExit(instance).then((exit) => broken(exit?.reason ?? null))
  }

  /** The watchdog's time limit has passed. */
  expire(): void {
    this.#fail(refusals.timedOut(this.#live.version.policy), { why: 'timeout', served: false })
  }

  /** The function has accepted a WebSocket: from now on the limits of WebSockets replace those of requests. */
  #switch(headers: readonly string[]): void {
    const { policy } = this.#live.version
    const upgrade = this.#incoming.upgrade!
    const { socket } = upgrade
    this.#enter('answering')
    this.status = 101
    socket.write(switchingHead(headers), 'latin1')
    this.#answer = new AnswerWriter(socket)
    this.#instance!.prolong(this, performance.now() + policy.websocket_ms)
    const limits = { messageBytes: policy.body_bytes, silentMs: policy.idle_ms }
    this.#tunnel = new Tunnel(upgrade, this.#connection!, limits, (why) => this.#cut(why))
  }

  #enter(state: InvocationState): boolean {
    if (!leads(this.#state, state)) return false
    this.#state = state
    return true
  }

  #admit({ caller, depth, problem }: Admitted): void {
    if (this.#state !== 'asking') return
    this.caller = caller
    this.depth = depth
    if (problem) return this.#refuse(problem)
    if (!hasBody(this.#incoming.request)) return this.#acquire()
    this.#enter('receiving')
    this.#body.receive(() => this.#acquire())
  }

  #acquire(): void {
    if (!this.#enter('queued')) return
    const current = this.#parts.functions.currentOf(this.#live)
    if (!current) return this.#refuse(refusals.notFound(this.#live.version.name))
    this.#live = current
    const leave = current.pool.acquire(this)
    if (this.#state === 'queued') this.#leaveQueue = leave
  }

  /** True for a preflight of a function whose policy has CORS, so that the host may answer it. */
  get #isPreflight(): boolean {
    return this.#live.version.policy.cors.length > 0 && this.#incoming.isPreflight
  }

  #preflight(): void {
    this.status = 204
    this.#incoming.answerPreflight(this.#live.version.policy)
    this.#finish()
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

  /** Answers in the function's place. A preflight is granted, so that the page can read the error of its request. */
  #refuse(problem: Problem): void {
    if (this.#state === 'over') return
    if (this.#isPreflight) return this.#preflight()
    this.problem = problem.code
    this.status = this.#parts.heads.statusOf(problem.code)
    this.#incoming.answerProblem(problem, this.status, this.#live.version.policy)
    this.#finish()
  }

  /** Too late for an error answer: the caller sees a truncated one. */
  #cut(why: string): void {
    this.problem = why
    this.#connection?.destroy()
    this.#leave(false)
    this.#incoming.response.destroy()
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

  /** Removes the request from its instance. */
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
    this.#parts.events.finished(this)
  }
}
