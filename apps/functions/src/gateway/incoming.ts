import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardRest, hasBody, type Upgrade } from '@terrane/service'
import { corsHeaders, isPreflight, preflightHeaders, type CorsPolicy } from './cors.ts'
import { bodyOf, isRelayError, type Problem } from './problems.ts'

/** Facts about a request that the gateway finds before it looks the function up. */
export interface IncomingFacts {
  /** Unique on this host; never chosen by a caller. */
  readonly id: string
  readonly requestId: string
  /** The function's name, the sub-path and the query; empty when the path names no function. */
  readonly path: string
  /** The caller's connection, when the request asks for a WebSocket. */
  readonly upgrade: Upgrade | null
}

/** A request as the gateway received it, and the answers that the host itself gives to it. */
export class Incoming {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  readonly requestId: string
  readonly path: string
  readonly upgrade: Upgrade | null

  constructor(request: IncomingMessage, response: ServerResponse, { id, requestId, path, upgrade }: IncomingFacts) {
    this.request = request
    this.response = response
    this.id = id
    this.requestId = requestId
    this.path = path
    this.upgrade = upgrade
  }

  /** True for a preflight, which {@link answerPreflight} answers. */
  get isPreflight(): boolean {
    return isPreflight(this.request.method!, this.request.headers)
  }

  /** Answers with a problem in a function's place, also while the caller is still sending. */
  answerProblem(problem: Problem, status: number, policy: CorsPolicy): void {
    const { request, response, requestId } = this
    const body = bodyOf(problem, status, requestId)
    const headers = ['content-type', 'application/problem+json', 'x-error-code', problem.code]
    headers.push('x-request-id', requestId, 'content-length', String(Buffer.byteLength(body)))
    if (isRelayError(problem.code)) headers.push('x-relay-error', 'true')
    headers.push(...corsHeaders(policy, request.headers.origin), ...(problem.headers ?? []))
    const unread = !request.complete && hasBody(request)
    const late = problem.code === 'REQUEST_TIMEOUT'
    if (late) headers.push('connection', 'close')
    response.writeHead(status, headers)
    response.end(request.method === 'HEAD' ? undefined : body)
    if (unread && !late) {
      response.once('error', () => {})
      discardRest(request)
    }
  }

  /** Answers a browser's preflight. */
  answerPreflight(policy: CorsPolicy): void {
    const { origin, 'access-control-request-headers': requested } = this.request.headers
    this.response.writeHead(204, [
      ...corsHeaders(policy, origin),
      ...preflightHeaders(policy, requested),
      'x-request-id',
      this.requestId,
    ])
    this.response.end()
  }
}
