import type { IncomingMessage } from 'node:http'
import type { FunctionVersion } from '../function-version.ts'
import type { Caller } from './caller.ts'
import { LISTED_ORIGINS, answerCors } from './cors.ts'
import {
  LEFT_OUT,
  announcedLength,
  exchangeServiceKey,
  platformHeaders,
  requestHead,
  returnedHeaders,
} from './headers.ts'
import type { Incoming } from './incoming.ts'
import { statusOf, type Problem, type ProblemCode } from './problems.ts'
import * as refusals from './refusals.ts'

export interface HeadOptions {
  /** Whether an address is that of a trusted proxy. */
  readonly trusts: (address: string) => boolean
  /** The address of the caller, as the last trusted proxy names it. */
  readonly clientOf: (request: IncomingMessage) => string
  /** Whether a function's answer may act as a page of the origin that it comes from. */
  readonly ownOrigin: boolean
  /** 546, or another status for proxies that refuse it. */
  readonly resourceLimitStatus: number
  /** Called once for each version and text when headers of a function's answers are left out. */
  readonly onNarrowed: (version: FunctionVersion, text: string) => void
}

/** The head of a function's answer, as it reaches the caller. */
export interface AnswerHead {
  readonly headers: string[]
  /** True when background work continues after the answer. */
  readonly held: boolean
  /** Why the host answers in the function's place; null when it does not. */
  readonly problem: Problem | null
}

/** Translates the heads of requests for functions, and those of their answers for callers. */
export class Heads {
  readonly #options: HeadOptions
  readonly #narrowed = new WeakMap<FunctionVersion, Set<string>>()

  constructor(options: HeadOptions) {
    this.#options = options
  }

  get ownOrigin(): boolean {
    return this.#options.ownOrigin
  }

  /** The status of a problem on this host. */
  statusOf(code: ProblemCode): number {
    return statusOf(code, this.#options.resourceLimitStatus)
  }

  /**
   * The head of a request for the function's instance.
   *
   * @param bodyBytes size of the body; 0 without one, null for one whose size is not known yet
   * @param serviceToken of the instance: stands for the service key
   */
  request(incoming: Incoming, caller: Caller, bodyBytes: number | null, serviceToken: string): string {
    const { request, requestId, id, path, upgrade } = incoming
    return requestHead(request, path, bodyBytes, {
      requestId,
      call: id,
      client: this.#options.clientOf(request),
      claims: caller.claims,
      exchanged: exchangeServiceKey(caller, serviceToken),
      isTrusted: this.#options.trusts(request.socket.remoteAddress ?? ''),
      upgrades: upgrade !== null,
      platform: platformHeaders(request, caller),
    })
  }

  /**
   * The head of an answer for the caller.
   *
   * @param received names in lower case and values, alternating
   */
  answer(incoming: Incoming, version: FunctionVersion, status: number, received: readonly string[]): AnswerHead {
    const { request, requestId } = incoming
    const { policy } = version
    const { headers, cors: own, cut, failure, held } = returnedHeaders(received, this.ownOrigin)
    const inPlace = (problem: Problem): AnswerHead => ({ headers, held, problem })
    if (failure !== '') return inPlace(failure === 'invalid' ? refusals.invalidResponse() : refusals.failed())
    if (request.method !== 'HEAD' && announcedLength(received) > policy.response_bytes)
      return inPlace(refusals.invalidResponse('The answer of the function is larger than it may be'))
    if (cut) this.#narrow(version, LEFT_OUT)
    headers.push('x-request-id', requestId, 'x-function-version', String(version.version))
    if (status === 101) return { headers, held, problem: null }
    // The host answers a preflight that the function does not grant, as it answers for a function that failed.
    if (policy.cors.length > 0 && incoming.isPreflight && !own.includes('access-control-allow-origin'))
      return inPlace(refusals.failed())
    const { headers: cors, narrowed } = answerCors(policy, own, request.headers.origin)
    if (narrowed) this.#narrow(version, LISTED_ORIGINS)
    headers.push(...cors)
    return { headers, held, problem: null }
  }

  #narrow(version: FunctionVersion, text: string): void {
    const reported = this.#narrowed.get(version) ?? new Set()
    if (reported.has(text)) return
    this.#narrowed.set(version, reported.add(text))
    this.#options.onNarrowed(version, text)
  }
}
