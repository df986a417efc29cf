import type { KeyScope, Role } from '@terrane/auth'

/** Notifications of changed keys; the payload is the key's SHA-256. */
export const KEY_CHANNEL = 'terrane_keys'

/** Roles of issued keys: users have tokens instead, so `authenticated` is missing. */
export type KeyRole = Exclude<Role, 'authenticated'>

/** A key in the control plane, without its text. */
export interface KeyRecord {
  readonly id: string
  readonly sha256: string
  /** Beginning of the key, by {@link keyPrefix}. */
  readonly prefix: string
  readonly organizationId: string
  readonly projectId: string | null
  readonly projectRef: string | null
  readonly role: KeyRole
  /** Scopes of a services key; null means all. */
  readonly scopes: readonly KeyScope[] | null
  readonly label: string
  /** Origin of a registered key, `credentials` or `local:{ref}`; null when it was issued here. */
  readonly registeredBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Time of the last use, to the minute; null for an unused key. */
  readonly lastUsedAt: Date | null
}

export const KEY_COLUMNS = `k.id, k.sha256, k.prefix, k.organization_id as "organizationId", k.project_id as "projectId",
  p.ref as "projectRef", k.role, k.scopes, k.label, k.registered_by as "registeredBy", k.created_at as "createdAt",
  k.expires_at as "expiresAt", k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt"`
export const KEY_TABLES = 'terrane.keys k left join terrane.projects p on p.id = k.project_id'

/** Beginning of a key, to tell keys apart but not to guess one. Tokens all begin alike, so nothing is shown. */
export function keyPrefix(key: string): string {
  return key.startsWith('eyJ') ? 'token' : key.slice(0, Math.min(20, Math.floor(key.length / 3)))
}
