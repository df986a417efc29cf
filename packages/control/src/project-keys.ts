import { unauthorized, type Principal } from '@terrane/auth'
import type { Keyring } from './keyring.ts'

/** Looks a key up by its SHA-256; null when it is not known. */
export type FindKey = (sha256: string) => Promise<Principal | null>

/**
 * The keys of one project, as `findStoredKey` of a verifier: those of others are refused, and keys for the shared services
 * open no project.
 *
 * @param projectId its id in the control plane
 */
export function keysOfProject(keyring: Pick<Keyring, 'find'>, projectId: string): FindKey {
  return async (sha256) => {
    const principal = await keyring.find(sha256)
    if (!principal || principal.projectId === null) return null
    if (principal.projectId !== projectId) throw unauthorized({ reason: 'project' })
    return principal
  }
}
