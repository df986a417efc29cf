import { createHash, timingSafeEqual } from 'node:crypto'
import { headersDisagree, unauthorized } from './errors.ts'
import type { Principal } from './principal.ts'
import type { Verify } from './verifier.ts'

/** Credentials of a request. Empty strings count as absent. */
export interface Credentials {
  readonly apikey: string | null
  readonly bearer: string | null
}

type HeaderValue = string | string[] | undefined

/** Reads `apikey` and `Authorization: Bearer` of a request. @throws UNAUTHORIZED for a form that no key has */
export function readCredentials(headers: Readonly<Record<string, HeaderValue>>): Credentials {
  const authorization = single(headers['authorization'], 'Authorization')
  const bearer = authorization === null ? null : /^bearer +(\S+)$/i.exec(authorization)?.[1]
  if (bearer === undefined) {
    throw unauthorized(
      { reason: 'malformed', header: 'Authorization' },
      { hint: 'Send `Authorization: Bearer <KEY>`.' },
    )
  }
  return { apikey: single(headers['apikey'], 'apikey'), bearer }
}

/** Authentication of the worker: both headers must have the same key. @throws UNAUTHORIZED with what is wrong */
export async function authenticateBoth(credentials: Credentials, verify: Verify): Promise<Principal> {
  const { apikey, bearer } = credentials
  const hint = 'Send the key twice: `apikey: <KEY>` and `Authorization: Bearer <KEY>`.'
  if (apikey === null) throw unauthorized({ reason: 'missing', header: 'apikey' }, { hint })
  if (bearer === null) throw unauthorized({ reason: 'missing', header: 'Authorization' }, { hint })
  if (!timingSafeEqual(digest(apikey), digest(bearer))) throw headersDisagree()
  return verify(apikey)
}

/**
 * Authentication of functions, rest and storage: either header. A Bearer that differs from the apikey takes precedence,
 * and an invalid one is refused even with a valid apikey. Returns null without both.
 *
 * @throws UNAUTHORIZED
 */
export async function authenticateEither(credentials: Credentials, verify: Verify): Promise<Principal | null> {
  const { apikey, bearer } = credentials
  const key = apikey === null ? null : await verify(apikey)
  if (bearer === null || bearer === apikey) return key
  return verify(bearer)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function single(value: HeaderValue, header: string): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string') throw unauthorized({ reason: 'malformed', header })
  const text = value.trim()
  return text === '' ? null : text
}
