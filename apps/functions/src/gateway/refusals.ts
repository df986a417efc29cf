import { methodsOf, type Policy } from '../policy.ts'
import type { ExitReason } from '../pool/exit.ts'
import type { Refusal } from '../pool/waiter.ts'
import type { Caller } from './caller.ts'
import { retryAfter, type Problem } from './problems.ts'

// Every answer that the host gives in a function's place, worded for the caller.

const CHALLENGE = ['www-authenticate', 'Bearer']
const LIMIT_REASONS: ReadonlySet<ExitReason> = new Set(['blocked', 'memory', 'idle_cpu'])

/** @param name null when the path holds nothing that could be a name */
export function notFound(name: string | null): Problem {
  return name === null
    ? { code: 'FUNCTION_NOT_FOUND', message: 'The path does not name a function', hint: NAME_HINT }
    : { code: 'FUNCTION_NOT_FOUND', message: `There is no function '${name}'` }
}

const NAME_HINT = 'Call /functions/v1/{name}; names have 1 to 63 of A-Z, a-z, 0-9, - and _.'

/** On a shared origin, no script may register a service worker, which could answer for the others. */
export function noServiceWorkers(): Problem {
  return {
    code: 'FORBIDDEN',
    message: 'Service workers need a separate origin',
    hint: 'Set TERRANE_FUNCTIONS_OWN_ORIGIN=true where the project has a domain to itself.',
  }
}

/** A function that is known, but could not be built or started. */
export function notStarting(retryMs: number): Problem {
  return {
    code: 'FUNCTION_BOOT_ERROR',
    message: 'The function does not start; its log says why',
    headers: retryAfter(retryMs),
  }
}

export function busy(retryMs: number): Problem {
  return {
    code: 'FUNCTION_BUSY',
    message: 'The function is busy; try again shortly',
    headers: retryAfter(retryMs),
  }
}

/** The host's limit for buffered request bodies is reached. */
export function noRoom(): Problem {
  return {
    code: 'FUNCTION_BUSY',
    message: 'The buffer for request bodies is full; try again shortly',
    hint: 'Request bodies are streamed, not held in memory, where function.json sets "stream_body".',
    headers: retryAfter(1000),
  }
}

/** The pool's reason for not giving an instance. */
export function noInstance({ why, retryMs }: Refusal, policy: Policy): Problem {
  if (why === 'late') return timedOut(policy)
  return why === 'boot' ? notStarting(retryMs) : busy(retryMs)
}

export function methodRefused(method: string, policy: Policy): Problem {
  return {
    code: 'METHOD_NOT_ALLOWED',
    message: `This function does not accept ${method}`,
    headers: ['allow', methodsOf(policy).join(', ')],
  }
}

/** The request has more headers than the function's runtime reads. */
export function tooManyHeaders(): Problem {
  return { code: 'HEADERS_TOO_MANY', message: 'The request has more than 100 headers', hint: 'Send fewer, or a body.' }
}

/** Why authentication failed; null when the host itself could not check. */
export function notAuthenticated(error: unknown): Problem | null {
  const { code, message, retrySeconds } = error as { code?: unknown; message: string; retrySeconds?: number | null }
  if (code === 'UNAUTHORIZED') return { code, message, headers: CHALLENGE }
  // The caller exceeds the host's rate limit.
  if (code === 'RATE_LIMITED') return { code, message, headers: retryAfter((retrySeconds ?? 60) * 1000) }
  return null
}

/** The caller's rank is below the one that the policy requires. */
export function forbidden({ rank }: Caller, needed: Policy['auth']): Problem {
  if (rank === 'none') {
    const hint = 'Send the anon key as `apikey`, or a token as `Authorization: Bearer`.'
    return { code: 'UNAUTHORIZED', message: 'No key was sent', hint, headers: CHALLENGE }
  }
  const who = needed === 'service' ? 'the service role' : 'a signed-in user'
  return { code: 'FORBIDDEN', message: `This function is for ${who}; the key has rank '${rank}'` }
}

/** A page of an origin that the policy does not list requests a WebSocket. */
export function originRefused(): Problem {
  return { code: 'FORBIDDEN', message: 'Pages of this origin may not call this function' }
}

/** The function has its maximum number of open WebSockets. */
export function tooManySockets(): Problem {
  return {
    code: 'FUNCTION_BUSY',
    message: 'The function has its maximum number of open WebSockets; try again shortly',
    headers: retryAfter(1000),
  }
}

/** The function accepts no WebSockets. */
export function noSockets(): Problem {
  return {
    code: 'FORBIDDEN',
    message: 'This function does not accept WebSockets',
    hint: 'function.json has "websocket_ms": 0.',
  }
}

/** The chain of functions is longer than the function allows. */
export function tooDeep({ max_chain: most }: Policy): Problem {
  return {
    code: 'FUNCTION_RECURSION',
    message: `Functions have called functions more than ${most} times in a chain, by requests, changes of rows or messages`,
    hint: 'Find the function that triggers itself by a request, a table or a queue. A function that has to call itself needs a higher max_chain in function.json.',
  }
}

export function bodyTooLarge({ body_bytes: limit }: Policy): Problem {
  return { code: 'PAYLOAD_TOO_LARGE', message: `The body is larger than the ${limit} bytes that this function accepts` }
}

export function bodyTooSlow(): Problem {
  return { code: 'REQUEST_TIMEOUT', message: 'The request body did not arrive in time' }
}

export function timedOut({ timeout_ms: ms }: Policy): Problem {
  return { code: 'FUNCTION_TIMEOUT', message: `The function did not answer within ${ms} ms` }
}

export function failed(): Problem {
  return { code: 'FUNCTION_ERROR', message: 'The function failed' }
}

export function invalidResponse(message = 'The answer of the function is not valid HTTP'): Problem {
  return { code: 'FUNCTION_INVALID_RESPONSE', message }
}

/** The connection broke before an answer. If the instance has ended, `reason` is its exit reason. */
export function broken(reason: ExitReason | null): Problem {
  if (reason === null) return invalidResponse()
  if (!LIMIT_REASONS.has(reason))
    return { code: 'FUNCTION_CRASHED', message: 'The function ended before it had answered' }
  const what = reason === 'memory' ? 'memory' : 'CPU time without a pause'
  return { code: 'FUNCTION_RESOURCE_LIMIT', message: `The function used too much ${what}` }
}
