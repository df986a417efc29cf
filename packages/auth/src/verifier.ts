import { unauthorized } from './errors.ts'
import { findKey, hashKey, type StoredKey } from './opaque-keys.ts'
import type { Principal } from './principal.ts'
import { looksLikeToken, verifyToken, type TokenTrust } from './tokens.ts'

/** Turns one credential into a principal. Throws UNAUTHORIZED for anything it does not accept. */
export type Verify = (credential: string) => Promise<Principal>

export interface VerifierOptions {
  /** Keys known by configuration. Their order does not matter. */
  readonly keys?: readonly StoredKey[]
  /** Looks a hash up where keys are stored; throws UNAUTHORIZED for one that was good once, even if it is a token. */
  readonly findStoredKey?: (sha256: string) => Promise<Principal | null>
  /** How tokens are verified; without it no token is accepted. */
  readonly trust?: TokenTrust
}

/** Makes the verifier of a process. A configured key is matched first, then a stored one, then a token is verified. */
export function createVerifier(options: VerifierOptions): Verify {
  const keys = options.keys ?? []
  return async (credential) => {
    if (credential.length > 8192) throw unauthorized({ reason: 'malformed' })
    const sha256 = hashKey(credential)
    const principal = findKey(keys, sha256) ?? (await options.findStoredKey?.(sha256)) ?? null
    if (principal) return principal
    if (options.trust && looksLikeToken(credential)) return verifyToken(credential, options.trust)
    throw unauthorized({ reason: 'unknown' })
  }
}
