import { TerraneError } from '@terrane/core'
import { createStore } from './store.ts'

/** Error answer of the console and of every service behind it. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint: string | null
  readonly details: string | null
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** A request that was answered with a problem. */
class ApiError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.name = 'ApiError'
    this.problem = problem
  }
}

/**
 * Maximum bytes of a request that is sent while the page closes; browsers allow 64 KiB for all such requests together.
 */
const MOST_KEPT_ALIVE = 40_000

/** The signed-in user. */
export interface Session {
  readonly user: { readonly id: string; readonly email: string; readonly name: string }
  readonly csrf_token: string
  readonly expires_at: string
}

/** `undefined` until the console has answered; null without a session. */
export const session = createStore<Session | null | undefined>(undefined)

/** The user whose session the console ended while a page was open; null after signing out. */
export const lapsed = createStore<Session | null>(null)

export async function loadSession(): Promise<void> {
  const found = await request<Session | { user: null }>('GET', '/api/session')
  session.set(found.user ? found : null)
}

export async function signIn(email: string, password: string): Promise<void> {
  session.set(await request<Session>('POST', '/api/session', { email, password }))
}

export async function signOut(): Promise<void> {
  await request('DELETE', '/api/session')
  lapsed.set(null)
  session.set(null)
}

/**
 * Sends a request to the console's API. An ended session opens the sign-in page.
 *
 * @throws ApiError with the console's problem, or code OFFLINE when it does not answer
 */
export async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal)
  if (response.status === 204) return undefined as T
  return (await response.json()) as T
}

/** Reads from the console's API, as {@link request} does. */
export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request('GET', path, undefined, signal)
}

/** Like {@link request}, for answers that are not JSON. */
export async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {}
  const token = session.get()?.csrf_token
  if (method !== 'GET' && token) headers['x-csrf-token'] = token
  if (body !== undefined) headers['content-type'] = 'application/json'
  const text = body === undefined ? null : JSON.stringify(body)
  // Requests sent while the page is closing are finished by the browser if their body is small.
  const isLast = method !== 'GET' && globalThis.document?.visibilityState === 'hidden'
  const keepalive = isLast && text !== null && new Blob([text]).size < MOST_KEPT_ALIVE
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(text !== null && { body: text }),
      ...(keepalive && { keepalive }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError({
      status: 0,
      code: 'OFFLINE',
      message: 'The console does not answer',
      hint: 'Check your connection, then try again.',
      details: null,
      errors: [],
    })
  }
  if (response.ok) return response
  const problem = await readProblem(response)
  if (problem.code === 'NOT_SIGNED_IN') {
    lapsed.set(session.get() ?? lapsed.get())
    session.set(null)
  }
  if (problem.code === 'CSRF_REFUSED' && (await renewed())) return send(method, path, body, signal)
  throw new ApiError(problem)
}

/** True when the same person has signed in again in another tab. This tab then uses that session. */
async function renewed(): Promise<boolean> {
  const before = session.get()
  await loadSession()
  const now = session.get()
  return now?.user.id === before?.user.id && now?.csrf_token !== before?.csrf_token
}

/** Converts problem details, PostgREST's errors and the routing engine's to one form. */
async function readProblem(response: Response): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : null)
  return {
    status: response.status,
    code:
      text('code') ??
      (body['error_code'] === undefined ? `HTTP_${response.status}` : JSON.stringify(body['error_code'])),
    message: text('message') ?? text('error') ?? `The console answered with status ${response.status}`,
    hint: text('hint'),
    details: text('details'),
    errors: Array.isArray(body['errors']) ? (body['errors'] as Problem['errors']) : [],
  }
}

/** Converts anything thrown to a problem that can be shown. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem
  if (error instanceof TerraneError) {
    const { code, message, hint, details } = error
    return { status: 0, code, message, hint, details, errors: error.errors }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { status: 0, code: 'PAGE', message, hint: null, details: null, errors: [] }
}

/** The API path of a project. */
export function projectPath(ref: string, rest = ''): string {
  return `/api/projects/${encodeURIComponent(ref)}${rest}`
}
