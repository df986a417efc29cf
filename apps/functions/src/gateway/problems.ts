/** Every error that the host answers in a function's place: code → status and title. */
const PROBLEMS = {
  UNAUTHORIZED: [401, 'Unauthorized'],
  FORBIDDEN: [403, 'Forbidden'],
  FUNCTION_NOT_FOUND: [404, 'Not Found'],
  METHOD_NOT_ALLOWED: [405, 'Method Not Allowed'],
  REQUEST_TIMEOUT: [408, 'Request Timeout'],
  PAYLOAD_TOO_LARGE: [413, 'Content Too Large'],
  RATE_LIMITED: [429, 'Too Many Requests'],
  HEADERS_TOO_MANY: [431, 'Request Header Fields Too Large'],
  FUNCTION_ERROR: [500, 'Internal Server Error'],
  FUNCTION_CRASHED: [502, 'Bad Gateway'],
  FUNCTION_INVALID_RESPONSE: [502, 'Bad Gateway'],
  FUNCTION_BUSY: [503, 'Service Unavailable'],
  FUNCTION_BOOT_ERROR: [503, 'Service Unavailable'],
  FUNCTION_TIMEOUT: [504, 'Gateway Timeout'],
  FUNCTION_RECURSION: [508, 'Loop Detected'],
  FUNCTION_RESOURCE_LIMIT: [546, 'Function Resource Limit'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof PROBLEMS

/** An error described for the caller, without stacks or secrets. */
export interface Problem {
  readonly code: ProblemCode
  readonly message: string
  readonly hint?: string
  /** Further response headers, alternating names and values. */
  readonly headers?: readonly string[]
}

/** The status of a problem. 546 is not registered; proxies that refuse it get 503 by configuration. */
export function statusOf(code: ProblemCode, resourceLimitStatus: number): number {
  return code === 'FUNCTION_RESOURCE_LIMIT' ? resourceLimitStatus : PROBLEMS[code][0]
}

/** True where the host could not get an answer of the function; supabase-js reads it as a `FunctionsRelayError`. */
export function isRelayError(code: ProblemCode): boolean {
  return PROBLEMS[code][0] >= 500 && code !== 'FUNCTION_ERROR'
}

/** The body of a problem (RFC 9457) with the fields that the interface names: `code`, `message`, `request_id`. */
export function bodyOf(problem: Problem, status: number, requestId: string): string {
  return JSON.stringify({
    type: `urn:terrane:problem:${problem.code}`,
    title: PROBLEMS[problem.code][1],
    status,
    detail: problem.message,
    instance: requestId,
    code: problem.code,
    message: problem.message,
    request_id: requestId,
    hint: problem.hint ?? null,
    details: null,
    errors: [],
  })
}

/** `Retry-After` in whole seconds, at least one. */
export function retryAfter(ms: number): readonly string[] {
  return ['retry-after', String(Math.max(1, Math.ceil(ms / 1000)))]
}
