import type { IncomingMessage, ServerResponse } from 'node:http'
import { corsHeaders, preflightHeaders, type CorsPolicy } from './cors.ts'
import { bodyOf, type Problem } from './problems.ts'

/** Longest time that the rest of a refused body is read and dropped. */
const DISCARD_MS = 5000

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
  headers.push(...corsHeaders(policy, request.headers.origin), ...(problem.headers ?? []))
  const unread = !request.complete && hasBody(request)
  const late = problem.code === 'REQUEST_TIMEOUT'
  if (late) headers.push('connection', 'close')
  response.writeHead(status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
  if (unread && !late) discardRest(request, response)
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

/** True for a request that has, or will have, a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/**
 * Reads on for a while: a connection that closes under an upload takes the answer with it, from a caller or a proxy that
 * has not looked for one yet.
 */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const timer = setTimeout(() => request.destroy(), DISCARD_MS)
  request.once('close', () => clearTimeout(timer))
  response.once('error', () => {})
}
