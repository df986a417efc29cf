/** `services` is an organization's key for the shared pool and the routing engine; the others are a project's roles. */
export type Role = 'anon' | 'authenticated' | 'service_role' | 'services'

/** Who is calling, after the credential was verified. */
export interface Principal {
  readonly role: Role
  /** The only project the caller may touch; null for an organization's key. */
  readonly projectRef: string | null
  readonly organizationId: string | null
  /** The user's id (`sub`) of a user token. */
  readonly subject: string | null
  /** Every claim of a token; role alone for an opaque key. Safe to hand to the database as `request.jwt.claims`. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** A principal of an opaque key. */
export function keyPrincipal(
  role: Role,
  scope: { readonly projectRef?: string | null; readonly organizationId?: string | null } = {},
): Principal {
  return {
    role,
    projectRef: scope.projectRef ?? null,
    organizationId: scope.organizationId ?? null,
    subject: null,
    claims: { role },
  }
}
