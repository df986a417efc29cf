import { randomUUID } from 'node:crypto'
import { SignJWT, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import { unauthorized } from './errors.ts'
import type { Principal, Role } from './principal.ts'
import { headerOf, requireCanonical } from './spelling.ts'
import type { CheckRevoked } from './token-names.ts'

/** Settings for verifying the tokens of a project: HS256 by the secret alone, ES256 and RS256 by the JWKS alone. */
export interface TokenTrust {
  readonly projectRef: string
  readonly jwtSecret?: string
  /** Resolves a key of the project's JWKS, e.g. jose's `createRemoteJWKSet` or `createLocalJWKSet`. */
  readonly jwks?: JWTVerifyGetKey
  /** Accepted values of `aud` in tokens that have one; any when empty. */
  readonly audiences: readonly string[]
}

const ROLES: ReadonlySet<string> = new Set<Role>(['anon', 'authenticated', 'service_role'])

/** True for a string of three base64url parts, as compact JWTs are (RFC 7519). */
export function looksLikeToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)
}

/**
 * Verifies a project's JWT (RFC 7519): signature by a pinned algorithm, `exp` present and in the future, `role` known,
 * `ref` equal to the project (required for anon and service_role, which are project keys), `aud` accepted here if present.
 *
 * @throws UNAUTHORIZED with the reason
 */
export async function verifyToken(token: string, trust: TokenTrust): Promise<Principal> {
  const payload = await verifySignature(token, trust)
  checkAudience(payload, trust.audiences)
  const role = payload['role']
  if (typeof role !== 'string' || !ROLES.has(role)) throw unauthorized({ reason: 'malformed' })
  const ref = payload['ref']
  const isKey = role === 'anon' || role === 'service_role'
  if (isKey ? ref !== trust.projectRef : ref !== undefined && ref !== trust.projectRef)
    throw unauthorized({ reason: 'project' })
  return {
    role: role as Role,
    projectRef: trust.projectRef,
    projectId: null,
    organizationId: null,
    scopes: null,
    subject: typeof payload.sub === 'string' ? payload.sub : null,
    claims: payload,
  }
}

/** Whether a verified token was signed with the project's secret, and not with a key of the replaceable JWKS. */
export function isSignedBySecret(token: string): boolean {
  return algorithmOf(token) === 'HS256'
}

/** Signs a token of a project with HS256, with an id (`jti`) of its own unless the claims have one. `expiresIn` is in seconds. */
export function signToken(
  claims: Readonly<Record<string, unknown>>,
  jwtSecret: string,
  expiresIn: number,
  issuedAt: Date = new Date(),
): Promise<string> {
  const now = Math.floor(issuedAt.getTime() / 1000)
  return new SignJWT({ jti: randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(now)
    .setExpirationTime(now + expiresIn)
    .sign(new TextEncoder().encode(jwtSecret))
}

/** Verifies any HS256 token signed with the secret, e.g. a signed URL; returns its claims. @throws UNAUTHORIZED */
export async function verifyClaims(token: string, jwtSecret: string, checkRevoked?: CheckRevoked): Promise<JWTPayload> {
  const claims = await verifySignature(token, { jwtSecret })
  await checkRevoked?.(token)
  return claims
}

async function verifySignature(token: string, trust: Pick<TokenTrust, 'jwtSecret' | 'jwks'>): Promise<JWTPayload> {
  requireCanonical(token)
  const options = { requiredClaims: ['exp'], clockTolerance: 5 }
  const alg = algorithmOf(token)
  try {
    if (alg === 'HS256' && trust.jwtSecret !== undefined) {
      const secret = new TextEncoder().encode(trust.jwtSecret)
      return finite((await jwtVerify(token, secret, { ...options, algorithms: ['HS256'] })).payload)
    }
    if ((alg === 'ES256' || alg === 'RS256') && trust.jwks) {
      return finite((await jwtVerify(token, trust.jwks, { ...options, algorithms: [alg] })).payload)
    }
  } catch (cause) {
    throw refusal(cause)
  }
  throw unauthorized({ reason: 'algorithm' })
}

/** Refuses `1e999`, which JSON parses as infinity: such a token would never expire. */
function finite(payload: JWTPayload): JWTPayload {
  if (!Number.isFinite(payload.exp)) throw unauthorized({ reason: 'malformed' })
  return payload
}

function checkAudience({ aud }: JWTPayload, accepted: readonly string[]): void {
  if (aud === undefined || accepted.length === 0) return
  if (![aud].flat().some((name) => accepted.includes(name))) throw unauthorized({ reason: 'audience' })
}

function algorithmOf(token: string): string {
  const alg = headerOf(token.split('.')[0] ?? '')?.['alg']
  if (typeof alg === 'string') return alg
  throw unauthorized({ reason: 'malformed' })
}

/** Errors of fetching the key set are the server's fault, so they are passed on unchanged. */
function refusal(cause: unknown): unknown {
  if (cause instanceof errors.JWTExpired) return unauthorized({ reason: 'expired' })
  if (cause instanceof errors.JWKSTimeout) return cause
  if (cause instanceof errors.JWSSignatureVerificationFailed) return unauthorized({ reason: 'signature' })
  if (cause instanceof errors.JWKSNoMatchingKey) return unauthorized({ reason: 'signature' })
  if (cause instanceof errors.JOSEError) return unauthorized({ reason: 'malformed' })
  return cause
}
