import type { FunctionVersion } from '../function-version.ts'
import { methodsOf, type Policy } from '../policy.ts'
import { isAllowed, type Authenticate, type Caller } from './caller.ts'
import { isOriginAllowed } from './cors.ts'
import { DEPTH_HEADER, enter, OUTSIDE, type Depth, type Depths } from './depth.ts'
import { hasTooManyHeaders } from './headers.ts'
import type { Incoming } from './incoming.ts'
import type { Problem } from './problems.ts'
import * as refusals from './refusals.ts'

/** Result of the check of a caller. */
export interface Admitted {
  /** Null when the credentials are not valid. */
  readonly caller: Caller | null
  /** Depth of the call in a chain of functions. */
  readonly depth: Depth
  /** Why the call is refused; null when it is not. */
  readonly problem: Problem | null
}

/** Decides whether a request may reach a function: first by its form, then by its caller. */
export class Admission {
  readonly #authenticate: Authenticate
  readonly #depths: Depths
  readonly #onError: (error: unknown, version: FunctionVersion, requestId: string) => void

  /** @param options onError is called when credentials cannot be checked and the caller is not the cause */
  constructor(options: {
    readonly authenticate: Authenticate
    readonly depths: Depths
    readonly onError: (error: unknown, version: FunctionVersion, requestId: string) => void
  }) {
    this.#authenticate = options.authenticate
    this.#depths = options.depths
    this.#onError = options.onError
  }

  /** Refusal of a request by its form, independent of the caller; null when the form is accepted. */
  refusalOf({ request, upgrade }: Incoming, policy: Policy): Problem | null {
    const { method, headers } = request
    if (!methodsOf(policy).includes(method!)) return refusals.methodRefused(method!, policy)
    if (hasTooManyHeaders(request)) return refusals.tooManyHeaders()
    if (upgrade && policy.websocket_ms === 0) return refusals.noSockets()
    if (upgrade && !isOriginAllowed(policy.cors, headers)) return refusals.originRefused()
    return null
  }

  /** Identifies the caller and checks its rank and the depth; synchronously when the credentials are cached. */
  check({ request, requestId }: Incoming, version: FunctionVersion): Admitted | Promise<Admitted> {
    const allow = (caller: Caller): Admitted => {
      const { auth, max_chain: maxChain } = version.policy
      if (!isAllowed(caller, auth)) return { caller, depth: OUTSIDE, problem: refusals.forbidden(caller, auth) }
      const depth = enter(this.#depths.read(version.project, request.headers[DEPTH_HEADER]), maxChain)
      return { caller, depth: depth ?? OUTSIDE, problem: depth ? null : refusals.tooDeep(version.policy) }
    }
    const fail = (error: unknown): Admitted => {
      const problem = refusals.notAuthenticated(error)
      if (!problem) this.#onError(error, version, requestId)
      return { caller: null, depth: OUTSIDE, problem: problem ?? refusals.busy(5000) }
    }
    let caller
    try {
      caller = this.#authenticate(version.project, request, version.policy.auth)
    } catch (error) {
      return fail(error)
    }
    return caller instanceof Promise ? caller.then(allow, fail) : allow(caller)
  }
}
