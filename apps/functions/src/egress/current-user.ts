import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '@terrane/auth'
import type { ProjectAddress } from './project-address.ts'

const PREFIX = '/auth/v1/'

/**
 * True for requests of client libraries to the sign-in service. A project has no such service here, only its tokens.
 */
export function isAuthRequest(path: string): boolean {
  return path.startsWith(PREFIX)
}

interface AuthRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Path with its query. */
  readonly path: string
}

/**
 * Answers `auth.getUser()`, the user that a verified token names, in the form of Supabase's `/auth/v1/user`, and the
 * public keys that verify tokens. All other requests to that service (sign-up, sign-in, sessions) get an error that
 * names the alternative.
 *
 * @param given the value of Authorization
 */
export async function answerAuth(
  { request, response, path }: AuthRequest,
  given: string | undefined,
  { verify, publicKeys }: Pick<ProjectAddress, 'verify' | 'publicKeys'>,
): Promise<void> {
  const wanted = request.method === 'GET' ? path.split('?', 1)[0] : ''
  if (wanted === `${PREFIX}.well-known/jwks.json`) {
    return publicKeys().then(
      (keys) => answer(response, 200, { keys }),
      () => refuse(response, 503, 'unexpected_failure', 'The key set of this project cannot be fetched'),
    )
  }
  if (wanted !== `${PREFIX}user`) {
    const msg = 'This project verifies tokens and issues none: sign users up and in with your identity provider'
    return answer(response, 501, { code: 'not_implemented', error_code: 'not_implemented', msg })
  }
  const token = given?.startsWith('Bearer ') ? given.slice('Bearer '.length) : null
  if (token === null) return refuse(response, 401, 'no_authorization', 'This endpoint requires a valid Bearer token')
  let principal: Principal
  try {
    principal = await verify(token)
  } catch {
    return refuse(response, 403, 'bad_jwt', 'invalid JWT: the token is not one of this project, or has expired')
  }
  if (principal.subject === null) return refuse(response, 403, 'bad_jwt', 'invalid claim: missing sub claim')
  answer(response, 200, userOf(principal.subject, principal.claims))
}

function userOf(id: string, claims: Principal['claims']): object {
  const { aud, email, phone, role, app_metadata = {}, user_metadata = {}, is_anonymous = false } = claims
  return {
    id,
    aud: aud ?? 'authenticated',
    role,
    email,
    phone,
    app_metadata,
    user_metadata,
    is_anonymous,
    identities: [],
  }
}

function refuse(response: ServerResponse, status: number, code: string, msg: string): void {
  answer(response, status, { code, error_code: code, msg })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
