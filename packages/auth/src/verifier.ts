import { LRUCache } from 'lru-cache'
import { unauthorized } from './errors.ts'
import { findKey, hashKey, type StoredKey } from './opaque-keys.ts'
import type { Principal } from './principal.ts'
import { publicLimitsOf } from './publishable.ts'
import { equivalentsOf, requireCanonical } from './spelling.ts'
import type { CheckRevoked } from './token-names.ts'
import { isSignedBySecret, looksLikeToken, verifyToken, type TokenTrust } from './tokens.ts'

/** Turns one credential into a principal. Throws UNAUTHORIZED for anything it does not accept. */
export type Verify = (credential: string) => Promise<Principal>

export interface VerifierOptions {
  /** Keys known by configuration. Their order does not matter. */
  readonly keys?: readonly StoredKey[]
  /** Looks up a hash in the stored keys; throws UNAUTHORIZED for an expired or revoked key, even if it is a token. */
  readonly findStoredKey?: (sha256: string) => Promise<Principal | null>
  /** Called for every otherwise valid token, at each verification. */
  readonly checkRevoked?: CheckRevoked
  /** Settings for verifying tokens; without them no token is accepted. */
  readonly trust?: TokenTrust
  /** Accepts only publishable keys, whose limits the caller must enforce. When absent, publishable keys are refused. */
  readonly onlyPublishable?: boolean
}

/** Maximum number of tokens whose verified signature is cached. */
const MAX_KNOWN = 2000

/** Makes the verifier of a process. A configured key is matched first, then a stored one, then a token is verified. */
export function createVerifier(options: VerifierOptions): Verify {
  const keys = options.keys ?? []
  const { trust } = options
  // Tokens of a constant secret are valid until they expire, so they are cached: a map asks for many tiles with one.
  const known = new LRUCache<string, Principal>({ max: MAX_KNOWN })
  return async (credential) => {
    const principal = await identify(credential)
    if ((publicLimitsOf(principal) !== null) !== (options.onlyPublishable === true))
      throw unauthorized({ reason: options.onlyPublishable ? 'unpublishable' : 'publishable' })
    if (looksLikeToken(credential)) await options.checkRevoked?.(credential)
    return principal
  }

  async function identify(credential: string): Promise<Principal> {
    if (credential.length > 8192) throw unauthorized({ reason: 'malformed' })
    requireCanonical(credential)
    for (const text of equivalentsOf(credential)) {
      const hash = hashKey(text)
      const principal = findKey(keys, hash) ?? (await options.findStoredKey?.(hash)) ?? null
      if (principal) return principal
    }
    const sha256 = hashKey(credential)
    const signed = known.get(sha256)
    if (signed && Number(signed.claims['exp']) * 1000 > Date.now()) return signed
    known.delete(sha256)
    if (trust && looksLikeToken(credential)) {
      const verified = await verifyToken(credential, trust)
      if (isSignedBySecret(credential)) known.set(sha256, verified)
      return verified
    }
    throw unauthorized({ reason: 'unknown' })
  }
}
