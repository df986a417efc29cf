import type { GuardedFetch } from '@terrane/service'
import { toShowable } from '../errors.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { redactText } from '../projects/redact.ts'
import type { JobScope } from '../queue/job-row.ts'
import type { FunctionLimits } from './function-limits.ts'
import { signedHeaders } from '../webhooks/sign.ts'

/** Longest wait for an address. */
const TIMEOUT_MS = 10_000
/** Seconds after which a queued call counts as lost with its worker. */
export const CALL_EXPIRES_S = 420
/** Maximum characters of a stored error. */
const MOST_ERROR = 300

/** The target of a call before it is encrypted: an address, or the name of a function. */
export type Target = { readonly secret: string } & (
  | { readonly url: string; readonly function?: undefined }
  | { readonly function: string; readonly url?: undefined }
)

/** One signed message. */
export interface Message {
  readonly scope: JobScope
  /** Decrypts the target; an error it throws is the attempt's error. */
  readonly target: () => Target
  /** The same id at each attempt. */
  readonly id: string
  readonly body: string
  /** Further headers; sent only to functions of the project. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Result of an attempt; delivered when there is no error. */
export interface Attempt {
  readonly statusCode: number | null
  readonly error: string | null
  /** Code of the error, or that of an answer of the functions host itself; null for other answers. */
  readonly code: string | null
  readonly ms: number
}

export interface CallerOptions {
  readonly fetch: GuardedFetch
  /** Fetch that reaches the functions host in addition to what {@link fetch} reaches. */
  readonly fetchFunction: GuardedFetch
  readonly projects: Pick<ProjectDirectory, 'functions'>
  readonly limits: FunctionLimits
}

/** Posts signed messages to addresses and to functions of projects. */
export class Caller {
  readonly #options: CallerOptions

  constructor(options: CallerOptions) {
    this.#options = options
  }

  /** Makes one attempt. Throws only when the signal has aborted. */
  async post(message: Message): Promise<Attempt> {
    const began = performance.now()
    const tell = (statusCode: number | null, error: string | null, code: string | null = null): Attempt => ({
      statusCode,
      error: error === null ? null : redactText(error).slice(0, MOST_ERROR),
      code,
      ms: Math.round(performance.now() - began),
    })
    try {
      const { status, code } = await this.#send(message)
      return tell(status, status >= 200 && status < 300 ? null : `HTTP status ${status}`, code)
    } catch (error) {
      message.signal.throwIfAborted()
      const { message: text, code } = toShowable(error)
      return tell(null, text, code)
    }
  }

  async #send({ scope, id, body, signal, ...message }: Message): Promise<{ status: number; code: string | null }> {
    const target = message.target()
    const signed = signedHeaders(target.secret, id, Date.now(), body)
    const headers = { 'content-type': 'application/json', ...signed }
    // Redirects are not followed, because a message is only for its target.
    const options = { method: 'POST', body, redirect: 'manual', accept: 'any', signal } as const
    if (target.function === undefined) {
      const response = await this.#options.fetch(target.url, { ...options, headers, timeoutMs: TIMEOUT_MS })
      response.cancel()
      return { status: response.status, code: null }
    }
    const { url, key, projectId } = await this.#options.projects.functions(scope)
    const response = await this.#options.fetchFunction(`${url}/functions/v1/${target.function}`, {
      ...options,
      headers: { ...message.headers, ...headers, apikey: key, authorization: `Bearer ${key}` },
      timeoutMs: await this.#options.limits.waitMs(projectId, target.function),
    })
    response.cancel()
    // The host removes this header from answers of functions, so here the host has set it.
    return { status: response.status, code: response.headers['x-error-code'] ?? null }
  }
}
