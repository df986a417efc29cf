import { unauthorized } from './errors.ts'

/** Order of the curve P-256 (FIPS 186-4, D.1.2.3). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/**
 * Refuses a token whose parts are not canonical base64url (RFC 4648, section 5: no padding, no white space, unused bits
 * zero). Decoders read many texts as the same bytes, so only the canonical text is an identity that can be looked up.
 *
 * @throws UNAUTHORIZED
 */
export function requireCanonical(credential: string): void {
  if (canonicalOf(credential) !== credential) {
    const hint = 'Send the token as it was issued: three parts in base64url, without padding or white space.'
    throw unauthorized({ reason: 'malformed' }, { hint })
  }
}

/** The canonical text of a token; other credentials are unchanged. */
export function canonicalOf(credential: string): string {
  const parts = credential.split('.')
  if (parts.length !== 3 || headerOf(parts[0] as string) === null) return credential
  return parts.map((part) => Buffer.from(part, 'base64url').toString('base64url')).join('.')
}

/** Texts of the same token: ECDSA accepts (r, n − s) for (r, s), so an ES256 token has a second text. */
export function equivalentsOf(credential: string): readonly string[] {
  const [header = '', payload = '', text = '', ...more] = credential.split('.')
  const signature = Buffer.from(text, 'base64url')
  if (more.length > 0 || signature.length !== 64 || headerOf(header)?.['alg'] !== 'ES256') return [credential]
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`)
  if (s === 0n || s >= P256_ORDER) return [credential]
  const other = Buffer.from((P256_ORDER - s).toString(16).padStart(64, '0'), 'hex')
  const twin = Buffer.concat([signature.subarray(0, 32), other]).toString('base64url')
  return [credential, `${header}.${payload}.${twin}`]
}

/** The header of a token, decoded; null when it is not a JSON object. */
export function headerOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const header: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return header !== null && typeof header === 'object' ? (header as Record<string, unknown>) : null
  } catch {
    return null
  }
}
