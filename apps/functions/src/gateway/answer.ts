import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardRest, hasBody, outlastAnswer } from '@terrane/service'
import { corsHeaders, preflightHeaders, type CorsPolicy } from './cors.ts'
import { bodyOf, isRelayError, type Problem } from './problems.ts'

/** Answers with a problem in a function's place, also while the caller is still sending. */
export function answerProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  { status, requestId, policy }: { readonly status: number; readonly requestId: string; readonly policy: CorsPolicy },
): void {
  const body = bodyOf(problem, status, requestId)
  const headers = ['content-type', 'application/problem+json', 'x-error-code', problem.code]
  headers.push('x-request-id', requestId, 'content-length', String(Buffer.byteLength(body)))
  if (isRelayError(problem.code)) headers.push('x-relay-error', 'true')
  headers.push(...corsHeaders(policy, request.headers.origin), ...(problem.headers ?? []))
  const unread = !request.complete && hasBody(request)
  const late = problem.code === 'REQUEST_TIMEOUT'
  if (late) headers.push('connection', 'close')
  else if (unread) outlastAnswer(request, response)
  response.writeHead(status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
  if (unread && !late) {
    response.once('error', () => {})
    discardRest(request)
  }
}

/** Answers a browser's preflight. */
export function answerPreflight(
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, policy }: { readonly requestId: string; readonly policy: CorsPolicy },
): void {
  const { origin, 'access-control-request-headers': asked } = request.headers
  response.writeHead(204, [
    ...corsHeaders(policy, origin),
    ...preflightHeaders(policy, asked),
    'x-request-id',
    requestId,
  ])
  response.end()
}
