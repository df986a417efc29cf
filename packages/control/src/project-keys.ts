import { unauthorized, type CheckRevoked, type Principal } from '@terrane/auth'
import type { Keyring } from './keyring.ts'
import type { OpenKeyring } from './open-keyring.ts'
import { revocationsOf } from './revoked-tokens.ts'

/** Looks a key up by its SHA-256; null when unknown. */
export type FindKey = (sha256: string) => Promise<Principal | null>

/** Queries of a verifier to the control plane. */
export interface KnownKeys {
  readonly findStoredKey: FindKey
  readonly checkRevoked: CheckRevoked
}

/** Keys and revoked tokens of one project, as options of a verifier. */
export function keysOfProject(
  { keyring, revoked }: Pick<OpenKeyring, 'keyring' | 'revoked'>,
  projectId: string,
): KnownKeys {
  return { findStoredKey: findKeyOf(keyring, projectId), checkRevoked: revocationsOf(revoked, projectId) }
}

/** Keys of one project: keys of other projects are refused, keys without one are unknown. @param projectId its id */
function findKeyOf(keyring: Pick<Keyring, 'find'>, projectId: string): FindKey {
  return async (sha256) => {
    const principal = await keyring.find(sha256)
    if (!principal || principal.projectId === null) return null
    if (principal.projectId !== projectId) throw unauthorized({ reason: 'project' })
    return principal
  }
}
