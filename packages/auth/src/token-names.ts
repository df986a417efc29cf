import { equivalentsOf, headerOf } from './spelling.ts'

/** Names by which a token can be revoked. */
export interface TokenNames {
  /** Canonical texts of the token; an ES256 token has two. */
  readonly texts: readonly string[]
  /** Its id (RFC 7519, 4.1.7); null without one. */
  readonly jti: string | null
  /** The id of the key that signed it (RFC 7515, 4.1.4); null without one. */
  readonly kid: string | null
  /** Its end in seconds since 1970; null without one. */
  readonly exp: number | null
}

/** Throws UNAUTHORIZED for a token that was revoked, by its text, its `jti` or its `kid`. */
export type CheckRevoked = (token: string) => Promise<void>

/** Reads a token in its canonical spelling, without verifying it; null for any other text. */
export function namesOfToken(token: string): TokenNames | null {
  const [header = '', payload = '', , ...more] = token.split('.')
  const head = headerOf(header)
  const claims = headerOf(payload)
  if (head === null || claims === null || more.length > 0) return null
  const { exp } = claims
  return {
    texts: equivalentsOf(token),
    jti: textOf(claims['jti']),
    kid: textOf(head['kid']),
    exp: typeof exp === 'number' && Number.isFinite(exp) ? exp : null,
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
