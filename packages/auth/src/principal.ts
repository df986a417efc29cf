/** `services`: an organization's key for pool and routing, `operator`: the installation's; others: project roles. */
export type Role = 'anon' | 'authenticated' | 'service_role' | 'services' | 'operator'

/** Scopes of keys: job API and routing engine of a services key, tables and origins of a publishable one. */
export type KeyScope = 'jobs' | 'routes' | PublicScope
/** A limit of a publishable key: a table, `schema.name`, or the origin of pages, `*` for any. */
export type PublicScope = `table:${string}` | `origin:${string}`

/** The caller, after the credential was verified. */
export interface Principal {
  readonly role: Role
  /** The only project the caller may touch; null for an organization's key. */
  readonly projectRef: string | null
  readonly organizationId: string | null
  /** The id of that project in the control plane; null for tokens, which know its reference only. */
  readonly projectId: string | null
  /** Scopes of a services or publishable key; null means all. */
  readonly scopes: readonly KeyScope[] | null
  /** The user's id (`sub`) of a user token. */
  readonly subject: string | null
  /** All claims of a token, or only the role of an opaque key; the database may get them as `request.jwt.claims`. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** A principal of an opaque key. */
export function keyPrincipal(
  role: Role,
  scope: Partial<Pick<Principal, 'projectRef' | 'projectId' | 'organizationId' | 'scopes'>> = {},
): Principal {
  return {
    role,
    projectRef: scope.projectRef ?? null,
    projectId: scope.projectId ?? null,
    organizationId: scope.organizationId ?? null,
    scopes: scope.scopes ?? null,
    subject: null,
    claims: { role },
  }
}

/** True for a services key that may be used for this. */
export function servesFor({ role, scopes }: Principal, scope: KeyScope): boolean {
  return role === 'services' && (scopes === null || scopes.includes(scope))
}
